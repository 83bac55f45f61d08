#!/usr/bin/env bash
# Changes core at random places, one at a time, and asks the harness whether it notices: `run` on the
# pages of the changed part, then `conformance`. ci/unseen.sh [COUNT [SEED [FOLDER]]]: 20 changes with
# seed 1 anywhere in core/src, or in one folder of it, e.g. `queue`. Prints the changes that stay unseen;
# then a scenario or an invariant is missing, or the change changes nothing. ci/core-mutants.sh asks the
# unit tests. A change takes a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-20} seed=${2:-1} folder=${3:-}

if ! cargo mutants --version >/dev/null 2>&1; then
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/tools cargo install --locked --quiet cargo-mutants
fi
# The changes are made in a tree of their own.
tree=$PWD/target/unseen/tree
git worktree remove --force "$tree" 2>/dev/null || true
git worktree add --quiet --force --detach "$tree" HEAD
trap 'git worktree remove --force "$tree"' EXIT
export CARGO_TARGET_DIR=$PWD/target/unseen/target
list=$PWD/target/unseen/changes.json
(cd "$tree" && cargo mutants --list --json --package seatrial-core --all-features) >"$list"
python3 ci/unseen.py "$tree" "$list" "$count" "$seed" "$folder"
