#!/usr/bin/env bash
# The examples, which must end by themselves and say something; then the tests with both checkers,
# by the command that the README gives; a run of no tests fails.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
limit=$(ci/budget.sh submission tests_seconds)
timeout "$limit" cargo build --package seatrial-core --all-features --examples
for source in core/examples/*.rs; do
  example=$(basename "$source" .rs)
  echo "== $example"
  timeout 20 "${CARGO_TARGET_DIR:-target}/debug/examples/$example" | tee "$log"
  [ -s "$log" ] || { echo "it said nothing" >&2; exit 1; }
done
timeout "$limit" cargo test --workspace --features loom,shuttle 2>&1 | tee "$log"
# What stands behind features of the core, which no other package turns on.
timeout "$limit" cargo test --package seatrial-core --all-features 2>&1 | tee -a "$log"
ran=$(awk '/^test result:/ { sum += $4 } END { print sum + 0 }' "$log")
echo "$ran tests ran"
[ "$ran" -ge 3000 ] || { echo "far fewer tests than there are" >&2; exit 1; }
