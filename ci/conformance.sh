#!/usr/bin/env bash
# Replays the recorded traces of the reference that the crate carries. Proves: ours does what the
# reference does, but for the departures that a rule predicts.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo seatrial conformance --report json=target/seatrial-conformance.json
