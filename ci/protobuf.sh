#!/usr/bin/env bash
# Protobuf as the published Go types have it. `table` writes the table of all fields, `objects` the objects of
# the tests, `compare N SEED` compares N random objects, both ways.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v go >/dev/null || { echo "go is not installed: nothing was tried" >&2; exit 3; }
# shellcheck source=ci/real/versions
source ci/real/versions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Builds a program of ci/protobuf as $work/run: build NAME
build() {
  cp "ci/protobuf/$1/main.go" "$work/"
  cat >"$work/go.mod" <<MOD
module real/protobuf

go $(go env GOVERSION | sed 's/go//')

require (
  k8s.io/api $libraries
  k8s.io/apimachinery $libraries
  k8s.io/client-go $libraries
  k8s.io/apiextensions-apiserver $libraries
  k8s.io/kube-aggregator $libraries
)
MOD
  (cd "$work" && timeout 300 go mod tidy && timeout 900 go build -o run .)
}

sim=models/sim
case "${1:-}" in
  table)
    build fields
    { cat ci/protobuf/head.txt; "$work/run"; } >"$work/fields.txt"
    mv "$work/fields.txt" $sim/src/protobuf/fields.txt
    ;;
  objects)
    build objects
    "$work/run" 144 7 | gzip -9n >"$work/objects.txt.gz"
    mv "$work/objects.txt.gz" $sim/conformance/protobuf/objects.txt.gz
    ;;
  compare)
    build objects
    cargo build --quiet --package seatrial-sim --example protobuf
    "$work/run" "${2:-20000}" "${3:-1}" | "${CARGO_TARGET_DIR:-target}/debug/examples/protobuf"
    ;;
  *)
    echo "say table, objects or compare [N [SEED]]" >&2
    exit 2
    ;;
esac
