#!/usr/bin/env bash
# Measures what simulated elections come to, and prints it: a million strict runs without two
# leaders, the worst waits beside their bounds, effects of deposed leaders, steps a second. Then what
# the engines come to: executions and time beside plain loom and plain shuttle, schedules and states
# a second, schedules until a bug is found, estimates beside known numbers; how small the queue's
# seeded bugs become, and how soon.
set -euo pipefail
cd "$(dirname "$0")/.."

SEATRIAL_FIGURES=1 \
  cargo test --release --package seatrial-models --features loom,shuttle --test all -- \
  figures:: --nocapture --test-threads 1
SEATRIAL_REPLAYS=1000 \
  cargo test --release --package seatrial-models --features loom,shuttle --test all -- \
  minimal:: --nocapture --test-threads 1
cargo bench --package seatrial-models --features loom,shuttle --bench schedules
# Counts of others: executions, states, schedules until a bug shows.
cargo bench --package seatrial --features loom,shuttle --bench published
