#!/usr/bin/env bash
# Says which lines of the rules nothing in the harness reaches: ci/coverage.sh [OUT.lcov]. Scenarios,
# simulations, made-up calls and recorded traces run on a program that counts its lines; unit tests do
# not count. Proves: every line of a state, of its operations and of the shell below them is reached,
# or stands in ci/uncovered.txt with a reason.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

# The tools that read what the compiler counts: its own, or those of a distribution.
bin=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin
[ -x "$bin/llvm-cov" ] || rustup component add llvm-tools >/dev/null 2>&1 || true
if [ -x "$bin/llvm-cov" ]; then
  cov=$bin/llvm-cov merge=$bin/llvm-profdata
else
  cov=$(compgen -c llvm-cov- | sort -V | tail -n 1)
  merge=${cov/cov/profdata}
  [ -n "$cov" ] || { echo "there is no llvm-cov: nothing was counted. 'rustup component add llvm-tools' brings one." >&2; exit 3; }
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Only our own crates are counted: generic code of the core is compiled in those that use it.
cat >"$work/wrapper" <<'WRAPPER'
#!/bin/sh
exec "$@" -C instrument-coverage
WRAPPER
chmod +x "$work/wrapper"
export RUSTC_WORKSPACE_WRAPPER=$work/wrapper CARGO_INCREMENTAL=0
export LLVM_PROFILE_FILE=$work/%m_%p.profraw
target=${CARGO_TARGET_DIR:-target}/coverage
cargo build --quiet --target-dir "$target" --package seatrial-models --bin seatrial \
  --features loom,shuttle
program=$target/debug/seatrial
budget=smoke
# What is expected to break may break otherwise where the program is slower: that is judged elsewhere.
"$program" run --budget "$budget" || [ $? -le 100 ]
"$program" conformance || [ $? -le 100 ]

"$merge" merge --sparse "$work"/*.profraw --output "$work/profile"
"$cov" export "$program" --instr-profile "$work/profile" --format lcov --skip-expansions \
  --skip-branches "$root/core/src" >"$work/lcov"
[ -z "${1:-}" ] || cp "$work/lcov" "$1"
python3 ci/coverage.py "$work/lcov" "$root" ci/uncovered.txt
