#!/usr/bin/env bash
# Proves: the two commands of the README are one build: whatever `cargo seatrial` compiles, the tests use.
# What is missing is a feature, to be said in models/Cargo.toml. Compiles nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
graph() { RUSTC_BOOTSTRAP=1 cargo "$@" --unit-graph -Zunstable-options; }
alias=$(sed -n 's/^seatrial = "\(.*\) --"$/\1/p' .cargo/config.toml)
tests=$(sed -n 's/^cargo \(test --workspace [^#]*\).*$/\1/p' README.md | head -n 1)
[ -n "$alias" ] && [ -n "$tests" ] || { echo "the two commands were not found" >&2; exit 1; }
# shellcheck disable=SC2086 # words, as a shell splits them
graph build ${alias#run } >"$work/program.json"
# shellcheck disable=SC2086
graph $tests --no-run >"$work/tests.json"
python3 ci/one_build.py "$work/program.json" "$work/tests.json"
