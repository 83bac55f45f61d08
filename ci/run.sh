#!/usr/bin/env bash
# Verdicts on every engine: ci/run.sh [submission|nightly]. Proves: everything that must hold
# holds within its bounds, and the canary and the exhibits are found out (exit code 3 otherwise).
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-submission}

cargo seatrial doctor # builds it first: the limit is for the run
timeout "$(ci/budget.sh "$kind" run_seconds)" cargo seatrial run \
  --budget "$(ci/budget.sh "$kind" run)" \
  --report json=target/seatrial-run.json --report junit=target/seatrial-run.xml
