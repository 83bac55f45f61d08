#!/usr/bin/env bash
# What does not fit into a submission: larger bounds, longer samples, the benches.
set -euo pipefail
cd "$(dirname "$0")/.."

ci/run.sh nightly
ci/mutants.sh nightly
ci/witnesses.sh check
ci/core-mutants.sh
ci/determinism.sh nightly
ci/figures.sh
ci/fuzz.sh nightly
ci/report.sh
# What is too much for a submission: the engines against each other on thousands of programs.
cargo test --release -p seatrial-models --features loom,shuttle --lib -- engine:: toy::
# Everything at once on one queue after the other, with a ledger beside them.
SEATRIAL_SOAK_SECONDS=$(ci/budget.sh nightly soak_seconds) \
  cargo test --release -p seatrial-core --test soak -- --nocapture
cargo bench --workspace
