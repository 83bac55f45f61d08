#!/usr/bin/env bash
# The kill matrix: ci/mutants.sh [submission|nightly]. Proves: the invariants convict every seeded
# bug; one that survives fails (exit code 3). By night also: each invariant of the components that are
# listed sees something that no other one of its component sees, or says why it is stated.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}

timeout "$(ci/budget.sh "$kind" mutants_seconds)" cargo seatrial mutants \
  --budget "$(ci/budget.sh "$kind" mutants)" --report json=target/seatrial-mutants.json

if [ "$kind" = nightly ]; then
  for component in queue priority_queue limiter pool heap expiring_store indexed_store; do
    timeout "$(ci/budget.sh "$kind" mutants_seconds)" cargo seatrial mutants --alone "$component"
  done
fi
