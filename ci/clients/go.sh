#!/usr/bin/env bash
# client-go and a manager of controller-runtime against the simulated server, as JSON and as protobuf.
# Proves: the informer, the leader election and the controllers of most operators find what they look for.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v go >/dev/null || { echo "go is not installed: nothing was tried" >&2; exit 3; }
# shellcheck source=ci/real/versions
source ci/real/versions
cargo build --quiet --package seatrial-models --bin seatrial
# shellcheck source=ci/clients/server.sh
source ci/clients/server.sh
# Builds a program of ci/clients: build NAME
build() {
  mkdir "$work/$1"
  cp "ci/clients/$1/main.go" "$work/$1/"
  cat >"$work/$1/go.mod" <<MOD
module real/$1

go $(go env GOVERSION | sed 's/go//')

require (
  k8s.io/client-go $libraries
  sigs.k8s.io/controller-runtime $runtime
)
MOD
  (cd "$work/$1" && timeout 300 go mod tidy && timeout 900 go build -o "$work/run-$1" .)
}
build go
build manager
for type in application/json application/vnd.kubernetes.protobuf; do
  serve --tls
  timeout 120 "$work/run-go" $type
  end
done
serve --tls --controllers
timeout 120 "$work/run-manager"
