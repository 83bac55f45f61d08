#!/usr/bin/env bash
# The kill matrix: ci/mutants.sh [submission|nightly [JOBS]]. Proves: the invariants convict every seeded
# bug; one that survives fails (exit code 3). By night also: each invariant sees something that no
# other one of its component sees, or says why it is stated; that takes minutes where invariants are
# many.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}

# A conviction is what a submission asks for; the smallest schedule of each is for the night, and so is a
# long search for a conviction of what is equivalent.
how=()
if [ "$kind" = submission ]; then how=(--as-found --trust-equivalents); fi
if [ -n "${2:-}" ]; then how+=(--jobs "$2"); fi
timeout --foreground "$(ci/budget.sh "$kind" mutants_seconds)" cargo seatrial mutants "${how[@]}" \
  --budget "$(ci/budget.sh "$kind" mutants)" --report json=target/seatrial-mutants.json

if [ "$kind" = nightly ]; then
  for requirements in models/requirements/*.toml; do # one for every component that is tried
    timeout "$(ci/budget.sh "$kind" mutants_seconds)" \
      cargo seatrial mutants --alone "$(basename "$requirements" .toml)"
  done
fi
