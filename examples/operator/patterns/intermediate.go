package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func init() {
	patterns["together"] = pattern{&corev1.ConfigMap{}, together}
	patterns["upgrade"] = pattern{&corev1.ConfigMap{}, upgrade}
}

// Makes a secret and a pod that uses it. The bug: the pod is made only by the process that has made the secret.
func together(ctx context.Context, w world, key client.ObjectKey) error {
	if err := w.newest.Get(ctx, key, &corev1.ConfigMap{}); err != nil {
		return client.IgnoreNotFound(err)
	}
	err := w.newest.Get(ctx, key, &corev1.Secret{})
	isNew := apierrors.IsNotFound(err)
	if isNew {
		password := map[string]string{"password": "secret"}
		err = w.ensure(ctx, &corev1.Secret{ObjectMeta: named(key, nil), StringData: password})
	}
	if err != nil {
		return err
	}
	if isNew || !w.bug {
		return w.ensure(ctx, pod(key, nil))
	}
	return nil
}

// Brings the version of a parent to its pod, and notes on the parent that this is done. The bug: it is noted
// before it is done.
func upgrade(ctx context.Context, w world, key client.ObjectKey) error {
	parent := &corev1.ConfigMap{}
	if err := w.newest.Get(ctx, key, parent); err != nil {
		return client.IgnoreNotFound(err)
	}
	version := parent.Data["version"]
	if parent.Annotations["applied"] == version {
		return nil
	}
	note := func() error {
		before := client.MergeFrom(parent.DeepCopy())
		metav1.SetMetaDataAnnotation(&parent.ObjectMeta, "applied", version)
		return w.Patch(ctx, parent, before)
	}
	apply := func() error {
		member := pod(key, map[string]string{"version": version})
		if err := w.Create(ctx, member); !apierrors.IsAlreadyExists(err) {
			return err
		}
		if err := w.newest.Get(ctx, key, member); err != nil {
			return err
		}
		before := client.MergeFrom(member.DeepCopy())
		metav1.SetMetaDataLabel(&member.ObjectMeta, "version", version)
		return w.Patch(ctx, member, before)
	}
	steps := []func() error{apply, note}
	if w.bug {
		steps = []func() error{note, apply}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
