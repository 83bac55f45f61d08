#!/usr/bin/env bash
# Installs what ci/check.sh needs and the machine lacks; ci/fuzz.sh, ci/core-mutants.sh and
# ci/unseen.sh install what they alone need. Safe to run again and again.
set -euo pipefail

command -v cargo >/dev/null || { echo "install Rust first: https://rustup.rs" >&2; exit 1; }
cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
if ! cargo deny --version >/dev/null 2>&1; then
  # Its own profile optimises for minutes what runs for a second.
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
    cargo install --locked --quiet cargo-deny
fi
