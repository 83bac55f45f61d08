// client-go over a network that breaks connections: run-wire WATCHES CALLERS SECONDS. The server is named by
// SEATRIAL_CLUSTER_HOST, SEATRIAL_CLUSTER_AUTHORITY and SEATRIAL_CLUSTER_TOKEN, as core's test `wire` does, which
// writes objects meanwhile. Tells how long the longest call took, and fails if a call hangs, if a watch is lost or if
// the last object cannot be written.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// How long a call may take, and how long after that it has surely hung.
const (
	limit = 60 * time.Second
	hung  = 600 * time.Second
)

// How often the last object is tried. A quarter of the connections lasts, so all of these fail for another reason.
const tries = 100

var calls, failed, watches, longest atomic.Int64

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func called(call func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	began := time.Now()
	alarm := time.AfterFunc(hung, func() { must(fmt.Errorf("a call hangs")) })
	err := call(ctx)
	alarm.Stop()
	took := time.Since(began).Milliseconds()
	calls.Add(1)
	for {
		before := longest.Load()
		if took <= before || longest.CompareAndSwap(before, took) {
			break
		}
	}
	if err != nil {
		failed.Add(1)
	}
	return err == nil
}

// Watches until the last object has come; a watch that ends goes on where it was.
func follow(maps typed.ConfigMapInterface, isSlow bool, begun func()) {
	version := ""
	for {
		if version == "" {
			isOver := false
			called(func(ctx context.Context) error {
				page, err := maps.List(ctx, metav1.ListOptions{})
				if err == nil {
					version = page.ResourceVersion
					for _, it := range page.Items {
						isOver = isOver || it.Name == "last"
					}
				}
				return err
			})
			if isOver {
				return
			}
			if version == "" {
				continue
			}
		}
		// The stream lives as long as its context, so the limit is for the begin alone.
		ctx, cancel := context.WithCancel(context.Background())
		var events watch.Interface
		alarm := time.AfterFunc(limit, cancel)
		hasBegun := called(func(context.Context) (err error) {
			events, err = maps.Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
			return err
		})
		alarm.Stop()
		if !hasBegun {
			cancel()
			continue
		}
		watches.Add(1)
		begun()
		isOver := read(events, isSlow, &version)
		events.Stop()
		cancel()
		if isOver {
			return
		}
	}
}

func read(events watch.Interface, isSlow bool, version *string) bool {
	for {
		select {
		case event, ok := <-events.ResultChan():
			if !ok {
				return false
			}
			object, isMap := event.Object.(*corev1.ConfigMap)
			if !isMap {
				if err := apierrors.FromObject(event.Object); apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
					*version = ""
				}
				return false
			}
			if object.Name == "last" {
				return true
			}
			*version = object.ResourceVersion
			if isSlow {
				time.Sleep(20 * time.Millisecond)
			}
		case <-time.After(hung):
			must(fmt.Errorf("a watch is lost"))
		}
	}
}

func memory() uint64 {
	var told runtime.MemStats
	runtime.ReadMemStats(&told)
	return told.HeapInuse + told.StackInuse
}

func writeLast(maps typed.ConfigMapInterface) {
	for range tries {
		if called(func(ctx context.Context) error {
			last := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "last"}}
			_, err := maps.Create(ctx, &last, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		}) {
			return
		}
	}
	must(fmt.Errorf("the last object cannot be written"))
}

func main() {
	var counts [3]int
	for index := range counts {
		count, err := strconv.Atoi(os.Args[index+1])
		must(err)
		counts[index] = count
	}
	clients, err := kubernetes.NewForConfig(&rest.Config{
		Host:            os.Getenv("SEATRIAL_CLUSTER_HOST"),
		BearerToken:     os.Getenv("SEATRIAL_CLUSTER_TOKEN"),
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(os.Getenv("SEATRIAL_CLUSTER_AUTHORITY"))},
		QPS:             -1,
		ContentConfig:   rest.ContentConfig{ContentType: "application/json"},
	})
	must(err)
	maps := clients.CoreV1().ConfigMaps("default")
	var followers, callers, begun sync.WaitGroup
	begun.Add(counts[0])
	for nth := range counts[0] {
		followers.Go(func() { follow(maps, nth%10 == 0, sync.OnceFunc(begun.Done)) })
	}
	begun.Wait()
	ends := time.Now().Add(time.Duration(counts[2]) * time.Second)
	for nth := range counts[1] {
		callers.Go(func() {
			for time.Now().Before(ends) {
				called(func(ctx context.Context) error {
					_, err := maps.Get(ctx, fmt.Sprint("map-", nth), metav1.GetOptions{})
					return err
				})
			}
		})
	}
	time.Sleep(time.Until(ends) / 2)
	halfway := memory()
	callers.Wait()
	atTheEnd := memory()
	writeLast(maps)
	followers.Wait()
	fmt.Printf("client-go: %d watches, begun %d times; %d calls, of which %d failed, the longest %d ms\n",
		counts[0], watches.Load(), calls.Load(), failed.Load(), longest.Load())
	fmt.Printf("client-go: memory: %d bytes halfway, %d at the end\n", halfway, atTheEnd)
}
