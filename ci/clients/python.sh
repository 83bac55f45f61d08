#!/usr/bin/env bash
# The Python client of the distribution against the simulated server. Proves: its lists, watches and
# leader election find what they look for.
set -euo pipefail
cd "$(dirname "$0")/../.."

python=""
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import kubernetes' 2>/dev/null && python=$candidate
done
[ -n "$python" ] || {
  echo "the Python client is not installed (python3-kubernetes): nothing was tried" >&2
  exit 3
}
cargo build --quiet --package seatrial-models --bin seatrial
# shellcheck source=ci/clients/server.sh
source ci/clients/server.sh
serve --tls --controllers
timeout 120 "$python" ci/clients/python.py
