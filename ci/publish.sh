#!/usr/bin/env bash
# Everything of a publication but the upload, crate by crate in their order. Proves: each crate has what a registry
# asks for, and compiles from what it would take. By night: it compiles all of them once more.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo publish --workspace --dry-run --locked
