#!/usr/bin/env bash
# Measures what the parts cost, and writes the figures into docs/performance.md, with the commit and the machine:
# ci/performance.sh [WORD]... Without words it measures every row of the table; with words it prints those rows
# and leaves the page as it is. The machine should do nothing else; about fifteen minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
runs=${SEATRIAL_RUNS:-3}
cargo bench --quiet --package seatrial-core --features harness,parts --bench table -- --runs "$runs" --json "$rows" "$@"
[ $# -eq 0 ] || exit 0

commit=$(git rev-parse --short=12 HEAD)
git diff --quiet HEAD -- core Cargo.toml Cargo.lock || commit="$commit and changes that are not committed"
machine="$(lscpu | sed -n 's/^Model name: *//p' | head -1), $(nproc) cores"
python3 - "$rows" docs/performance.md "commit $commit, $machine, $(rustc --version | cut -d' ' -f1-2), $(date +%Y-%m-%d), $runs runs" <<'PY'
import json, pathlib, sys

rows, page, measured = json.load(open(sys.argv[1])), pathlib.Path(sys.argv[2]), sys.argv[3]
begin, end = "<!-- figures: written by ci/performance.sh -->", "<!-- end of figures -->"
lines = [begin, f"Measured by `ci/performance.sh`: {measured}. In nanoseconds.", "",
         "| part | what | ours | other | other is | ratio |", "|---|---|---|---|---|---|"]
for row in rows:
    ours, other, ratio = (f"{row[name]:,.{digits}f}" for name, digits in [("ours_ns", 0), ("plain_ns", 0), ("ratio", 2)])
    lines.append(f"| {row['part']} | {row['row']} | {ours} | {other} | {row['against']} | {ratio} |")
before, rest = page.read_text().split(begin)
page.write_text(before + "\n".join(lines + [end]) + rest.split(end)[1])
PY
echo "docs/performance.md has $(grep -c '"part"' "$rows") rows"
