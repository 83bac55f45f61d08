#!/usr/bin/env bash
# What a newcomer waits for: the README's two commands in a fresh clone with an empty cargo home, then a changed
# line in a machine of `core`. Prints a table; fails if a command fails. Takes a quarter of an hour on two idle
# cores; crates are downloaded.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet . "$work/seatrial"
cd "$work/seatrial"
mkdir "$work/home"
# Rust itself is there already; what it downloads is not.
export CARGO_HOME="$work/home"
unset CARGO_TARGET_DIR CARGO_INCREMENTAL
rows=() failed=0
row() { rows+=("| $1 | $2 |"); echo "$1: $2"; }
timed() { # a name, and a command: its seconds, and its exit code; its output with the second of each line
  local name=$1 began=$SECONDS code=0
  shift
  "$@" 2>&1 | while IFS= read -r line; do printf '%s %s\n' "$((SECONDS - began))" "$line"; done \
    >"$work/$name.txt" || code=$?
  if [ "$code" -ne 0 ]; then failed=1; tail -n 40 "$work/$name.txt"; fi
  row "$name" "$((SECONDS - began)) s, exit code $code"
}
timed "command 1" ci/readme.sh 1
first=$(grep -m 1 -E '^[0-9]+ [a-z_]+: [0-9,]+ cases?, ' "$work/command 1.txt" | cut -d ' ' -f 1) || failed=1
row "its first verdict" "${first:-?} s"
timed "command 2" ci/readme.sh 2
row "folder target" "$(du -sm target | cut -f 1) MB"
touch -d '1 minute ago' target
sed -i 's/^impl<K, S> Queue<K, S> {/&\n    \/\/ A changed line./' core/src/queue/state.rs
echo "const _: () = (); // a changed line" >>core/src/queue/state.rs
timed "a changed line in core, built" cargo build --package seatrial-models --bin seatrial --features loom,shuttle
timed "and one component's verdict" cargo seatrial run queue
timed "cargo test --features loom" cargo test --features loom
echo
echo "| what | how long |"
echo "|---|---|"
printf '%s\n' "${rows[@]}"
exit "$failed"
