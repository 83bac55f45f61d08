#!/usr/bin/env bash
# The own tests of controller-runtime, which start their servers by envtest, with the simulated server in place of
# envtest's programs, and with the real programs where they were built (REAL names their folder; else that of
# ci/real-apiserver.sh). `ci/clients/specs.sh [PACKAGE...]`. Needs Go and Python.
# Proves: every spec that passes on the real ones passes on ours, but for those in specs.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v go >/dev/null || { echo "go is not installed: nothing was tried" >&2; exit 3; }
# shellcheck source=ci/real/versions
source ci/real/versions
target=$(realpath "${CARGO_TARGET_DIR:-target}")
kept=$target/specs/$suites
if [ ! -d "$kept/module" ]; then
  mkdir -p "$kept"
  folder=$(timeout 300 go mod download -json "sigs.k8s.io/controller-runtime@$suites" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  rm -rf "$kept/copy"
  cp -R "$folder" "$kept/copy"
  chmod -R u+w "$kept/copy"
  mv "$kept/copy" "$kept/module"
fi
# Without client/apiutil, which downloads an older server for half of its tests.
packages=("$@")
[ $# -gt 0 ] || packages=(client client/config cache envtest manager builder webhook controller
  controller/controllerutil internal/controller internal/recorder cluster handler manager/internal/integration
  metrics/filters reconcile source)
export GOFLAGS="-mod=mod -buildvcs=false"
cargo build --quiet --package seatrial-models --bin seatrial
work=$(mktemp -d)
# A suite that is given up leaves its servers.
trap 'pkill -f "^$work/" || true; rm -rf "$work"' EXIT
assets=$("$target/debug/seatrial" assets "$work/assets")
real=${REAL:-$target/real/$kubernetes-$etcd}
[ ! -x "$real/kube-apiserver" ] || ln -s "$(realpath "$real")" "$work/programs"

# Runs the specs of a package: run WHICH PACKAGE ASSETS. What fails is counted later, from the report.
run() {
  local name=${2//\//-}
  mkdir -p "$work/$1"
  (cd "$kept/module/pkg/$2" && KUBEBUILDER_ASSETS=$3 timeout 900 "$kept/$name.test" -ginkgo.no-color \
    -ginkgo.timeout 800s -ginkgo.json-report "$work/$1/$name.json" >"$work/$1/$name.log" 2>&1) || true
}
for package in "${packages[@]}"; do
  test=$kept/${package//\//-}.test
  [ -x "$test" ] || (cd "$kept/module" && timeout 1800 go test -p 1 -vet off -c -o "$test" "./pkg/$package")
  run ours "$package" "$assets"
  if [ -e "$work/programs" ]; then run real "$package" "$work/programs"; fi
done
python3 ci/clients/specs.py "$work" ci/clients/specs.txt "${packages[@]}"
