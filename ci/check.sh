#!/usr/bin/env bash
# Format, licences, lints with warnings denied, documentation: ci/check.sh [submission|nightly]. Proves:
# the tree is tidy, every public item is documented, nothing unlicensed came in. What is cheap comes
# first. What lies outside the workspace, and the workspace without features, is for the night: each
# compiles all dependencies once more.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}

cargo fmt --check
cargo fmt --check --manifest-path fuzz/Cargo.toml
cargo fmt --check --manifest-path examples/reconciler/Cargo.toml
cargo fmt --check --manifest-path ci/elections/Cargo.toml
cargo fmt --check --manifest-path ci/kubes/Cargo.toml
echo "== licences, sources"
cargo fetch --quiet # of every platform, which is what the next line asks about
cargo deny --offline --log-level error check licenses bans sources
echo "== clippy, every feature"
cargo clippy --workspace --all-targets --all-features --quiet -- -D warnings
if [ "$kind" = nightly ]; then
  echo "== clippy, no feature"
  cargo clippy --workspace --quiet -- -D warnings
  echo "== clippy, the harness with one engine, and all targets of the core as it is by default"
  for features in loom shuttle; do
    cargo clippy --package seatrial --all-targets --features "$features" --quiet -- -D warnings
  done
  cargo clippy --package seatrial-core --all-targets --quiet -- -D warnings
  echo "== clippy, fuzz targets and the example crate"
  for manifest in fuzz/Cargo.toml examples/reconciler/Cargo.toml; do
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target} \
      cargo clippy --manifest-path "$manifest" --all-targets --quiet -- -D warnings
  done
fi
echo "== clippy, parts of the core"
# In the workspace the harness turns `harness` and `hosts` on.
cargo clippy --package seatrial-core --quiet -- -D warnings
# The seam alone, and the harness, which needs no more of the core than that.
cargo clippy --package seatrial-core --no-default-features --quiet -- -D warnings
# Each layer of the parts with what it brings and no more, as a program and as a checker name it. The
# first of them alone is the default.
for features in queues,hosts informers informers,harness election election,harness; do
  cargo clippy --package seatrial-core --no-default-features --features "$features" --quiet -- -D warnings
done
cargo clippy --package seatrial --features loom,shuttle --quiet -- -D warnings
echo "== documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features --quiet
# As docs.rs shows it: no link may lead to what only a checker sees.
RUSTDOCFLAGS="-D warnings" cargo doc --package seatrial-core --no-deps --quiet \
  --features parts,http,metrics,prometheus-client,stream,tokio,tracing
echo "== what is public"
ci/public-items.sh
