#!/usr/bin/env bash
# What does not fit into a submission: larger bounds, longer samples, longer fuzzing.
set -euo pipefail
cd "$(dirname "$0")/.."

ci/run.sh nightly
ci/mutants.sh nightly
FUZZ_SECONDS=$(ci/budget.sh nightly fuzz_seconds_a_target) ci/fuzz.sh
cargo bench --workspace
