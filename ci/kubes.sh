#!/usr/bin/env bash
# One controller on each generation of kube from 0.78 to 5, under the default plan. Proves: the correct one holds
# on every one of them, and its bug is found. Prints the table of docs/check-your-kube-controller.md.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo run --quiet --locked --manifest-path ci/kubes/Cargo.toml
