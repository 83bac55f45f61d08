#!/usr/bin/env bash
# Packs both crates and compiles them from the packed files. Proves: what a user downloads is whole
# (the recorded traces lie inside the package that needs them).
set -euo pipefail
cd "$(dirname "$0")/.."

# Cargo would compile them itself, but against a copy of `seatrial-core` that it unpacked earlier
# and keeps for as long as the version stays the same. So they are unpacked and compiled here.
rm -f "${CARGO_TARGET_DIR:-target}"/package/seatrial-*.crate # of an earlier version
cargo package --workspace --allow-dirty --quiet --no-verify
target=$(realpath "${CARGO_TARGET_DIR:-target}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for packed in "$target"/package/seatrial-{core,models}-*.crate; do
  # With the time of now: by the packed one Cargo would take them for what it compiled last time.
  tar -xzmf "$packed" -C "$work"
  echo "$(basename "$packed"): $(stat -c %s "$packed") bytes"
done
core=$(basename "$work"/seatrial-core-*)
models=$(basename "$work"/seatrial-models-*)
cat >"$work/Cargo.toml" <<TOML
[workspace]
resolver = "3"
members = ["$core", "$models"]
[patch.crates-io]
seatrial-core = { path = "$core" }
TOML
cp Cargo.lock "$work/"
cd "$work"
CARGO_TARGET_DIR="$target/packed" cargo check --workspace --features loom,shuttle --quiet
echo "both compile from what was packed"
