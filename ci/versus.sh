#!/usr/bin/env bash
# Our parts beside the reference itself, in one run: ci/versus.sh [WORD]... measures the rows of the table whose
# name holds one of the words, or all; then client-go and controller-runtime do the same.
# Needs Go. Fails (exit code 1) if a row is below 1.2 times the reference's speed; 2 is the goal.
# What one thread does is measured by its own clock, on both sides; what several do by the clock on the
# wall, for which the machine should do nothing else. Where one call can be long, the longest of both sides
# is printed beside the row: others wait for that long.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v go >/dev/null || { echo "go is not installed: nothing was measured" >&2; exit 3; }
# shellcheck source=ci/real/versions
source ci/real/versions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== builds the reference: client-go $libraries, controller-runtime $runtime"
cp core/benches/reference/*.go "$work/"
cat >"$work/go.mod" <<MOD
module reference

go $(go env GOVERSION | sed 's/go//')

require (
	k8s.io/apimachinery $libraries
	k8s.io/client-go $libraries
	sigs.k8s.io/controller-runtime $runtime
)
MOD
(cd "$work" && go mod tidy >tidy.txt 2>&1 && go build -o reference . || { cat tidy.txt; exit 1; })

echo "== ours"
cargo bench --quiet --package seatrial-core --features harness,parts,request --bench table -- --json "$work/rows.json" "$@"
echo "== beside the reference"
"$work/reference" "$work/rows.json"
