#!/usr/bin/env bash
# Real threads on a busy machine: ci/busy.sh [ROUNDS [ROUNDS_OF_TESTS]], by default 3 and 1. Beside eight
# processes that never rest, the engine `threads` runs so often, and so do the tests that use real time.
# Proves: no verdict depends on how long something took. All rounds must be as expected; the first that is
# not is printed, and the rest follow nevertheless.
#
# SEATRIAL_PROGRAM names a program in the place of the one that `cargo seatrial` runs.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3} test_rounds=${2:-1}
program=(cargo seatrial)
[ -z "${SEATRIAL_PROGRAM:-}" ] || program=("$SEATRIAL_PROGRAM")

# What they build is built before it gets crowded. `--lib` of the core has most of the tests on real
# threads; the others use sockets and the clock.
tests() {
  cargo test --package seatrial-core --all-features --lib --test spawned --test channel --test cluster "$@" &&
    cargo test --package seatrial-kube --test all "$@" &&
    cargo test --package seatrial-sim --features tls --test http_bounds "$@" &&
    cargo test --package seatrial --features loom,shuttle --lib "$@" -- seam:: engine::threads runner::reasons
}
"${program[@]}" doctor >/dev/null
[ "$test_rounds" -eq 0 ] || tests --no-run

busy=() running='' said=$(mktemp)
rest() {
  kill $running "${busy[@]}" 2>/dev/null || true
  wait $running "${busy[@]}" 2>/dev/null || true
  rm -f "$said"
}
trap rest EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# They also end by themselves once this script is gone, however it went.
for ((nth = 0; nth < 8; nth++)); do
  (trap - EXIT INT TERM HUP && while kill -0 $$ 2>/dev/null; do :; done) &
  busy+=($!)
done

wrong=0
round() { # a count of rounds, what they are called, and the command
  local all=$1 name=$2 good=0
  shift 2
  for ((nth = 1; nth <= all; nth++)); do
    "$@" >"$said" 2>&1 &
    running=$! # in the background, so that a signal to this script is heard at once
    if wait "$running"; then
      good=$((good + 1))
    elif [ "$good" -eq $((nth - 1)) ]; then
      echo "round $nth of $name is not as expected:"
      tail -n 60 "$said"
    fi
  done
  echo "$name beside 8 busy processes: $good of $all as expected"
  [ "$good" -eq "$all" ] || wrong=1
}
round "$rounds" "the engine threads" "${program[@]}" run --engine threads --color never
[ "$test_rounds" -eq 0 ] || round "$test_rounds" "tests in real time" tests
exit "$wrong"
