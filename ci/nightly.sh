#!/usr/bin/env bash
# What does not fit into a submission: larger bounds, longer samples, the benches.
set -euo pipefail
cd "$(dirname "$0")/.."

ci/run.sh nightly
ci/mutants.sh nightly
ci/figures.sh
ci/fuzz.sh
cargo bench --workspace
