#!/usr/bin/env bash
# The README's second command, which must run the tests that there are; then what it cannot: the examples, which
# must end by themselves and say something, and the runs that are the same to the byte, whose program replaces
# functions of the C library.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp) said=$(mktemp)
trap 'rm -f "$log" "$said"' EXIT
# The same selection of packages as the tests': so only what has another feature is compiled again.
timeout "$(ci/budget.sh submission tests_seconds)" \
  cargo test --workspace --features loom,shuttle,seatrial-sim/exact \
  --test exact --test campaigns --test fleet --test verdict
# In the workspace the names are those of a trial; alone they are the real types.
timeout "$(ci/budget.sh submission tests_seconds)" cargo test --package seatrial-sync --test real
for source in core/examples/*.rs core/examples/*/main.rs kube/examples/*.rs; do
  example=${source%/main.rs} # of a folder
  example=$(basename "$example" .rs)
  examples+=("$example")
done
timeout "$(ci/budget.sh submission tests_seconds)" ci/readme.sh 2 2>&1 | tee "$log"
# They were built with the tests.
for example in "${examples[@]}"; do
  echo "== $example"
  timeout 20 "${CARGO_TARGET_DIR:-target}/debug/examples/$example" | tee "$said"
  [ -s "$said" ] || { echo "it said nothing" >&2; exit 1; }
done
# One of them is everything at once, over sockets and TLS: two processes, of which one is killed.
chain=when_the_process_that_leads_is_killed_the_other_does_its_work
sed -i 's/\x1b\[[0-9;]*m//g' "$log"
grep -q "$chain ... ok" "$log" || { echo "the test of the whole chain did not run" >&2; exit 1; }
ran=$(awk '/^test result:/ { sum += $4 } END { print sum + 0 }' "$log")
echo "$ran tests ran"
[ "$ran" -ge 5000 ] || { echo "far fewer tests than there are" >&2; exit 1; }
grep -a '^test result:' "$log" | tail -n 1
