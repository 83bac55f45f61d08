#!/usr/bin/env bash
# One step of a workflow elsewhere: runs `cargo seatrial run` in this folder, writes reports in every format that a
# CI system reads, annotates what is wrong, and adds a summary. `action.yml` calls it; ci/stranger.sh tries it.
# Its exit code is that of the run.
set -euo pipefail

report=${REPORT:-seatrial-report}
mkdir -p "$report"
rm -f "$report"/report.{json,xml,sarif,html} # of an earlier step
code=0
# shellcheck disable=SC2086 # several words, as on a command line
cargo seatrial ${CARGO_OPTIONS:-} run ${ARGUMENTS:-} --budget "${BUDGET:-ci}" \
  --report "json=$report/report.json" || code=$?
if [ -s "$report/report.json" ]; then
  # shellcheck disable=SC2086
  cargo seatrial ${CARGO_OPTIONS:-} report "$report/report.json" --to "junit=$report/report.xml" \
    --to "sarif=$report/report.sarif" --to "html=$report/report.html" --to github=-
  # shellcheck disable=SC2086
  cargo seatrial ${CARGO_OPTIONS:-} report "$report/report.json" --to markdown=- >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
exit "$code"
