#!/usr/bin/env bash
# Runs the same again in fresh processes: ci/determinism.sh [submission|nightly]. Proves: the same
# seed and counts give the same report byte for byte, but for `timing`, with one case at a time and
# with several; another seed gives another report, so that the comparison can fail.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}
reruns=$(ci/budget.sh "$kind" determinism_reruns)
budget=$(ci/budget.sh "$kind" determinism)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SEATRIAL_COMMIT=determinism
report() { # a file, and what to run: writes the report without what depends on the clock
  local file=$1 code=0
  shift
  cargo seatrial "$@" --report json="$work/whole.json" >"$work/said.txt" || code=$?
  case $code in
    # So small a budget may leave something undecided, unfound, or a case unreached: the same each
    # time, which is all that is asked here.
    0 | 3 | 5 | 100) ;;
    *) cat "$work/said.txt"; echo "exit code $code: $*" >&2; exit 1 ;;
  esac
  # `timing` comes last.
  sed '/^  "timing": {/,$d' "$work/whole.json" >"$file"
  [ -s "$file" ] && [ "$(wc -l <"$file")" -lt "$(wc -l <"$work/whole.json")" ] ||
    { echo "the report has no timing at its end: $*" >&2; exit 1; }
}
same() { # how often, and what to run
  local times=$1
  shift
  report "$work/first.json" "$@"
  for ((again = 2; again <= times; again++)); do
    # More cases at a time must not show either.
    report "$work/again.json" "$@" --jobs "$((1 + again % 3))"
    cmp "$work/first.json" "$work/again.json" ||
      { diff "$work/first.json" "$work/again.json" | head -n 20; exit 1; }
  done
  echo "$times reports are the same: $*"
}

same "$reruns" run toy canary --budget "$budget"
same "$reruns" mutants queue/lost --budget "$budget"
same 2 run --budget "$budget"

report "$work/other.json" run canary --budget "$budget" --engine sample --seed 1
report "$work/first.json" run canary --budget "$budget" --engine sample --seed 2
if cmp -s "$work/other.json" "$work/first.json"; then
  echo "another seed gives the same report: nothing was compared" >&2
  exit 1
fi
echo "another seed gives another report"
