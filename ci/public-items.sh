#!/usr/bin/env bash
# Lists what seatrial-core offers: ci/public-items.sh [write]. Proves: by default it offers what
# ci/public-items.txt says and with all parts ci/public-items-parts.txt as well, so that a change of what
# users may name is seen in a review; by default it is not much; no link leads to what is not there.
set -euo pipefail
cd "$(dirname "$0")/.."
most=742 # 40 % of what it offered once, by default
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

list() { # what is public with these features
  RUSTDOCFLAGS="-D warnings" cargo doc --quiet --package seatrial-core --no-deps --lib "$@"
  python3 ci/public_items.py "${CARGO_TARGET_DIR:-target}/doc/seatrial_core"
}
list >"$work/public-items.txt"
list --features parts >"$work/all.txt"
LC_ALL=C comm -13 "$work/public-items.txt" "$work/all.txt" >"$work/public-items-parts.txt"
for file in public-items.txt public-items-parts.txt; do
  if [ "${1:-}" = write ]; then
    cp "$work/$file" "ci/$file"
  elif ! diff -u "ci/$file" "$work/$file" >&2; then
    echo "what is public has changed: if that is meant, ci/public-items.sh write" >&2
    exit 1
  fi
done
default=$(wc -l <"$work/public-items.txt")
echo "$default public items by default, $(wc -l <"$work/all.txt") of all parts"
[ "$default" -le "$most" ] || { echo "by default, $most are enough" >&2; exit 1; }
