// Six small operators, two for each pattern of a history of which a controller sees a part: stale, intermediate,
// unobserved. With --bug each has its mistake. `seatrial drive` convicts these six, and the repaired ones hold.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type pattern struct {
	of        client.Object
	reconcile func(context.Context, world, client.ObjectKey) error
}

var patterns = map[string]pattern{}

// What a reconciler has: its client reads from the cache, newest asks the server.
type world struct {
	client.Client
	newest client.Reader
	bug    bool
}

// Creates an object unless there is one of its name.
func (w world) ensure(ctx context.Context, object client.Object) error {
	return client.IgnoreAlreadyExists(w.Create(ctx, object))
}

// Deletes an object if it is still the same one.
func (w world) remove(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	return client.IgnoreNotFound(w.Delete(ctx, object, client.Preconditions{UID: &uid}))
}

func named(key client.ObjectKey, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace, Labels: labels}
}

func claim(key client.ObjectKey, labels map[string]string) *corev1.PersistentVolumeClaim {
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	return &corev1.PersistentVolumeClaim{ObjectMeta: named(key, labels), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: size},
	}}
}

func pod(key client.ObjectKey, labels map[string]string) *corev1.Pod {
	containers := []corev1.Container{{Name: "main", Image: "example"}}
	return &corev1.Pod{ObjectMeta: named(key, labels), Spec: corev1.PodSpec{Containers: containers}}
}

func run(name string, bug, elect bool) error {
	pattern, isKnown := patterns[name]
	if !isKnown {
		return fmt.Errorf("there is no pattern %q", name)
	}
	// The first list comes from the cache of whichever replica is asked, as it does before client-go 0.35.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Metrics:        server.Options{BindAddress: "0"},
		LeaderElection: elect, LeaderElectionID: name, LeaderElectionNamespace: "default",
	})
	if err != nil {
		return err
	}
	w := world{manager.GetClient(), manager.GetAPIReader(), bug}
	reconciler := reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		return ctrl.Result{}, pattern.reconcile(ctx, w, request.NamespacedName)
	})
	if err := ctrl.NewControllerManagedBy(manager).For(pattern.of).Complete(reconciler); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	name := flag.String("pattern", "", "which operator")
	bug := flag.Bool("bug", false, "with its mistake")
	elect := flag.Bool("elect", false, "of several replicas one works")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*name, *bug, *elect); err != nil {
		ctrl.Log.Error(err, "the operator ends")
		os.Exit(1)
	}
}
