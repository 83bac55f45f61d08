#!/usr/bin/env bash
# Builds every fuzz target in one go and runs each for FUZZ_SECONDS (5) from its seeds, two at a
# time: ci/fuzz.sh [submission|nightly]. Fails if one finds something or executes nothing. Proves:
# the targets build, run, and find nothing in that time; what a fuzzer finds in hours is for the
# fleet.
#
# A submission does without the address sanitizer: our own code has no unsafe block, and so the
# compiler that builds everything else will do, on a machine that can get no other. At night a
# nightly compiler adds the sanitizer, where there is one. A submission begins from one and the same
# seed, so that a change is refused for what it brings rather than for luck; nights differ.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}
seconds=${FUZZ_SECONDS:-$(ci/budget.sh "$kind" fuzz_seconds_a_target)}

if ! command -v cargo-fuzz >/dev/null; then
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/tools cargo install --locked --quiet cargo-fuzz
fi
# One codegen unit and full optimisation would take minutes to build, for five seconds of running.
flags=(--dev --sanitizer none)
seed=(-seed=1)
# A submission leaves the schedules out: it runs every scenario anyway, and they double what is to be built.
features=() left_out=schedule
fuzz() { cargo fuzz "$@"; }
if [ "$kind" = nightly ]; then
  seed=() features=(--features schedules) left_out=
  if cargo +nightly --version >/dev/null 2>&1; then
    flags=(--sanitizer address)
    fuzz() { cargo +nightly fuzz "$@"; }
  else
    echo "no nightly compiler: fuzzing without the address sanitizer"
  fi
fi

began=$SECONDS
fuzz build "${flags[@]}" "${features[@]}" 2>&1 | { grep -v '^ *\(Compiling\|Downloaded\|Downloading\) ' || true; }
mapfile -t targets < <(fuzz list | grep -vx "$left_out")
echo "${#targets[@]} targets built in $((SECONDS - began)) s"
[ "${#targets[@]}" -gt 0 ] || { echo "there are no targets" >&2; exit 1; }

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
smoke() { # runs one target and says how many inputs it executed
  local target=$1 runs
  mkdir -p "fuzz/corpus/$target"
  if ! fuzz run "${flags[@]}" "${features[@]}" "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
    "${seed[@]}" -max_total_time="$seconds" -print_final_stats=1 >"$logs/$target" 2>&1; then
    grep -A 4 'panicked at' "$logs/$target" || tail -n 60 "$logs/$target"
    echo "$target found something; what it was given, in base64:" >&2
    find "fuzz/artifacts/$target" -type f -newer "$logs" -exec base64 {} + >&2
    return 1
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$target")
  if [ "${runs:-0}" -eq 0 ]; then
    tail -n 60 "$logs/$target"
    echo "$target executed nothing" >&2
    return 1
  fi
  printf '%-16s %12s runs in %s s\n' "$target" "$runs" "$seconds"
}

failed=0
for ((at = 0; at < ${#targets[@]}; at += 2)); do
  processes=()
  for target in "${targets[@]:at:2}"; do
    smoke "$target" &
    processes+=($!)
  done
  for process in "${processes[@]}"; do
    wait "$process" || failed=1
  done
done
[ "$failed" -eq 0 ] || exit 1
echo "${#targets[@]} targets ran and found nothing"
