#!/usr/bin/env bash
# Hundreds of watches and dozens of callers over HTTP/2 for some minutes, beside slow readers, goodbyes of the
# server, and strangers who stall; then the same while connections are reset, stall and close by half; and where Go
# is installed, the same with client-go: ci/wire.sh [SECONDS]. Proves: no call takes longer than its limit, no watch
# is lost, and the memory stays. `ci/real-apiserver.sh` does the same at a real server.
set -euo pipefail
cd "$(dirname "$0")/.."

beside=()
if command -v go >/dev/null; then
  # shellcheck source=ci/real/versions
  source ci/real/versions
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cp ci/clients/wire/main.go "$work/"
  cat >"$work/go.mod" <<MOD
module real/wire

go $(go env GOVERSION | sed 's/go//')

require k8s.io/client-go $libraries
MOD
  (cd "$work" && timeout 300 go mod tidy && timeout 900 go build -o "$work/wire" .)
  beside=("SEATRIAL_WIRE_BESIDE=$work/wire")
fi
env "${beside[@]}" SEATRIAL_WIRE_SECONDS="${1:-300}" \
  cargo test --release --package seatrial-core --features http --test cluster -- \
  wire:: --nocapture --test-threads 1
