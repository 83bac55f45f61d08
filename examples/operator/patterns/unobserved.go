package main

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func init() {
	patterns["resize"] = pattern{&corev1.ConfigMap{}, resize}
	patterns["members"] = pattern{&corev1.Pod{}, enter}
}

// Makes a claim of the size that a parent has when it comes, and deletes it when the parent goes. The bug: it
// takes a claim of that name for one of this parent.
func resize(ctx context.Context, w world, key client.ObjectKey) error {
	parent, found := &corev1.ConfigMap{}, &corev1.PersistentVolumeClaim{}
	err := w.newest.Get(ctx, key, parent)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	isGone, uid := err != nil, string(parent.UID)
	err = w.newest.Get(ctx, key, found)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil && (isGone || !w.bug && found.Labels["parent"] != uid) {
		if err := w.remove(ctx, found); err != nil {
			return err
		}
	}
	if isGone {
		return nil
	}
	return w.ensure(ctx, claim(key, map[string]string{"parent": uid, "size": parent.Data["size"]}))
}

// Enters each pod into a list of members, with its uid, and takes it out when it goes. The bug: an entry of
// that name is taken for one of this pod.
func enter(ctx context.Context, w world, key client.ObjectKey) error {
	member, list := &corev1.Pod{}, &corev1.ConfigMap{}
	err := w.newest.Get(ctx, key, member)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	isGone, uid := err != nil, string(member.UID)
	if err := w.newest.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: "members"}, list); err != nil {
		return err
	}
	entry, isEntered := list.Data[key.Name]
	if isEntered && !isGone && (w.bug || entry == uid) || !isEntered && isGone {
		return nil
	}
	var value any = uid
	if isGone {
		value = nil
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]any{key.Name: value}})
	if err != nil {
		return err
	}
	return w.Patch(ctx, list, client.RawPatch(types.MergePatchType, patch))
}
