#!/usr/bin/env bash
# Verdicts on every engine by night: ci/run.sh. Proves: everything that must hold holds within larger bounds
# than those of the README's first command, and the canary and the exhibits are found out (exit code 3
# otherwise).
set -euo pipefail
cd "$(dirname "$0")/.."

cargo seatrial doctor # builds it first: the limit is for the run
timeout "$(ci/budget.sh nightly run_seconds)" cargo seatrial run \
  --budget "$(ci/budget.sh nightly run)" \
  --report json=target/seatrial-run.json --report junit=target/seatrial-run.xml
