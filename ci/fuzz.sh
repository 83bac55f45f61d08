#!/usr/bin/env bash
# Builds every fuzz target in one go and runs each for FUZZ_SECONDS from its seeds, two at a time:
# ci/fuzz.sh [TARGET...]. Fails if one finds something or executes nothing. For the night: a submission
# runs the same properties on made-up input as tests and on the engine `fuzz`; it does not compile the
# targets, which `ci/check.sh nightly` does.
#
# With a nightly compiler it adds the address sanitizer. Our own code has no unsafe block, so the
# compiler that builds everything else will do as well, on a machine that can get no other.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-$(ci/budget.sh nightly fuzz_seconds_a_target)}

if ! command -v cargo-fuzz >/dev/null; then
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/tools cargo install --locked --quiet cargo-fuzz
fi
if cargo +nightly --version >/dev/null 2>&1; then
  flags=(--sanitizer address)
  fuzz() { cargo +nightly fuzz "$@"; }
else
  echo "no nightly compiler: fuzzing without the address sanitizer"
  flags=(--dev --sanitizer none)
  export CARGO_PROFILE_DEV_OPT_LEVEL=1
  fuzz() { cargo fuzz "$@"; }
fi
flags+=(--features schedules)

targets=("$@")
if [ "${#targets[@]}" -eq 0 ]; then
  began=$SECONDS
  fuzz build "${flags[@]}" 2>&1 | { grep -v '^ *\(Compiling\|Downloaded\|Downloading\) ' || true; }
  mapfile -t targets < <(fuzz list)
  echo "${#targets[@]} targets built in $((SECONDS - began)) s"
  [ "${#targets[@]}" -gt 0 ] || { echo "there are no targets" >&2; exit 1; }
fi

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
smoke() { # runs one target and says how many inputs it executed
  local target=$1 runs
  mkdir -p "fuzz/corpus/$target"
  if ! fuzz run "${flags[@]}" "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
    -max_total_time="$seconds" -print_final_stats=1 >"$logs/$target" 2>&1; then
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
