#!/usr/bin/env bash
# A run dealt out to four processes and merged, as a fleet does it with four machines. Proves: the
# shards together are the run; one left out is noticed (exit code 5), and so is a report that was
# cut short (exit code 2).
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
what=(run canary queue/two_getters queue/two_producers --engine loom --engine trace --engine sample
  --budget "$(ci/budget.sh submission campaign)" --jobs 1)
expect() { # an exit code, and a command
  local wanted=$1 code=0
  shift
  "$@" >"$work/last.txt" 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] ||
    { cat "$work/last.txt"; echo "exit code $code instead of $wanted: $*" >&2; exit 1; }
}

expect 0 cargo seatrial "${what[@]}" --partition slice:1/1 --report json="$work/whole.json"
processes=()
for index in 1 2 3 4; do
  cargo seatrial "${what[@]}" --partition "slice:$index/4" \
    --report json="$work/shard-$index.json" >"$work/shard-$index.txt" 2>&1 &
  processes+=($!)
done
for process in "${processes[@]}"; do
  wait "$process" || { cat "$work"/shard-*.txt; echo "a shard failed" >&2; exit 1; }
done

expect 0 cargo seatrial merge "$work"/shard-*.json -o "$work/merged.json" \
  --report junit="$work/merged.xml"
expect 0 cargo seatrial merge "$work/whole.json" -o "$work/sorted.json" \
  --report junit="$work/whole.xml"
cmp "$work/merged.xml" "$work/whole.xml"
echo "four shards are the run: $(tail -n 1 "$work/last.txt")"

expect 5 cargo seatrial merge "$work"/shard-[124].json -o "$work/short.json"
grep -q -- "--partition slice:3/4" "$work/last.txt"
echo "a shard left out is noticed"

head -c "$(($(wc -c <"$work/shard-2.json") / 2))" "$work/shard-2.json" >"$work/half.json"
expect 2 cargo seatrial merge "$work"/shard-1.json "$work/half.json" -o "$work/none.json"
[ ! -e "$work/none.json" ]
echo "a report cut short is refused"
