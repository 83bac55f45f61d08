#!/usr/bin/env bash
# kube-rs against the simulated server: its reads, writes, patches, a status, a reflector; of ours, an
# informer and an election over its client; then the examples of a controller and of an election. Proves:
# they find what they look for.
# With KUBE_SERVER=CONFIG, the server of that kubeconfig is asked in place of ours.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --quiet --package seatrial-kube --examples
examples() {
  for example in client controller election; do
    echo "== $example"
    timeout 120 "${CARGO_TARGET_DIR:-target}/debug/examples/$example"
  done
}
if [ -n "${KUBE_SERVER:-}" ]; then
  KUBECONFIG=$KUBE_SERVER examples
  exit
fi
cargo build --quiet --package seatrial-models --bin seatrial
# shellcheck source=ci/clients/server.sh
source ci/clients/server.sh
serve --tls
examples
