#!/usr/bin/env bash
# Opens `seatrial explore` in a browser without a head. Proves: a person steps through an execution by keys
# and clicks, chooses another thread, comes so to a violation, and saves it; `replay` sees it again.
# Without a browser and its driver it says so and fails. Pictures: target/explore. Another program and its
# scenario: ci/explore.sh PROGRAM SCENARIO.
set -euo pipefail
cd "$(dirname "$0")/.."

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "no browser: install chromium" >&2; exit 1; }
driver=$(command -v chromedriver) || { echo "no chromedriver: install chromium-driver" >&2; exit 1; }
program=${1:-${CARGO_TARGET_DIR:-target}/debug/seatrial}
[ $# -gt 0 ] || cargo seatrial list canary >/dev/null # builds it
work=$(mktemp -d)
mkdir -p target/explore
"$program" explore "${2:-canary/lost_update}" --witnesses "$work" >"$work/said.txt" 2>/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  [ -s "$work/said.txt" ] && break
  sleep 0.1
done
timeout 300 python3 ci/explore.py "$(cat "$work/said.txt")" "$driver" "$browser" target/explore

witness=$(find "$work" -name by_hand.txt)
[ -n "$witness" ] || { echo "nothing was saved" >&2; exit 1; }
code=0
"$program" replay "$witness" >"$work/replay.txt" || code=$?
[ "$code" -eq 100 ] || { cat "$work/replay.txt"; echo "exit code $code, not 100" >&2; exit 1; }
for picture in wide-light wide-dark narrow-light; do
  [ "$(wc -c <"target/explore/$picture.png")" -gt 8000 ] || { echo "$picture is blank" >&2; exit 1; }
done
echo "stepped, branched, saved and replayed: target/explore/*.png"
