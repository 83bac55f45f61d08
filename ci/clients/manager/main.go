// A manager of controller-runtime, as operators write it: an election, a controller of ConfigMaps that
// owns a Secret and a Deployment for each. It speaks protobuf, as it does by default.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const protobuf = "application/vnd.kubernetes.protobuf"

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Waits until something holds; gives up after a while.
func wait(what string, holds func() error) {
	var err error
	for range 300 {
		if err = holds(); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	must(fmt.Errorf("in vain: %s: %w", what, err))
}

// Counts what goes over the wire as protobuf.
type counter struct {
	next                  http.RoundTripper
	sent, answered, watch *atomic.Int32
}

func (c counter) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Header.Get("Content-Type") == protobuf {
		c.sent.Add(1)
	}
	response, err := c.next.RoundTrip(request)
	if err == nil && strings.HasPrefix(response.Header.Get("Content-Type"), protobuf) {
		c.answered.Add(1)
		if strings.Contains(response.Header.Get("Content-Type"), "stream=watch") {
			c.watch.Add(1)
		}
	}
	return response, err
}

type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var config corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if config.Data["replicas"] == "" {
		return ctrl.Result{}, nil
	}
	name := metav1.ObjectMeta{Name: config.Name, Namespace: config.Namespace}
	secret := &corev1.Secret{ObjectMeta: name}
	_, err := controllerutil.CreateOrUpdate(ctx, r, secret, func() error {
		secret.Data = map[string][]byte{"key": []byte(config.Data["key"])}
		return controllerutil.SetControllerReference(&config, secret, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	deployment := &appsv1.Deployment{ObjectMeta: name}
	_, err = controllerutil.CreateOrPatch(ctx, r, deployment, func() error {
		labels := map[string]string{"app": config.Name}
		replicas := int32(len(config.Data["replicas"]))
		deployment.Spec.Replicas = &replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		return controllerutil.SetControllerReference(&config, deployment, r.Scheme())
	})
	return ctrl.Result{}, err
}

func check(ctx context.Context, c client.Client) {
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", Namespace: "default"},
		Data:       map[string]string{"key": "one", "replicas": "11"},
	}
	must(c.Create(ctx, config))
	key := client.ObjectKeyFromObject(config)
	var secret corev1.Secret
	holds := func(value string, replicas int32) func() error {
		return func() error {
			if err := c.Get(ctx, key, &secret); err != nil {
				return err
			}
			var deployment appsv1.Deployment
			if err := c.Get(ctx, key, &deployment); err != nil {
				return err
			}
			if string(secret.Data["key"]) != value || *deployment.Spec.Replicas != replicas {
				return fmt.Errorf("the secret holds %q, there are %d replicas", secret.Data["key"], *deployment.Spec.Replicas)
			}
			return nil
		}
	}
	wait("what the config map owns", holds("one", 2))
	must(c.Delete(ctx, &secret, client.Preconditions{UID: &secret.UID}))
	wait("the secret again", holds("one", 2))
	wait("an update", func() error {
		must(c.Get(ctx, key, config))
		config.Data = map[string]string{"key": "two", "replicas": "111"}
		return c.Update(ctx, config)
	})
	wait("what was updated", holds("two", 3))
	if err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: config.ObjectMeta}); !apierrors.IsAlreadyExists(err) && !apierrors.IsInternalError(err) {
		must(fmt.Errorf("a second one of the name: %v", err))
	}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "none"}, config); !apierrors.IsNotFound(err) {
		must(fmt.Errorf("one that is not there: %v", err))
	}
}

func main() {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	var sent, answered, watches atomic.Int32
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next, &sent, &answered, &watches} })
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection: true, LeaderElectionID: "demo", LeaderElectionNamespace: "default",
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
	})
	must(err)
	must(ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		Owns(&appsv1.Deployment{}).Complete(reconciler{manager.GetClient()}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	managed, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(managed) }()
	select {
	case <-manager.Elected():
	case err := <-ended:
		must(fmt.Errorf("the manager ended before it led: %v", err))
	}
	// Reads of the client of the manager come from its cache.
	reader, err := client.New(config, client.Options{})
	must(err)
	check(ctx, reader)
	stop()
	must(<-ended)
	var lease coordinationv1.Lease
	must(reader.Get(ctx, client.ObjectKey{Namespace: "default", Name: "demo"}, &lease))
	if *lease.Spec.HolderIdentity != "" {
		must(fmt.Errorf("the lease is still held by %s", *lease.Spec.HolderIdentity))
	}
	if sent.Load() < 5 || answered.Load() < 10 || watches.Load() < 3 {
		must(fmt.Errorf("protobuf: %d bodies sent, %d answers, %d watches", sent.Load(), answered.Load(), watches.Load()))
	}
	fmt.Printf("controller-runtime found everything; protobuf: %d bodies, %d answers, %d of them watches\n", sent.Load(), answered.Load(), watches.Load())
}
