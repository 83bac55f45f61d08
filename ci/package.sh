#!/usr/bin/env bash
# Packs every crate of the workspace and compiles them from the packed files. Proves: what a user
# downloads is whole (the recorded traces lie inside the package that needs them).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

# Cargo would compile them itself, but against a copy of `seatrial-core` that it unpacked earlier
# and keeps for as long as the version stays the same. So they are unpacked and compiled here.
target=$(realpath "${CARGO_TARGET_DIR:-target}")
rm -rf "$target"/package "$target/unpacked" # of an earlier version
cargo package --workspace --allow-dirty --quiet --no-verify
mkdir -p "$target/unpacked"
for packed in "$target"/package/*.crate; do
  # With the time of now: by the packed one Cargo would take them for what it compiled last time.
  tar -xzmf "$packed" -C "$target/unpacked"
  echo "$(basename "$packed"): $(stat -c %s "$packed") bytes"
done
cd "$target/unpacked"
members=(*)
{
  echo "[workspace]"
  echo 'resolver = "3"'
  printf 'members = ['
  printf '"%s", ' "${members[@]}"
  echo ']'
  echo "[patch.crates-io]"
  for member in "${members[@]}"; do echo "${member%-*} = { path = \"$member\" }"; done
  # The profiles of the workspace: so what it depends on is compiled already.
  sed -n '/^\[profile/,$p' "$root/Cargo.toml"
} >Cargo.toml
cp "$root/Cargo.lock" .
CARGO_TARGET_DIR="$target" cargo check --workspace --all-features --quiet
echo "all compile from what was packed"
