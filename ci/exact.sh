#!/usr/bin/env bash
# A controller on kube-rs whose chance comes from a seed: ci/exact.sh [SEEDS]. Proves: each seed gives
# the same log of requests in two processes, byte for byte; and for each source of chance that without
# its remedy two runs differ, so that the comparison can fail.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-$(ci/budget.sh nightly exact_seeds)}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
SEATRIAL_SEEDS=$seeds cargo test --release --package seatrial-sim --features exact --test exact -- \
  --nocapture the_symbols_of_the_program_are_ours two_processes_say_the_same \
  each_canary_differs_without_its_remedy_and_only_then | tee "$log"
said() {
  grep -q "$1" "$log" || { echo "it does not say: $1" >&2; exit 1; }
}
said "\<$seeds seeds in 2 processes: 0 logs differ"
for source in random clock ahash fastrand hostname; do
  said "without control of $source [1-9][0-9]* of [0-9]* seeds differ"
done
said "test result: ok. 3 passed"
echo "$seeds seeds are the same in two processes, and every canary differs"
