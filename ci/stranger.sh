#!/usr/bin/env bash
# Builds the example crate as a stranger would, outside the workspace; breaks it; sees it convicted;
# replays the witness. Then starts a crate with `cargo seatrial init`. Proves: a crate of one's own gets
# every command, and comes to a convicted bug by one command.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

work=$(mktemp -d) page=
trap 'rm -rf "$work"; [ -z "$page" ] || kill "$page" 2>/dev/null || true' EXIT
cp -r examples/reconciler "$work/reconciler"
rm -rf "$work/reconciler/target"
sed -i "s#path = \"../../#path = \"$root/#" "$work/reconciler/Cargo.toml"
cp Cargo.lock "$work/reconciler/Cargo.lock"
cd "$work/reconciler"
# Its dependencies are those of the tests, so they are compiled once.
export CARGO_TARGET_DIR="$root/target" CARGO_PROFILE_DEV_DEBUG=none

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

echo "== cargo seatrial init, in a fresh crate"
cargo build --quiet --manifest-path "$root/Cargo.toml" --package seatrial-models --package seatrial \
  --features loom,shuttle --bin seatrial --bin cargo-seatrial # as `cargo seatrial` builds them: built once
export PATH="$root/target/debug:$PATH"
mkdir "$work/fresh"
cd "$work/fresh" # the alias of the repository does not reach here
cargo new --quiet --lib mine
cp "$root/Cargo.lock" mine/
cd mine
cp Cargo.toml before.toml
expect() { # an exit code, and a command: what it says goes to a file
  local wanted=$1 code=0
  shift
  "$@" >"$work/said.txt" 2>"$work/aside.txt" || code=$?
  [ "$code" -eq "$wanted" ] ||
    { cat "$work/said.txt" "$work/aside.txt"; echo "exit code $code, not $wanted: $*" >&2; exit 1; }
}
expect 2 cargo seatrial run
grep -q "cargo seatrial init" "$work/aside.txt"
expect 2 cargo seatrial init --path "$work/nowhere"
cmp Cargo.toml before.toml && [ ! -e tests ] || { echo "a failed init left something" >&2; exit 1; }
expect 0 cargo seatrial init --path "$root"
expect 2 cargo seatrial init --path "$root" # what is there is not overwritten

# What it checks is its own: of the core it compiles the seam alone.
expect 0 cargo tree --edges normal,dev,features --invert seatrial-core
! grep -q 'seatrial-core feature "queues"' "$work/said.txt" || { cat "$work/said.txt"; exit 1; }
expect 0 cargo seatrial run --budget smoke
grep -q "^checking .* cases of 2 components" "$work/aside.txt"
grep -Eq "^hasty .* violated as expected" "$work/said.txt"
expect 0 cargo seatrial mutants
grep -q "1 mutant convicted" "$work/said.txt"
expect 0 cargo seatrial run hasty --witnesses witnesses
expect 100 cargo seatrial replay witnesses/hasty/the_last_node.txt
grep -q "there is 1 node, and 2 were given" "$work/said.txt"

echo "== a page to step through an execution"
timeout 300 cargo seatrial explore hasty/the_last_node >"$work/address.txt" 2>"$work/aside.txt" &
page=$!
for _ in $(seq 600); do
  [ ! -s "$work/address.txt" ] || break
  sleep 0.2
done
python3 - "$(cat "$work/address.txt")" <<'PYTHON'
import json, re, sys, urllib.request
page = urllib.request.urlopen(sys.argv[1], timeout=60).read().decode()
headers = {"X-Seatrial-Token": re.search('"token":"([^"]*)"', page)[1]}
request = urllib.request.Request(sys.argv[1] + "run?choices=", headers=headers)
run = json.load(urllib.request.urlopen(request, timeout=60))
assert run["threads"] == ["main", "first", "second"] and run["states"][0]["text"] == "Nodes { free: 1 }", run
PYTHON
kill "$page"
page=

echo "== as a step of a workflow elsewhere"
BUDGET=smoke GITHUB_STEP_SUMMARY="$work/summary.md" expect 0 "$root/ci/action.sh"
grep -q "all as expected" "$work/summary.md"
[ -s seatrial-report/report.sarif ] && [ -s seatrial-report/report.xml ] && [ -s seatrial-report/report.html ]

echo "== as tests"
expect 0 cargo test --test check
grep -Eq "^test +sample/.*/loom .* ok$" "$work/said.txt"
expect 0 cargo test --test check -- --list
grep -q "sample/.*/trace: test$" "$work/said.txt"

echo "== the sample's bug is put into its worker: with options of Cargo, from a folder below"
sed -i 's/the_last_node(worker)/the_last_node(hasty_worker)/' tests/check.rs
cd src
expect 100 cargo seatrial --package mine run sample --engine loom --engine trace
grep -q "VIOLATED: no_node_is_given_twice" "$work/said.txt"
grep -q "see it again: cargo seatrial replay seatrial-" "$work/said.txt"
echo "init writes a check target that convicts its bug"
