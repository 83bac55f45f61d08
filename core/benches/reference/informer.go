package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

const (
	changed  = 200_000
	handlers = 10
	changing = 1_000
	listed   = 100_000
)

func init() {
	// The source of these rows has no streamed lists.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
		fail(err.Error())
	}
}

func thing(number, version int) *metav1.PartialObjectMetadata {
	name := fmt.Sprintf("object-%08d", number)
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, ResourceVersion: fmt.Sprint(version),
	}}
}

func things(count int) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for number := range count {
		list.Items = append(list.Items, *thing(number, 1))
	}
	return list
}

// events is a watch that gives what it has, and nothing more.
type events chan watch.Event

func (e events) ResultChan() <-chan watch.Event { return e }
func (e events) Stop()                          {}

func given(all ...watch.Event) events {
	e := make(events, len(all))
	for _, event := range all {
		e <- event
	}
	return e
}

// followed runs an informer over lists and watches, with handlers that have seen enough at some time.
// It returns how long after the last list all of them had.
func followed(
	lists []*metav1.PartialObjectMetadataList, watches []events, handlers int, enough func(obj any, seen int) bool,
) time.Duration {
	var given time.Time
	nextList, nextWatch := 0, 0
	source := &cache.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
			list := lists[nextList]
			nextList++
			given = time.Now()
			return list, nil
		},
		WatchFunc: func(metav1.ListOptions) (watch.Interface, error) {
			if nextWatch == len(watches) {
				return make(events), nil
			}
			nextWatch++
			return watches[nextWatch-1], nil
		},
	}
	informer := cache.NewSharedInformer(source, &metav1.PartialObjectMetadata{}, 0)
	var all sync.WaitGroup
	for range handlers {
		all.Add(1)
		var seen atomic.Int64
		look := func(obj any) {
			if enough(obj, int(seen.Add(1))) {
				all.Done()
			}
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: look, UpdateFunc: func(_, obj any) { look(obj) },
		}); err != nil {
			fail(err.Error())
		}
	}
	stop := make(chan struct{})
	go informer.Run(stop)
	all.Wait()
	took := time.Since(given)
	close(stop)
	return took
}

func changesToHandlers() (time.Duration, int) {
	all := make([]watch.Event, changed)
	for number := range all {
		all[number] = watch.Event{Type: watch.Modified, Object: thing(number%changing, number+2)}
	}
	enough := func(_ any, seen int) bool { return seen == changing+changed }
	lists := []*metav1.PartialObjectMetadataList{things(changing)}
	return followed(lists, []events{given(all...)}, handlers, enough), handlers * changed
}

func relist() (time.Duration, int) {
	gone := apierrors.NewResourceExpired("the version is too old").Status()
	watches := []events{
		given(watch.Event{Type: watch.Error, Object: &gone}),
		given(watch.Event{Type: watch.Added, Object: thing(listed, 2)}),
	}
	isMarker := func(obj any, _ int) bool { return obj.(*metav1.PartialObjectMetadata).ResourceVersion == "2" }
	return followed([]*metav1.PartialObjectMetadataList{things(listed), things(listed)}, watches, 1, isMarker), listed
}
