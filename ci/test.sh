#!/usr/bin/env bash
# The tests, with both checkers and every feature of the core, and the examples, which must end by
# themselves and say something; a run of no tests fails: ci/test.sh [submission|nightly].
#
# A submission leaves the scenarios and the mutants of every page to ci/run.sh and ci/mutants.sh, which
# try the same on the same engines, optimised. So the pages' own tests are built without the engines: a
# fraction of the code, which takes longer to optimise than to run as it is. By night they run as tests
# too, with checks of overflow.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}

# Properties begin from one and the same seed, so that a change is refused for what it brings rather than
# for luck; nights differ.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
echo "properties begin from the seed $PROPTEST_RNG_SEED"
log=$(mktemp) said=$(mktemp)
trap 'rm -f "$log" "$said"' EXIT
limit=$(ci/budget.sh submission tests_seconds)
build=(--features seatrial-models/loom,seatrial-models/shuttle) skipped=()
if [ "$kind" = submission ]; then
  build=(--config 'profile.dev.package.seatrial-models.opt-level=0')
  skipped=(--skip scenarios_on_ --skip mutants_are_convicted_by)
fi
tested() {
  timeout "$limit" cargo test --no-fail-fast "$@" 2>&1 | tee -a "$log"
}
# What tests the program itself shares its build with ci/run.sh.
tested --release --package seatrial-models --features loom,shuttle --test '*'
# The pages, the simulated server with all of its faces, and what plugs into kube-rs are one build. Named
# one by one, the targets leave out the program, which is built above.
rest=(--workspace --exclude seatrial-core --exclude seatrial
  --features seatrial-sim/campaign,seatrial-sim/tls "${build[@]}")
tested "${rest[@]}" --lib --tests -- "${skipped[@]}"
tested "${rest[@]}" --doc
# A test run would build the examples as tests of their own, and leave out the programs.
cargo build "${rest[@]}" --examples
tested --package seatrial --features loom,shuttle -- "${skipped[@]}"
# The core is tested once, with all of its features: more of it than any other package turns on.
tested --package seatrial-core --all-features
# One of them is everything at once, over sockets and TLS: two processes, of which one is killed.
chain=when_the_process_that_leads_is_killed_the_other_does_its_work
grep -q "$chain ... ok" "$log" || { echo "the test of the whole chain did not run" >&2; exit 1; }
# They are built with the tests.
for source in core/examples/*.rs core/examples/*/main.rs kube/examples/*.rs; do
  example=${source%/main.rs} # of a folder
  example=$(basename "$example" .rs)
  echo "== $example"
  timeout 20 "${CARGO_TARGET_DIR:-target}/debug/examples/$example" | tee "$said"
  [ -s "$said" ] || { echo "it said nothing" >&2; exit 1; }
done
# Runs that are the same to the byte replace functions of the C library, so they are alone. What they
# say of code that is not under control has files and lines: in the two packages that they name. Debug
# information of all would compile every dependency a second time.
lines=()
for package in kube-runtime seatrial-sim; do
  lines+=(--config "profile.dev.package.$package.debug=\"line-tables-only\"")
done
tested "${lines[@]}" --package seatrial-sim --features exact --test exact
ran=$(awk '/^test result:/ { sum += $4 } END { print sum + 0 }' "$log")
echo "$ran tests ran"
[ "$ran" -ge 2300 ] || { echo "far fewer tests than there are" >&2; exit 1; }
