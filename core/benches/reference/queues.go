package main

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// reference has a measure for every row that the reference can do.
var reference = map[string]func() float64{
	"queue: add+get+done, one in flight":           func() float64 { return rounds(9, oneByOne(plainQueue())) },
	"queue: 64k queued, distinct keys":             func() float64 { return rounds(9, backlog(plainQueue())) },
	"queue: 4 producers, 4 consumers":              func() float64 { return rounds(5, fourByFour(1_000_000, plainQueue)) },
	"queue: 10,000,000 keys, in and out":           func() float64 { return rounds(1, inAndOut(plainQueue(), keys(10_000_000))) },
	"delaying: add_after, 1,000,000 random times":  func() float64 { return rounds(5, addAfter) },
	"delaying: 1,000,000 become due, get, done":    func() float64 { return rounds(5, becomeDue) },
	"delaying: add_rate_limited, exponential":      func() float64 { return rounds(5, rateLimited) },
	"limiter: when, exponential":                   func() float64 { return rounds(9, when()) },
	"priority: add+get+done, one by one":           func() float64 { return rounds(9, oneByOne(priorityQueue())) },
	"priority: 64k queued, eight priorities":       func() float64 { return rounds(9, backlog(priorityQueue())) },
	"priority: 4 producers, 4 consumers":           func() float64 { return rounds(5, fourByFour(300_000, priorityQueue)) },
	"delta_fifo: add, 1,000,000 objects":           func() float64 { return rounds(5, deltaAdd) },
	"delta_fifo: pop, 1,000,000 objects":           func() float64 { return rounds(5, deltaPop) },
	"delta_fifo: replace of 100,000":               func() float64 { return rounds(5, deltaReplace) },
	"ordered_fifo: add, 1,000,000 objects":         func() float64 { return rounds(5, orderedAdd) },
	"ordered_fifo: pop, 1,000,000 objects":         func() float64 { return rounds(5, orderedPop) },
	"ordered_fifo: pop in batches of 1,000":        func() float64 { return rounds(5, orderedPopBatches) },
	"store: add, 100,000 objects, 2 indices":       func() float64 { return rounds(5, storeAdd) },
	"store: list of 100,000, read through":         func() float64 { return rounds(9, storeList()) },
	"store: list of 100,000, into a vector":        func() float64 { return rounds(9, storeList()) },
	"store: by index, 100 found":                   func() float64 { return rounds(9, storeByIndex()) },
	"store: replace of 100,000":                    func() float64 { return rounds(9, storeReplace()) },
	"store: get, one key":                          func() float64 { return rounds(9, storeGet(false)) },
	"store: get, shuffled keys":                    func() float64 { return rounds(9, storeGet(true)) },
	"store: get beside a writer at full speed":     func() float64 { return rounds(5, storeGetBesideWriter()) },
	"informer: 200,000 changes to 10 handlers":     func() float64 { return rounds(5, changesToHandlers) },
	"informer: relist of 100,000, nothing changed": func() float64 { return rounds(5, relist) },
}

// queue is what the rows of every work queue call.
type queue interface {
	Add(string)
	Get() (string, bool)
	Done(string)
	ShutDown()
}

func plainQueue() queue { return workqueue.NewTyped[string]() }

// prioritized adds every key with one of eight priorities, by a byte of the name.
type prioritized struct {
	priorityqueue.PriorityQueue[string]
}

func (q prioritized) Add(key string) {
	priority := int(key[17] % 8)
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, key)
}

func (q prioritized) Get() (string, bool) {
	key, _, down := q.GetWithPriority()
	return key, down
}

func priorityQueue() queue {
	return prioritized{priorityqueue.New("reference", func(o *priorityqueue.Opts[string]) { o.Log = logr.Discard() })}
}

func oneByOne(q queue) measure {
	const operations = 200_000
	some := keys(1_000)
	return func() (time.Duration, int) {
		return timed(func() {
			for number := range operations {
				q.Add(some[number%len(some)])
				key, _ := q.Get()
				q.Done(key)
			}
		}), operations
	}
}

func backlog(q queue) measure { return inAndOut(q, keys(65_536)) }

func inAndOut(q queue, all []string) measure {
	return func() (time.Duration, int) {
		return timed(func() {
			for _, key := range all {
				q.Add(key)
			}
			for range all {
				key, _ := q.Get()
				q.Done(key)
			}
		}), len(all)
	}
}

func fourByFour(items int, make func() queue) measure {
	all := keys(items)
	return func() (time.Duration, int) {
		q := make()
		return wall(func() {
			var producers, consumers sync.WaitGroup
			var handled sync.WaitGroup
			handled.Add(items)
			for range 4 {
				consumers.Go(func() {
					for {
						key, down := q.Get()
						if down {
							return
						}
						q.Done(key)
						handled.Done()
					}
				})
			}
			for part := range 4 {
				producers.Go(func() {
					for _, key := range all[part*items/4 : (part+1)*items/4] {
						q.Add(key)
					}
				})
			}
			producers.Wait()
			handled.Wait()
			q.ShutDown()
			consumers.Wait()
		}), items
	}
}

const hour = time.Hour

func delays(count int) []time.Duration {
	r := newRandom()
	all := make([]time.Duration, count)
	for at := range all {
		all[at] = time.Duration(r.below(1<<31) * 1_000 % uint64(hour))
	}
	return all
}

// delaying makes a queue whose clock is moved by hand. A key goes through a channel to a goroutine.
func delaying(clock *testclock.FakeClock) workqueue.TypedDelayingInterface[string] {
	return workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: clock})
}

const items = 1_000_000

func addAfter() (time.Duration, int) {
	all, after := keys(items), delays(items)
	q := delaying(testclock.NewFakeClock(time.Now()))
	defer q.ShutDown()
	return wall(func() {
		for at, key := range all {
			q.AddAfter(key, after[at])
		}
	}), items
}

func becomeDue() (time.Duration, int) {
	all, after := keys(items), delays(items)
	clock := testclock.NewFakeClock(time.Now())
	q := delaying(clock)
	defer q.ShutDown()
	for at, key := range all {
		q.AddAfter(key, after[at])
	}
	time.Sleep(100 * time.Millisecond) // the channel holds a thousand
	clock.Step(hour)
	return wall(func() {
		for range items {
			key, _ := q.Get()
			q.Done(key)
		}
	}), items
}

func rateLimited() (time.Duration, int) {
	const keysLimited, times = 100_000, 3
	all := keys(keysLimited)
	q := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: testclock.NewFakeClock(time.Now())},
	)
	defer q.ShutDown()
	return wall(func() {
		for range times {
			for _, key := range all {
				q.AddRateLimited(key)
			}
		}
	}), keysLimited * times
}

func when() measure {
	const operations = 300_000
	some := keys(1_000)
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
	return func() (time.Duration, int) {
		return timed(func() {
			for number := range operations {
				limiter.When(some[number%len(some)])
			}
		}), operations
	}
}
