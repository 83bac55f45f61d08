#!/usr/bin/env bash
# Measures what simulated elections come to, and prints it: a million strict runs without two
# leaders, the worst waits beside their bounds, effects of deposed leaders, steps a second.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --release --package seatrial-models --features loom,shuttle --test figures -- \
  --nocapture --test-threads 1
