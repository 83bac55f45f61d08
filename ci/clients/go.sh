#!/usr/bin/env bash
# client-go against the simulated server. Proves: the informer and the leader election that most
# controllers use find what they look for.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v go >/dev/null || { echo "go is not installed: nothing was tried" >&2; exit 3; }
# shellcheck source=ci/real/versions
source ci/real/versions
cargo build --quiet --package seatrial-models --bin seatrial
# shellcheck source=ci/clients/server.sh
source ci/clients/server.sh
mkdir "$work/client"
cp ci/clients/go/main.go "$work/client/"
cat >"$work/client/go.mod" <<MOD
module real/client

go $(go env GOVERSION | sed 's/go//')

require k8s.io/client-go $libraries
MOD
(cd "$work/client" && timeout 300 go mod tidy && timeout 600 go build -o "$work/run" .)
serve --tls
timeout 120 "$work/run"
