#!/usr/bin/env bash
# Hundreds of watches and dozens of callers over HTTP/2 for some minutes, beside slow readers, goodbyes of the
# server, and strangers who stall: ci/wire.sh [SECONDS]. Proves: no call fails or hangs, no watch is lost, and the
# memory stays. `ci/real-apiserver.sh` does the same at a real server.
set -euo pipefail
cd "$(dirname "$0")/.."

SEATRIAL_WIRE_SECONDS=${1:-300} cargo test --release --package seatrial-core --features http --test cluster -- \
  wire:: --nocapture
