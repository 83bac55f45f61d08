#!/usr/bin/env bash
# Builds the example crate as a stranger would, outside the workspace; breaks it; sees it convicted;
# replays the witness. Proves: a crate of one's own gets every command.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r examples/reconciler "$work/reconciler"
rm -rf "$work/reconciler/target"
sed -i "s#path = \"../../#path = \"$root/#" "$work/reconciler/Cargo.toml"
cp Cargo.lock "$work/reconciler/Cargo.lock"
cd "$work/reconciler"
export CARGO_TARGET_DIR="$root/target/stranger"

echo "== as tidy as the workspace"
cargo clippy --quiet --all-targets -- -D warnings

echo "== the reconciler holds, the hasty one is convicted as expected"
cargo test --quiet --test check -- run --budget smoke

echo "== the mistake is put into the reconciler itself"
sed -i 's#|queue, cluster| reconcile(queue, cluster)#|queue, cluster| reconcile_too_early(queue, cluster)#' \
  tests/check.rs
code=0
cargo test --quiet --test check -- run reconciler --engine loom --engine sample \
  --budget smoke --report json="$work/report.json" >"$work/run.txt" 2>&1 || code=$?
[ "$code" -ne 0 ] || { cat "$work/run.txt"; echo "a violation, and all is well" >&2; exit 1; }
grep -q "VIOLATED: converges" "$work/run.txt" || { cat "$work/run.txt"; exit 1; }

witness=$(grep -o 'seatrial-[0-9.]*:reconciler/[^"]*' "$work/report.json" | head -n 1)
[ -n "$witness" ] || { echo "no witness in the report" >&2; exit 1; }
echo "== replay $witness"
code=0
cargo test --quiet --test check -- replay "$witness" >"$work/replay.txt" 2>&1 || code=$?
[ "$code" -ne 0 ] || { cat "$work/replay.txt"; echo "the replay holds" >&2; exit 1; }
grep -q "converges" "$work/replay.txt" || { cat "$work/replay.txt"; exit 1; }
echo "convicted and replayed"
