#!/usr/bin/env bash
# Lists what seatrial-core offers without its features: ci/public-items.sh [write]. Proves: it offers
# what ci/public-items.txt says, so that a change of what users may name is seen in a review.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo doc --quiet --package seatrial-core --no-deps --lib
work=$(mktemp)
trap 'rm -f "$work"' EXIT
python3 ci/public_items.py "${CARGO_TARGET_DIR:-target}/doc/seatrial_core" >"$work"
if [ "${1:-}" = write ]; then
  cp "$work" ci/public-items.txt
elif ! diff -u ci/public-items.txt "$work" >&2; then
  echo "what is public has changed: if that is meant, ci/public-items.sh write" >&2
  exit 1
fi
echo "$(wc -l <"$work") public items"
