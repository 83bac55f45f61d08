#!/usr/bin/env bash
# The kill matrix: ci/mutants.sh [submission|nightly]. Proves: the invariants convict every seeded
# bug; one that survives fails (exit code 3). By night also: each invariant sees something that no
# other one of its component sees, or says why it is stated; that takes minutes where invariants are
# many.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}

timeout "$(ci/budget.sh "$kind" mutants_seconds)" cargo seatrial mutants \
  --budget "$(ci/budget.sh "$kind" mutants)" --report json=target/seatrial-mutants.json

if [ "$kind" = nightly ]; then
  for component in queue delaying_queue limited_queue priority_queue pool limiter token_bucket \
    backoff fifo delta_fifo ordered_fifo heap expiring_store indexed_store elector candidate; do
    timeout "$(ci/budget.sh "$kind" mutants_seconds)" cargo seatrial mutants --alone "$component"
  done
fi
