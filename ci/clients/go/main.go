// client-go against the simulated server: an informer, and two candidates for one lease.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Waits until something holds; gives up after a while.
func wait(what string, holds func() bool) {
	for range 300 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	must(fmt.Errorf("in vain: %s", what))
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data:       map[string]string{"key": value},
	}
}

func informs(ctx context.Context, clients kubernetes.Interface) {
	maps := clients.CoreV1().ConfigMaps("default")
	_, err := maps.Create(ctx, configMap("before", "1"), metav1.CreateOptions{})
	must(err)
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps()
	var added, updated, deleted atomic.Int32
	_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	must(err)
	factory.Start(ctx.Done())
	for kind, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			must(fmt.Errorf("%v was never in step", kind))
		}
	}
	wait("what was there before", func() bool { return added.Load() == 1 })
	for n := range 10 {
		_, err = maps.Create(ctx, configMap(fmt.Sprint("m", n), "1"), metav1.CreateOptions{})
		must(err)
	}
	_, err = maps.Update(ctx, configMap("m3", "2"), metav1.UpdateOptions{})
	must(err)
	must(maps.Delete(ctx, "m4", metav1.DeleteOptions{}))
	wait("every event", func() bool {
		return added.Load() == 11 && updated.Load() == 1 && deleted.Load() == 1
	})
	listed, err := informer.Lister().ConfigMaps("default").List(labels.Everything())
	must(err)
	changed, err := informer.Lister().ConfigMaps("default").Get("m3")
	must(err)
	if len(listed) != 10 || changed.Data["key"] != "2" {
		must(fmt.Errorf("the store has %d maps, and %v", len(listed), changed.Data))
	}
}

func candidate(ctx context.Context, clients kubernetes.Interface, name string, leads *atomic.Bool) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "lock", Namespace: "default"},
			Client:     clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		ReleaseOnCancel: true,
		LeaseDuration:   3 * time.Second,
		RenewDeadline:   2 * time.Second,
		RetryPeriod:     200 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leads.Store(true) },
			OnStoppedLeading: func() { leads.Store(false) },
		},
	})
}

func elects(ctx context.Context, clients kubernetes.Interface) {
	var first, second atomic.Bool
	leading, leave := context.WithCancel(ctx)
	go candidate(leading, clients, "first", &first)
	wait("the first leads", first.Load)
	go candidate(ctx, clients, "second", &second)
	time.Sleep(2 * time.Second)
	if second.Load() {
		must(fmt.Errorf("two lead at once"))
	}
	leave()
	wait("the second leads", second.Load)
	lease, err := clients.CoordinationV1().Leases("default").Get(ctx, "lock", metav1.GetOptions{})
	must(err)
	if *lease.Spec.HolderIdentity != "second" || *lease.Spec.LeaseTransitions < 1 {
		must(fmt.Errorf("the lease says %v", lease.Spec))
	}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	config.ContentType = os.Args[1]
	clients, err := kubernetes.NewForConfig(config)
	must(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	informs(ctx, clients)
	elects(ctx, clients)
	fmt.Println("client-go found everything as", os.Args[1])
}
