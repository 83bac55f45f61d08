#!/usr/bin/env bash
# What does not fit into a submission: larger bounds, longer samples, the benches.
set -euo pipefail
cd "$(dirname "$0")/.."

ci/check.sh nightly
ci/first-contact.sh
ci/busy.sh 20 5 20
ci/run.sh
ci/mutants.sh nightly
ci/witnesses.sh check
ci/core-mutants.sh
ci/coverage.sh
ci/determinism.sh nightly
ci/exact.sh
ci/figures.sh
ci/lines.sh
ci/formats.sh
ci/fuzz.sh
ci/performance.sh
ci/publish.sh
ci/report.sh
ci/explore.sh
ci/wire.sh
# All tests, and properties from another seed every night.
PROPTEST_RNG_SEED=$((RANDOM * 32768 + RANDOM)) ci/test.sh
# Every mutant on every engine, also as tests.
cargo test --workspace --features loom,shuttle --test check -- --ignored
# Plans of a reflector, as many as those of the pipeline below.
SEATRIAL_PLANS=$(ci/budget.sh nightly pipeline_plans) \
  cargo test --workspace --features loom,shuttle --test check -- reflector::tests::plans
# What is too much for a submission: the engines against each other on thousands of programs.
cargo test --release -p seatrial --features loom,shuttle --lib -- engine:: toy::
# Everything at once on one queue after the other, with a ledger beside them.
SEATRIAL_SOAK_SECONDS=$(ci/budget.sh nightly soak_seconds) \
  cargo test --release -p seatrial-core --test soak -- --nocapture
# From the server to the reconciled key under random plans of what goes wrong; and informers that come
# and go.
SEATRIAL_PLANS=$(ci/budget.sh nightly pipeline_plans) \
  cargo test --release -p seatrial-core --all-features --test pipeline -- --nocapture
SEATRIAL_CYCLES=$(ci/budget.sh nightly informer_cycles) \
  cargo test --release -p seatrial-core --features informers --test informers -- --nocapture
# A million requests that are meant to break the simulated server, and what they cost.
SEATRIAL_HOSTILE=$(ci/budget.sh nightly hostile_requests) \
  cargo test --release -p seatrial-sim --test hostile -- --nocapture
cargo bench --workspace --features seatrial-core/harness,seatrial-core/parts
# The museum of controllers on kube-rs, each bug replayed in a hundred fresh processes; and cold keys
# behind hot ones, in a hundred runs.
SEATRIAL_REPLAYS=100 cargo test --release -p seatrial-sim --features ordered --test museum -- --nocapture
RUNS=100 SECONDS=30 cargo test --release -p seatrial-kube --test starvation -- --nocapture
# Published elections beside ours, each with the kube that it was written for.
cargo test --quiet --locked --manifest-path ci/elections/Cargo.toml
cargo run --quiet --locked --manifest-path ci/elections/Cargo.toml
# Patterns of controllers, each with a bug that is found.
SEATRIAL_PATTERNS=all cargo test --release -p seatrial-sim --features simulation --test patterns
# One controller on every generation of kube.
ci/kubes.sh
# Clients that others wrote, where they are installed.
ci/clients/kube.sh
if command -v kubectl >/dev/null; then ci/clients/kubectl.sh; fi
if /usr/bin/python3 -c 'import kubernetes' 2>/dev/null; then ci/clients/python.sh; fi
if command -v go >/dev/null; then
  ci/versus.sh
  ci/clients/go.sh
  ci/clients/drive.sh
  ci/protobuf.sh compare 20000
  ci/real-apiserver.sh
  ci/clients/specs.sh
fi
