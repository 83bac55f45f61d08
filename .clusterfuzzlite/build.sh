#!/bin/bash -eu
# Builds every fuzz target with the seeds beside it, as the fuzzing service expects them.
cd "$SRC/seatrial"
cargo fuzz build -O
for target in $(cargo fuzz list); do
  cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
  if [ -d "fuzz/seeds/$target" ]; then
    zip -qj "$OUT/${target}_seed_corpus.zip" "fuzz/seeds/$target"/*
  fi
done
