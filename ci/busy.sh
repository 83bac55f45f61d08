#!/usr/bin/env bash
# Real threads on a busy machine: ci/busy.sh [ROUNDS [ROUNDS_OF_TESTS [ROUNDS_OF_VERDICTS [COMMAND...]]]], by default
# 3, 1 and 1. Beside eight processes that never rest, the engine `threads` runs so often, and so do the tests that
# use real time, and the simulations of controllers that use times, chance and several tasks. With a command, that
# is what keeps the machine busy, and it must succeed too.
# Proves: no verdict depends on how long something took. All rounds must be as expected; the first that is
# not is printed, and the rest follow nevertheless.
#
# SEATRIAL_PROGRAM names a program in the place of the one that `cargo seatrial` runs.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3} test_rounds=${2:-1} verdicts=${3:-1}
beside=("${@:4}")
program=(cargo seatrial)
[ -z "${SEATRIAL_PROGRAM:-}" ] || program=("$SEATRIAL_PROGRAM")

# What they build is built before it gets crowded, as the README's second command builds it. `lib` of the core has
# most of the tests on real threads; the others use sockets and the clock.
built() { # a package, and one of its test targets: its folder and its program
  python3 -c '
import json, os, sys
for line in open(sys.argv[1]):
    it = json.loads(line)
    if it.get("executable") and it["profile"]["test"] and it["target"]["name"] == sys.argv[3] \
            and os.path.relpath(os.path.dirname(it["manifest_path"])) == sys.argv[2]:
        print(os.path.dirname(it["manifest_path"]), it["executable"])
' "$messages" "$1" "$2"
}
simulations() {
  read -r folder executable <<<"$(built models/sim verdict)"
  (cd "$folder" && "$executable" alarms:: garbage::)
}
tests() {
  while read -r package target filters; do
    read -r folder executable <<<"$(built "$package" "$target")"
    # shellcheck disable=SC2086 # several filters
    (cd "$folder" && "$executable" $filters) || return 1
  done <<'TESTS'
core seatrial_core
core spawned
core channel
core cluster
kube all
models/sim http_bounds
models/harness seatrial seam:: engine::threads runner::reasons
TESTS
}
[ "$rounds" -eq 0 ] || "${program[@]}" doctor >/dev/null
messages=$(mktemp)
[ $((test_rounds + verdicts)) -eq 0 ] || cargo test --workspace --features loom,shuttle --no-run --message-format json >"$messages"

busy=() load='' running='' said=$(mktemp)
rest() {
  for group in $running $load; do kill -- "-$group" 2>/dev/null || true; done
  kill "${busy[@]}" 2>/dev/null || true
  wait $running $load "${busy[@]}" 2>/dev/null || true
  rm -f "$said" "$messages"
}
trap rest EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ "${#beside[@]}" -gt 0 ]; then
  set -m # a group of its own, so that all of it can be ended
  "${beside[@]}" &
  load=$!
  set +m
  beside_what="${beside[*]}"
else
  beside_what="8 busy processes"
fi
# With a command they begin once it has ended, so that it stays as busy. They also end by themselves once this script
# is gone, however it went.
for ((nth = 0; nth < 8; nth++)); do
  (
    trap - EXIT INT TERM HUP
    while kill -0 $$ 2>/dev/null; do
      if [ -n "$load" ] && kill -0 "$load" 2>/dev/null; then sleep 0.5; fi
    done
  ) &
  busy+=($!)
done

wrong=0
round() { # a count of rounds, what they are called, and the command
  local all=$1 name=$2 good=0
  shift 2
  for ((nth = 1; nth <= all; nth++)); do
    set -m # a group of its own, so that all of it can be ended
    "$@" >"$said" 2>&1 &
    running=$! code=0 # in the background, so that a signal to this script is heard at once
    set +m
    wait "$running" || code=$?
    running=''
    if [ "$code" -eq 0 ]; then
      good=$((good + 1))
    elif [ "$good" -eq $((nth - 1)) ]; then
      echo "round $nth of $name is not as expected:"
      tail -n 60 "$said"
    fi
  done
  echo "$name beside $beside_what: $good of $all as expected"
  [ "$good" -eq "$all" ] || wrong=1
}
[ "$rounds" -eq 0 ] || round "$rounds" "the engine threads" "${program[@]}" run --engine threads --color never
[ "$test_rounds" -eq 0 ] || round "$test_rounds" "tests in real time" tests
[ "$verdicts" -eq 0 ] || round "$verdicts" "simulations" simulations
if [ -n "$load" ]; then
  code=0
  wait "$load" || code=$?
  if [ "$code" -ne 0 ]; then
    echo "exit code $code: $beside_what"
    wrong=1
  fi
  load=''
fi
exit "$wrong"
