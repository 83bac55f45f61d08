#!/usr/bin/env bash
# Packs both crates and compiles them from the packed files. Proves: what a user downloads is whole
# (the recorded traces lie inside the package that needs them).
set -euo pipefail
cd "$(dirname "$0")/.."

cargo package --workspace --allow-dirty --quiet
ls "${CARGO_TARGET_DIR:-target}"/package/*.crate
