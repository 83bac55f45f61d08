#!/usr/bin/env bash
# Runs every fuzz target for FUZZ_SECONDS each (5), from its seeds, and fails if one finds something
# or executes nothing. Proves: the targets build, run, and find nothing in that time; what a fuzzer
# finds in hours is for the fleet. Needs a nightly compiler for the address sanitizer; without one
# the targets run without it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-$(ci/budget.sh submission fuzz_seconds_a_target)}

command -v cargo-fuzz >/dev/null || cargo install --locked --quiet cargo-fuzz
if cargo +nightly --version >/dev/null 2>&1; then
  fuzz() { cargo +nightly fuzz "$@"; }
  flags=()
else
  echo "no nightly compiler: fuzzing without the address sanitizer"
  fuzz() { cargo fuzz "$@"; }
  flags=(--sanitizer none)
fi

fuzz build "${flags[@]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for target in $(fuzz list); do
  mkdir -p "fuzz/corpus/$target"
  if ! fuzz run "${flags[@]}" "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
    -max_total_time="$seconds" -print_final_stats=1 >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "$target found something: see fuzz/artifacts/$target" >&2
    exit 1
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ "${runs:-0}" -eq 0 ]; then
    tail -n 60 "$log"
    echo "$target executed nothing" >&2
    exit 1
  fi
  printf '%-16s %12s runs in %s s\n' "$target" "$runs" "$seconds"
done
