package main

import (
	"runtime"
	"time"

	"k8s.io/client-go/tools/cache"
)

// pauses has the longest call of the rows in which tables grow. A queue with delays is not among
// them: its calls hand the item to a goroutine, and that is who holds the lock.
var pauses = map[string]func() time.Duration{
	"queue: 64k queued, distinct keys":       func() time.Duration { return longestInAndOut(5, keys(65_536), plainQueue) },
	"queue: 10,000,000 keys, in and out":     func() time.Duration { return longestInAndOut(2, keys(10_000_000), plainQueue) },
	"priority: 64k queued, eight priorities": func() time.Duration { return longestInAndOut(5, keys(65_536), priorityQueue) },
	"delta_fifo: add, 1,000,000 objects":     func() time.Duration { return longestAdd(deltaFIFO) },
	"delta_fifo: pop, 1,000,000 objects":     func() time.Duration { return longestPop(deltaFIFO) },
	"ordered_fifo: add, 1,000,000 objects":   func() time.Duration { return longestAdd(asQueue) },
	"ordered_fifo: pop, 1,000,000 objects":   func() time.Duration { return longestPop(asQueue) },
	"store: add, 100,000 objects, 2 indices": longestStore,
}

// longest returns how long the longest call takes that a round makes, in the best of a few rounds: what
// the machine adds comes elsewhere each time. The garbage collector's work on the thread of the call
// counts, its work on others does not.
func longest(rounds int, prepare func() func(lap func(call func()))) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(-1)
	for range rounds {
		run, worst := prepare(), time.Duration(0)
		runtime.GC()
		run(func(call func()) { worst = max(worst, timed(call)) })
		if best < 0 || worst < best {
			best = worst
		}
	}
	return best
}

func longestInAndOut(rounds int, all []string, make func() queue) time.Duration {
	return longest(rounds, func() func(func(func())) {
		q := make()
		return func(lap func(func())) {
			for _, key := range all {
				lap(func() { q.Add(key) })
			}
			for range all {
				lap(func() {
					key, _ := q.Get()
					q.Done(key)
				})
			}
		}
	})
}

func longestAdd(make func() cache.Queue) time.Duration {
	return longest(3, func() func(func(func())) {
		q := make()
		return func(lap func(func())) {
			for _, obj := range million {
				lap(func() { _ = q.Add(obj) })
			}
		}
	})
}

func longestPop(make func() cache.Queue) time.Duration {
	return longest(3, func() func(func(func())) {
		q := make()
		add(q)
		return func(lap func(func())) {
			for range million {
				lap(func() { _, _ = q.Pop(func(any, bool) error { return nil }) })
			}
		}
	})
}

func longestStore() time.Duration {
	return longest(5, func() func(func(func())) {
		all, indexed := objects(stored), store()
		return func(lap func(func())) {
			for _, obj := range all {
				lap(func() { _ = indexed.Add(obj) })
			}
		}
	})
}
