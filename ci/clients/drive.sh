#!/usr/bin/env bash
# An operator in Go, which knows nothing of the simulator, under the default plan of faults. Proves: `seatrial
# drive` finds the mistake of examples/operator and how to see it again, and holds it for correct once repaired.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v go >/dev/null || { echo "go is not installed: nothing was tried" >&2; exit 3; }
cargo build --quiet --package seatrial-models --bin seatrial --features loom,shuttle
seatrial=${CARGO_TARGET_DIR:-target}/debug/seatrial
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd examples/operator && timeout 900 go build -o "$work/operator" .)

# An exit code that is wanted, and the operator's environment: drive CODE NAME=VALUE... -- OPTION...
drive() {
  local wanted=$1 code=0
  shift
  local environment=()
  while [ "$1" != -- ]; do environment+=("$1"); shift; done
  shift
  env "${environment[@]}" timeout 1500 "$seatrial" drive --steps examples/operator/steps.yaml --out "$work/out" "$@" \
    -- "$work/operator" '--metrics-bind-address=127.0.0.1:{port}' >"$work/said" || code=$?
  cat "$work/said"
  [ "$code" = "$wanted" ] || { echo "exit code $code, not $wanted" >&2; exit 1; }
}
drive 100 --
grep -q '^this plan fails (5 of 5 runs): crash(' "$work/said" || { echo "no crash explains it" >&2; exit 1; }
drive 100 -- --replay 'crash(1)'
drive 0 REPAIRED=1 --
