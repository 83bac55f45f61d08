#!/usr/bin/env bash
# Operators in Go, which know nothing of the simulator, under the default plan of faults. Proves: `seatrial drive`
# finds the mistake of examples/operator, and those of the six patterns beside it, each by the fault that its
# pattern is named for; the repaired ones hold; and two shards of a campaign are merged into one report.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v go >/dev/null || { echo "go is not installed: nothing was tried" >&2; exit 3; }
cargo build --quiet --package seatrial-models --bin seatrial --features loom,shuttle
seatrial=${CARGO_TARGET_DIR:-target}/debug/seatrial
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd examples/operator && timeout 900 go build -o "$work" . ./patterns)

# The exit code that is wanted, the steps, options and the command: drive CODE STEPS OPTION... -- COMMAND...
drive() {
  local wanted=$1 steps=$2 code=0
  shift 2
  timeout 1500 "$seatrial" drive --steps "examples/operator/$steps" --out "$work/out" "$@" >"$work/said" || code=$?
  [ "$code" = "$wanted" ] || { cat "$work/said"; echo "exit code $code, not $wanted" >&2; exit 1; }
  tail -n 1 "$work/said"
}
# A plan that fails in more than half of its runs begins like this; which of those that fail alike is told first,
# and which after it, depends on who was faster. The fault must be one of its plan: what other findings and the
# outputs say does not count.
found() {
  fault=$1 awk '
    /^(this plan fails|wrong without any fault) / { counts = /^this plan fails \([345] of 5 runs\): / }
    /^to see it again: / { counts = 0 }
    counts && $0 ~ "^(this plan fails \\([345] of 5 runs\\):|it also fails so under) (.* )?(" ENVIRON["fault"] ")" {
      print
      found = 1
    }
    END { exit !found }' "$work/said" || { cat "$work/said"; echo "no $1 explains it" >&2; exit 1; }
}
operator=("$work/operator" '--metrics-bind-address=127.0.0.1:{port}')
drive 100 steps.yaml -- "${operator[@]}"
found 'crash\('
drive 100 steps.yaml --replay 'crash(1)' -- "${operator[@]}"
REPAIRED=1 drive 0 steps.yaml -- "${operator[@]}"

while read -r name fault; do
  echo "$name, with its bug, then repaired"
  drive 100 "patterns/steps/$name.yaml" -- "$work/patterns" "--pattern=$name" --bug
  found "$fault"
  drive 0 "patterns/steps/$name.yaml" -- "$work/patterns" "--pattern=$name"
done <<'LIST'
together (crash|lost)\(
upgrade (crash|lost)\(
timestamp stale\(configmaps,
scale stale\(statefulsets.apps,
resize unobserved\(configmaps,
members unobserved\(pods,
LIST

# Two replicas, of which an election lets one work: its death loses what is left to its memory, and nothing else.
replica="$work/patterns --pattern=together --elect"
drive 100 patterns/steps/together.yaml --random 0 --process "a=$replica --bug" --process "b=$replica --bug"
found 'crash\('
drive 0 patterns/steps/together.yaml --random 6 --process "a=$replica" --process "b=$replica"

for shard in 1 2; do
  drive 0 patterns/steps/together.yaml --random 2 --partition "slice:$shard/2" --report "json=$work/$shard.json" \
    --report "html=$work/$shard.html" -- "$work/patterns" --pattern=together
done
"$seatrial" merge "$work/1.json" "$work/2.json" --out "$work/all.json"
