#!/usr/bin/env bash
# kubectl against the simulated server: get, describe, create, apply, apply --server-side, patch,
# label, scale, wait, watch, delete. Proves: a client that nobody here wrote finds what it looks for.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v kubectl >/dev/null || { echo "kubectl is not installed: nothing was tried" >&2; exit 3; }
cargo build --quiet --package seatrial-models --bin seatrial
# shellcheck source=ci/clients/server.sh
source ci/clients/server.sh
export HOME=$work
# Over TLS, with the authority in the kubeconfig; controllers make what it waits for.
serve --tls --controllers

k() { timeout 30 kubectl "$@"; }
# The output of a command must hold a text.
says() {
  local text=$1 said
  shift
  said=$(k "$@" 2>&1) || { echo "kubectl $* failed: $said" >&2; exit 1; }
  [[ $said == *"$text"* ]] || { echo "kubectl $* does not say '$text': $said" >&2; exit 1; }
}

cat >"$work/objects.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {key: value}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: i}]}
YAML

says "v1.36" version
says "customresourcedefinitions" api-resources
says "kube-system" get namespaces
says "configmap/a created" apply -f "$work/objects.yaml"
says "deployment.apps/d unchanged" apply -f "$work/objects.yaml"
sed -i 's/key: value/key: other/' "$work/objects.yaml"
says "configmap/a configured" apply -f "$work/objects.yaml"
says "serverside-applied" apply --server-side --force-conflicts -f "$work/objects.yaml"
says "configmap/made created" create configmap made --from-literal=key=value
says "secret/made created" create secret generic made --from-literal=key=value
says "deployment.apps/made created" create deployment made --image=i --replicas=2
says "value" get configmap made -o 'jsonpath={.data.key}'
says "deleted" delete deployment made --cascade=foreground
says "other" get configmap a -o 'jsonpath={.data.key}'
says "patched" patch configmap a -p '{"data":{"more":"1"}}'
says "condition met" wait '--for=jsonpath={.data.more}=1' configmap/a
says "more:" describe configmap a
says "labeled" label configmap a color=red
says "configmap/a" get configmaps -l color=red -o name
says "scaled" scale deployment d --replicas=3
says "3" get deployment d -o 'jsonpath={.spec.replicas}'
says "condition met" wait --for=condition=Available deployment/d --timeout=25s
says "successfully rolled out" rollout status deployment/d --timeout=25s
says "3/3" get deployment d
says "READY" get pods
says "DATA" get configmaps
says "deleted" delete deployment d --cascade=foreground
says "No resources found" get pods
timeout 10 kubectl get configmaps -w -o name >"$work/watched" 2>&1 &
watcher=$!
await "event" test -s "$work/watched"
says "configmap \"a\" deleted" delete configmap a
watched_both() { [ "$(wc -l <"$work/watched")" -ge 2 ]; }
await "event of the deletion" watched_both
kill "$watcher" 2>/dev/null || true
if k get configmap a 2>"$work/missing"; then echo "a is still there" >&2; exit 1; fi
grep -q NotFound "$work/missing"
echo "kubectl found everything"
