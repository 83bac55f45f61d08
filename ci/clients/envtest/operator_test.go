package operator

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var (
	environment = &envtest.Environment{CRDDirectoryPaths: []string{"crds"}, ErrorIfCRDPathMissing: true}
	config      *rest.Config
)

// The whole suite has one server, as most have.
func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	begin := time.Now()
	var err error
	if config, err = environment.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "the environment does not start:", err)
		os.Exit(1)
	}
	fmt.Printf("envtest started within %d ms\n", time.Since(begin).Milliseconds())
	code := m.Run()
	begin = time.Now()
	if err := environment.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "the environment does not stop:", err)
		os.Exit(1)
	}
	fmt.Printf("and stopped within %d ms\n", time.Since(begin).Milliseconds())
	os.Exit(code)
}

func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Waits until something holds; gives up after a while.
func wait(t *testing.T, what string, holds func() error) {
	t.Helper()
	var err error
	for range 600 {
		if err = holds(); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("in vain: %s: %v", what, err)
}

func greeting(name, whom string) *unstructured.Unstructured {
	object := Greeting()
	object.SetNamespace("default")
	object.SetName(name)
	object.Object["spec"] = map[string]any{"name": whom}
	return object
}

func TestTheControllerKeepsWhatItOwns(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Add(manager); err != nil {
		t.Fatal(err)
	}
	managed, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(managed) }()
	c := newClient(t, config)
	object := greeting("a", "world")
	if err := c.Create(ctx, object); err != nil {
		t.Fatal(err)
	}
	var text corev1.ConfigMap
	holds := func(want string) func() error {
		return func() error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(object), &text); err != nil {
				return err
			}
			if text.Data["text"] != want {
				return fmt.Errorf("the text is %q", text.Data["text"])
			}
			return nil
		}
	}
	wait(t, "the text, with the default of the schema", holds("hello world"))
	if err := c.Delete(ctx, &text); err != nil {
		t.Fatal(err)
	}
	wait(t, "the text again", holds("hello world"))
	wait(t, "the status", func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if ready, _, _ := unstructured.NestedBool(object.Object, "status", "ready"); !ready {
			return fmt.Errorf("it is not ready")
		}
		return nil
	})
	wait(t, "an update", func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		object.Object["spec"] = map[string]any{"name": "moon", "word": "bye"}
		return c.Update(ctx, object)
	})
	wait(t, "the new text", holds("bye moon"))
	// Nothing deletes what lost its owner: no controller of a cluster runs in envtest.
	if err := c.Delete(ctx, object); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := holds("bye moon")(); err != nil {
		t.Fatal(err)
	}
}

func TestTheSchemaRefuses(t *testing.T) {
	if err := newClient(t, config).Create(context.Background(), greeting("b", "")); !apierrors.IsInvalid(err) {
		t.Fatalf("a name without letters: %v", err)
	}
}

func TestUsersAreThoseOfTheAuthority(t *testing.T) {
	lists := func(config *rest.Config) error {
		c, err := client.New(config, client.Options{})
		if err != nil {
			return err
		}
		return c.List(context.Background(), &corev1.ConfigMapList{})
	}
	user, err := environment.AddUser(envtest.User{Name: "ann", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := lists(user.Config()); err != nil {
		t.Fatalf("a user of the suite: %v", err)
	}
	nobody := rest.AnonymousClientConfig(config)
	if err := lists(nobody); !apierrors.IsForbidden(err) {
		t.Fatalf("nobody: %v", err)
	}
	nobody.BearerToken = "made up"
	if err := lists(nobody); !apierrors.IsUnauthorized(err) {
		t.Fatalf("a token that nobody gave: %v", err)
	}
}
