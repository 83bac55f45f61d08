package main

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func init() {
	patterns["timestamp"] = pattern{&corev1.ConfigMap{}, byTimestamp}
	patterns["scale"] = pattern{&appsv1.StatefulSet{}, byScale}
}

// The newest state, by which alone something may be lost for ever. The bug is to trust the cache.
func (w world) judge() client.Reader {
	if w.bug {
		return w
	}
	return w.newest
}

// Keeps a claim for each parent, and deletes it with its parent.
func byTimestamp(ctx context.Context, w world, key client.ObjectKey) error {
	parent, found := &corev1.ConfigMap{}, &corev1.PersistentVolumeClaim{}
	if err := w.judge().Get(ctx, key, parent); err != nil {
		return client.IgnoreNotFound(err)
	}
	isGoing, uid := parent.DeletionTimestamp != nil, string(parent.UID)
	err := w.newest.Get(ctx, key, found)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	isOwn := found.Labels["parent"] == uid
	if err == nil && (isGoing && (isOwn || w.bug) || !isGoing && !isOwn && !w.bug) {
		if err := w.remove(ctx, found); err != nil {
			return err
		}
	}
	before := client.MergeFromWithOptions(parent.DeepCopy(), client.MergeFromWithOptimisticLock{})
	set := controllerutil.AddFinalizer
	if isGoing {
		set = controllerutil.RemoveFinalizer
	}
	if set(parent, "patterns.example/claim") {
		if err := w.Patch(ctx, parent, before); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if isGoing {
		return nil
	}
	return w.ensure(ctx, claim(key, map[string]string{"parent": uid}))
}

// Keeps a claim for each replica, and deletes those of replicas that are not wanted any more.
func byScale(ctx context.Context, w world, key client.ObjectKey) error {
	set, claims := &appsv1.StatefulSet{}, &corev1.PersistentVolumeClaimList{}
	if err := w.judge().Get(ctx, key, set); err != nil {
		return client.IgnoreNotFound(err)
	}
	wanted := int(*set.Spec.Replicas)
	for number := range wanted {
		ordinal := strconv.Itoa(number)
		key := client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-" + ordinal}
		if err := w.ensure(ctx, claim(key, map[string]string{"set": set.Name, "ordinal": ordinal})); err != nil {
			return err
		}
	}
	own := client.MatchingLabels{"set": set.Name}
	if err := w.newest.List(ctx, claims, client.InNamespace(key.Namespace), own); err != nil {
		return err
	}
	for _, it := range claims.Items {
		if number, err := strconv.Atoi(it.Labels["ordinal"]); err == nil && number >= wanted {
			if err := w.remove(ctx, &it); err != nil {
				return err
			}
		}
	}
	return nil
}
