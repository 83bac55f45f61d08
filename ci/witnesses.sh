#!/usr/bin/env bash
# Writes the committed witnesses anew: one smallest execution for every mutant, every exhibit, and
# every scenario that is expected to break. To be run after a change of a scenario, a mutant or an
# engine; `cargo test --test all witnesses::` replays what it wrote, and says when it is due. With `check`
# it writes nothing, and fails unless it would write what is committed. Proves: what is kept is what
# the engines find today.
set -euo pipefail
cd "$(dirname "$0")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
cargo seatrial mutants --budget smoke --witnesses "$fresh" >/dev/null
cargo seatrial run --budget smoke --engine trace --engine state --engine sample --engine cluster \
  --witnesses "$fresh" >/dev/null
if [ "${1:-}" = check ]; then
  diff -r "$fresh" models/witnesses >&2 || { echo "ci/witnesses.sh is due" >&2; exit 1; }
  echo "the committed witnesses are those of today"
  exit 0
fi
rm -rf models/witnesses
cp -r "$fresh" models/witnesses
chmod -R u=rwX,go=rX models/witnesses
echo "$(find models/witnesses -name '*.txt' | wc -l) witnesses: read the diff before it is committed"
