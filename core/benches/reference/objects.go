package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// object is of a hundred bytes, and a few to find it by.
type object struct {
	key, zone, node string
	payload         [52]byte
}

func objects(count int) []any {
	all := make([]any, count)
	for number, key := range keys(count) {
		all[number] = &object{
			key:     key,
			zone:    fmt.Sprintf("zone-%d", number%100),
			node:    fmt.Sprintf("node-%d", number%1000),
			payload: [52]byte{byte(number)},
		}
	}
	return all
}

func keyOf(obj any) (string, error) { return obj.(*object).key, nil }

var million = objects(1_000_000)

func deltaFIFO() cache.Queue {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: keyOf})
}

func orderedFIFO() *cache.RealFIFO {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction: keyOf, AtomicEvents: true, UnlockWhileProcessing: true,
	})
}

func add(q cache.Queue) {
	for _, obj := range million {
		if err := q.Add(obj); err != nil {
			fail(err.Error())
		}
	}
}

func pop(q cache.Queue) {
	var seen byte
	for range million {
		if _, err := q.Pop(func(obj any, _ bool) error {
			if deltas, some := obj.(cache.Deltas); some {
				seen += deltas.Newest().Object.(*object).payload[0]
			}
			return nil
		}); err != nil {
			fail(err.Error())
		}
	}
}

func adds(make func() cache.Queue) (time.Duration, int) {
	q := make()
	return timed(func() { add(q) }), len(million)
}

func pops(make func() cache.Queue) (time.Duration, int) {
	q := make()
	add(q)
	return timed(func() { pop(q) }), len(million)
}

func deltaAdd() (time.Duration, int) { return adds(deltaFIFO) }
func deltaPop() (time.Duration, int) { return pops(deltaFIFO) }

func deltaReplace() (time.Duration, int) {
	list, q := million[:100_000], deltaFIFO()
	return timed(func() {
		if err := q.Replace(list, "1"); err != nil {
			fail(err.Error())
		}
	}), len(list)
}

func asQueue() cache.Queue { return orderedFIFO() }

func orderedAdd() (time.Duration, int) { return adds(asQueue) }
func orderedPop() (time.Duration, int) { return pops(asQueue) }

func orderedPopBatches() (time.Duration, int) {
	q := orderedFIFO()
	add(q)
	return timed(func() {
		for left := len(million); left > 0; {
			if err := q.PopBatch(
				func(deltas []cache.Delta, _ bool) error { left -= len(deltas); return nil },
				func(any, bool) error { left--; return nil },
			); err != nil {
				fail(err.Error())
			}
		}
	}), len(million)
}

func store() cache.Indexer {
	return cache.NewIndexer(keyOf, cache.Indexers{
		"zone": func(obj any) ([]string, error) { return []string{obj.(*object).zone}, nil },
		"node": func(obj any) ([]string, error) { return []string{obj.(*object).node}, nil },
	})
}

const stored = 100_000

func filled() ([]any, cache.Indexer) {
	all, indexed := objects(stored), store()
	for _, obj := range all {
		_ = indexed.Add(obj)
	}
	return all, indexed
}

func storeAdd() (time.Duration, int) {
	all, indexed := objects(stored), store()
	return timed(func() {
		for _, obj := range all {
			_ = indexed.Add(obj)
		}
	}), stored
}

func storeList() measure {
	_, indexed := filled()
	return func() (time.Duration, int) {
		return timed(func() {
			seen := 0
			for _, obj := range indexed.List() {
				if len(obj.(*object).zone) > 0 {
					seen++
				}
			}
			if seen != stored {
				fail("not all are listed")
			}
		}), stored
	}
}

func storeByIndex() measure {
	const looks = 1_000
	_, indexed := filled()
	return func() (time.Duration, int) {
		return timed(func() {
			for number := range looks {
				if found, _ := indexed.ByIndex("node", fmt.Sprintf("node-%d", number)); len(found) != 100 {
					fail("a hundred are to be found")
				}
			}
		}), looks
	}
}

func storeReplace() measure {
	all, indexed := filled()
	return func() (time.Duration, int) {
		return timed(func() { _ = indexed.Replace(all, "2") }), stored
	}
}

func storeGet(shuffled bool) measure {
	const reads = 300_000
	all, indexed := filled()
	wanted := make([]string, reads)
	for number := range wanted {
		wanted[number] = all[0].(*object).key
		if shuffled {
			wanted[number] = all[number%stored].(*object).key
		}
	}
	if shuffled {
		shuffle(wanted)
	}
	return func() (time.Duration, int) {
		return timed(func() { read(indexed, wanted) }), reads
	}
}

func read(indexed cache.Indexer, wanted []string) {
	for _, key := range wanted {
		if _, found, _ := indexed.GetByKey(key); !found {
			fail("it is stored")
		}
	}
}

func storeGetBesideWriter() measure {
	all, indexed := filled()
	wanted := keys(stored)
	return func() (time.Duration, int) {
		var stop atomic.Bool
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for !stop.Load() {
				for _, obj := range all[:100] {
					_ = indexed.Add(obj)
				}
			}
		}()
		took := wall(func() { read(indexed, wanted) })
		stop.Store(true)
		<-ended
		return took, stored
	}
}
