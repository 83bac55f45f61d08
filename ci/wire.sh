#!/usr/bin/env bash
# Hundreds of watches and dozens of callers over HTTP/2 for some minutes, beside slow readers, goodbyes of the
# server, and strangers who stall; then the same while connections are reset, stall and close by half; and where Go
# is installed and its modules can be had, the same with client-go: ci/wire.sh [SECONDS]. Proves: no call hangs, for
# each ends with an answer or an error of its client; no watch is lost; and the memory stays.
# `ci/real-apiserver.sh` does the same at a real server.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-300}
export SEATRIAL_WIRE_SECONDS=$seconds
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
  # Without a network ours is tried alone.
  if (cd "$work" && timeout 300 go mod tidy); then
    (cd "$work" && timeout 900 go build -o "$work/wire" .)
    export SEATRIAL_WIRE_BESIDE=$work/wire
  else
    echo "client-go cannot be had: it is not tried" >&2
  fi
fi
# Three tests of that length each, after a build.
timeout "$((3600 + 6 * seconds))" \
  cargo test --release --package seatrial-core --features http --test cluster -- \
  wire:: --nocapture --test-threads 1
