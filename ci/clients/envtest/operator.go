// An operator as people write it: for each Greeting a ConfigMap with the text, and a status.
package operator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Greeting is an empty object of the custom kind.
func Greeting() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "sim.example.com", Version: "v1", Kind: "Greeting"})
	return object
}

type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	greeting := Greeting()
	if err := r.Get(ctx, request.NamespacedName, greeting); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	word, _, _ := unstructured.NestedString(greeting.Object, "spec", "word")
	name, _, _ := unstructured.NestedString(greeting.Object, "spec", "name")
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: greeting.GetName(), Namespace: greeting.GetNamespace()}}
	_, err := controllerutil.CreateOrUpdate(ctx, r, config, func() error {
		config.Data = map[string]string{"text": word + " " + name}
		return controllerutil.SetControllerReference(greeting, config, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if ready, _, _ := unstructured.NestedBool(greeting.Object, "status", "ready"); ready {
		return ctrl.Result{}, nil
	}
	if err := unstructured.SetNestedField(greeting.Object, true, "status", "ready"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, greeting)
}

// Add hands the controller to a manager.
func Add(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(Greeting()).Owns(&corev1.ConfigMap{}).
		Complete(reconciler{manager.GetClient()})
}
