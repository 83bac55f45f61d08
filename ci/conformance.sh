#!/usr/bin/env bash
# Replays the recorded traces of the reference that the crate carries, and those of a real API server.
# Proves: ours does what the reference does, but for the departures that a rule predicts; the
# simulated server does what the real one does. Files or folders of more traces may be given.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo seatrial conformance --report json=target/seatrial-conformance.json "$@"
