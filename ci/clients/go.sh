#!/usr/bin/env bash
# client-go and a manager of controller-runtime against the simulated server, as JSON and as protobuf; an
# envtest suite with the simulated server in place of its programs. Proves: the informer, the leader election,
# the controllers of most operators and their suites find what they look for.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v go >/dev/null || { echo "go is not installed: nothing was tried" >&2; exit 3; }
# shellcheck source=ci/real/versions
source ci/real/versions
cargo build --quiet --package seatrial-models --bin seatrial
# shellcheck source=ci/clients/server.sh
source ci/clients/server.sh
# Copies a module of ci/clients and looks for what it needs: module NAME
module() {
  cp -R "ci/clients/$1" "$work/$1"
  cat >"$work/$1/go.mod" <<MOD
module real/$1

go $(go env GOVERSION | sed 's/go//')

require (
  k8s.io/client-go $libraries
  sigs.k8s.io/controller-runtime $runtime
)
MOD
  (cd "$work/$1" && timeout 300 go mod tidy)
}
for program in go manager; do
  module $program
  (cd "$work/$program" && timeout 900 go build -o "$work/run-$program" .)
done
for type in application/json application/vnd.kubernetes.protobuf; do
  serve --tls
  timeout 120 "$work/run-go" $type
  end
done
serve --tls --controllers
timeout 120 "$work/run-manager"
end
module envtest
seatrial=${CARGO_TARGET_DIR:-target}/debug/seatrial
KUBEBUILDER_ASSETS=$("$seatrial" assets "$work/assets")
export KUBEBUILDER_ASSETS
(cd "$work/envtest" && timeout 900 go test -count=1 -v ./...)
