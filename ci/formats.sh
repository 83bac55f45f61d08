#!/usr/bin/env bash
# Reports as their formats say, by other people's validators and readers. Proves: a report is valid by its
# JSON Schema, and a reader of SARIF understands all of a log; damaged ones are noticed.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo seatrial schema >"$work/schema.json"
cargo seatrial run canary --budget 200 --report "json=$work/held.json" >"$work/run.txt"
# The canary's, as if the code that ships had its bugs.
python3 - "$work" <<'PYTHON'
import json, sys
report = json.load(open(f"{sys.argv[1]}/held.json"))
for row in report["rows"]:
    row["expect"] = "holds"
report["outcome"] = "violated"
json.dump(report, open(f"{sys.argv[1]}/violated.json", "w"))
PYTHON
for report in held violated; do
  cargo seatrial report "$work/$report.json" --to "sarif=$work/$report.sarif"
done
SEATRIAL_FORMATS=$work cargo test --quiet --locked --manifest-path ci/formats/Cargo.toml
