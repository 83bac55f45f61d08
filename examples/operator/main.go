// A small operator, with a mistake: each ConfigMap with the label `team` is a request for a Secret with a
// password, and is marked as served. The mark comes first. The guide is docs/check-any-operator.md.
package main

import (
	"context"
	"flag"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const served = "example.com/served"

type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	team := &corev1.ConfigMap{}
	if err := r.Get(ctx, request.NamespacedName, team); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if team.Labels["team"] == "" || team.Annotations[served] != "" {
		return ctrl.Result{}, nil
	}
	mark := func() error {
		before := client.MergeFrom(team.DeepCopy())
		metav1.SetMetaDataAnnotation(&team.ObjectMeta, served, "true")
		return r.Patch(ctx, team, before)
	}
	create := func() error {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: team.Name, Namespace: team.Namespace},
			StringData: map[string]string{"password": "secret"},
		}
		if err := r.Create(ctx, secret); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	}
	steps := []func() error{mark, create}
	if os.Getenv("REPAIRED") != "" {
		steps = []func() error{create, mark}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

func main() {
	metrics := flag.String("metrics-bind-address", ":8080", "where metrics are served")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	options := ctrl.Options{Metrics: server.Options{BindAddress: *metrics}}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
	if err == nil {
		err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(reconciler{manager.GetClient()})
	}
	if err == nil {
		err = manager.Start(ctrl.SetupSignalHandler())
	}
	if err != nil {
		ctrl.Log.Error(err, "the operator ends")
		os.Exit(1)
	}
}
