#!/usr/bin/env bash
# Format, lints with warnings denied (with every set of features), documentation, licences.
# Proves: the tree is tidy, every public item is documented, nothing unlicensed came in.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --check
cargo fmt --check --manifest-path fuzz/Cargo.toml
cargo fmt --check --manifest-path examples/reconciler/Cargo.toml
for features in "" loom shuttle loom,shuttle; do
  echo "== clippy, features '$features'"
  cargo clippy --workspace --all-targets --features "$features" --quiet -- -D warnings
done
echo "== clippy, every feature of the core"
cargo clippy --package seatrial-core --all-targets --all-features --quiet -- -D warnings
echo "== documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --features loom,shuttle --quiet
RUSTDOCFLAGS="-D warnings" cargo doc --package seatrial-core --no-deps --all-features --quiet
echo "== licences, sources"
cargo fetch --quiet # of every platform, which is what the next line asks about
cargo deny --offline --log-level error check licenses bans sources
