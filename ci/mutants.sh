#!/usr/bin/env bash
# The kill matrix: ci/mutants.sh [submission|nightly]. Proves: the invariants convict every seeded
# bug; one that survives fails (exit code 3).
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}

timeout "$(ci/budget.sh "$kind" mutants_seconds)" cargo seatrial mutants \
  --budget "$(ci/budget.sh "$kind" mutants)" --report json=target/seatrial-mutants.json
