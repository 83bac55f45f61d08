#!/usr/bin/env bash
# Builds etcd and kube-apiserver of a pinned release from Go modules, starts both on loopback, and runs
# made-up programs and the recorded traces on it and on ours side by side. Needs Go; takes a long time
# the first time, and keeps what it built. `ci/real-apiserver.sh [PROGRAMS]`.
# Proves: ours answers what a real server answers, also where nobody recorded anything.
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${1:-2000}
command -v go >/dev/null || { echo "go is not installed: nothing was tried" >&2; exit 3; }
# shellcheck source=ci/real/versions
source ci/real/versions
built=$(realpath "${CARGO_TARGET_DIR:-target}")/real/$kubernetes-$etcd
mkdir -p "$built"

# The modules of the release name each other by folders that only its repository has. Here they are
# replaced by the published ones of the same release.
build() { # NAME MODULE VERSION FOLDER
  [ -x "$built/$1" ] && return
  local work=$built/build-$1
  mkdir -p "$work"
  cp "ci/real/$4/main.go" "$work/"
  {
    printf 'module real/%s\n\ngo %s\n\nrequire %s %s\n' "$1" "$(go env GOVERSION | sed 's/go//')" "$2" "$3"
    if [ "$2" = k8s.io/kubernetes ]; then
      folder=$(go mod download -json "$2@$3" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
      sed -n 's|^\t\(k8s.io/[a-z-]*\) => ./staging/.*|replace \1 => \1 '"$libraries"'|p' "$folder/go.mod"
    fi
  } >"$work/go.mod"
  (cd "$work" && go mod tidy && go build -o "$built/$1" .)
}
build etcd go.etcd.io/etcd/server/v3 "$etcd" etcd
build kube-apiserver k8s.io/kubernetes "$kubernetes" apiserver

work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
store=$(free_port) peer=$(free_port) port=$(free_port)
"$built/etcd" --data-dir "$work/etcd" --unsafe-no-fsync --log-level error \
  --listen-client-urls "http://127.0.0.1:$store" --advertise-client-urls "http://127.0.0.1:$store" \
  --listen-peer-urls "http://127.0.0.1:$peer" 2>"$work/etcd.log" &
# Caches must not begin at the first state, or versions from before them would not be too old.
for _ in $(seq 30); do
  curl -s "http://127.0.0.1:$store/v3/kv/put" -d '{"key": "YQ==", "value": "YQ=="}' >/dev/null || sleep 0.2
done
token=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
echo "$token,compare,compare,\"system:masters\"" >"$work/tokens"
openssl genrsa -out "$work/key" 2048 2>/dev/null
"$built/kube-apiserver" --etcd-servers "http://127.0.0.1:$store" --cert-dir "$work/certs" \
  --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$port" \
  --token-auth-file "$work/tokens" --authorization-mode AlwaysAllow \
  --service-account-issuer https://127.0.0.1 --service-account-key-file "$work/key" \
  --service-account-signing-key-file "$work/key" --service-cluster-ip-range 10.0.0.0/24 \
  --etcd-compaction-interval 8760h --enable-priority-and-fairness=false \
  --endpoint-reconciler-type none --disable-admission-plugins ServiceAccount \
  --feature-gates APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false 2>"$work/apiserver.log" &
for _ in $(seq 120); do
  curl -sk -H "Authorization: Bearer $token" "https://127.0.0.1:$port/readyz" 2>/dev/null | grep -q '^ok' && break
  kill -0 $! 2>/dev/null || { tail -n 20 "$work/apiserver.log" >&2; exit 1; }
  sleep 1
done
# The oldest states are compacted, as they were when the traces were recorded, and as they are in ours.
curl -s "http://127.0.0.1:$store/v3/kv/compaction" -d '{"revision": "10"}' >/dev/null
cat >"$work/kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters:
  - {name: real, cluster: {server: "https://127.0.0.1:$port", certificate-authority: $work/certs/apiserver.crt}}
users: [{name: compare, user: {token: "$token"}}]
contexts: [{name: real, context: {cluster: real, user: compare, namespace: default}}]
current-context: real
YAML
KUBE_SERVER=$work/kubeconfig ci/clients/kube.sh
# The tests of informers, requests and elections from end to end, as they run on ours; one after the other,
# without those that ask the server for a fault.
SEATRIAL_CLUSTER_HOST=https://127.0.0.1:$port SEATRIAL_CLUSTER_TOKEN=$token \
  SEATRIAL_CLUSTER_AUTHORITY=$(cat "$work/certs/apiserver.crt") \
  cargo test --quiet --package seatrial-core --features http --test cluster -- --test-threads 1 \
  chain:: leases::a_record leases::what_others leases::refusals leases::when_a_leader \
  collections::a_list collections::a_watch
# Watches and callers over a network that breaks connections; client-go beside them.
SEATRIAL_CLUSTER_HOST=https://127.0.0.1:$port SEATRIAL_CLUSTER_TOKEN=$token \
  SEATRIAL_CLUSTER_AUTHORITY=$(cat "$work/certs/apiserver.crt") ci/wire.sh "${WIRE_SECONDS:-60}"
# The processes of an election: killed, cut off, stopped.
KUBECONFIG=$work/kubeconfig cargo run --quiet --locked --manifest-path ci/elections/Cargo.toml real
mkdir "$work/traces"
for file in models/sim/conformance/apiserver/*.jsonl.gz; do
  # A compaction is not ours to make: its traces are left out.
  gzip -dc "$file" | grep -v '"op":"compact"' >"$work/traces/$(basename "$file" .gz)" || true
done
[ "${TRACES:-yes}" = yes ] || rm -f "$work"/traces/*
TRIPLES=${TRIPLES:-5000} cargo run --quiet --package seatrial-sim --features tls --example compare -- \
  "127.0.0.1:$port" "$work/certs/apiserver.crt" "$token" "$programs" "$work"/traces/*
# Each field of the built-in kinds. Differences are known, so they are told and do not fail.
FIELDS=all cargo run --quiet --package seatrial-sim --features tls --example compare -- \
  "127.0.0.1:$port" "$work/certs/apiserver.crt" "$token" 0 || echo "some fields differ: see the table"
