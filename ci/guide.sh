#!/usr/bin/env bash
# Runs the commands of the guides and of docs/checking as they are written: a block marked `sh` must
# succeed, one marked `sh fails` must fail, and what a `text` block shows must have been said. Blocks of
# Rust are doc tests. Proves: a newcomer who follows the guide comes to a convicted bug, its picture, and
# a mended controller; and the chapters tell the truth about the crate that `cargo seatrial init` writes.
set -euo pipefail
cd "$(dirname "$0")/.."
export SEATRIAL=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ran=0
run_page() { # a page: runs its blocks, the first of them in the folder of now
  local page=$1 block kind code before=$ran
  rm -f "$work"/block-*
  # One file per block: its number, and what it is.
  awk -v out="$work/block" '
    /^```/ && !inside { inside = 1; file = sprintf("%s-%02d", out, ++count); kind = substr($0, 4)
                        print kind > (file ".kind"); printf "" > file; next }
    /^```/ { inside = 0; close(file); next }
    inside { print > file }
  ' "$SEATRIAL/$page"
  for block in "$work"/block-??; do
    [ -e "$block" ] || continue # a page without blocks
    kind=$(cat "$block.kind")
    case $kind in
      sh | "sh fails")
        echo "== $page: $(grep -m 1 -o '^[^<\\]*' "$block")"
        # Not behind `||`, where a command that fails would end nothing. `cd` must last, so that the
        # next block begins where this one ended.
        set +e
        (set -euo pipefail; . "$block"; pwd >"$work/where") >"$work/said.txt" 2>&1
        code=$?
        set -e
        if [ "$code" -eq 0 ]; then cd "$(cat "$work/where")"; fi
        if { [ "$kind" = sh ] && [ "$code" -ne 0 ]; } || { [ "$kind" != sh ] && [ "$code" -eq 0 ]; }
        then
          cat "$work/said.txt"
          echo "exit code $code of a block of $page marked '$kind': $block" >&2
          exit 1
        fi
        ran=$((ran + 1))
        # The versions that everything here is tested with, not those of today.
        if [ "$ran" -eq "$((before + 1))" ] && [ -e Cargo.toml ]; then cp "$SEATRIAL/Cargo.lock" .; fi
        ;;
      text)
        while IFS= read -r line; do
          grep -qF -- "$line" "$work/said.txt" ||
            { cat "$work/said.txt"; echo "$page promises '$line'" >&2; exit 1; }
        done <"$block"
        ;;
      rust) ;; # the doc tests run it
      *)
        echo "$page: a block marked '$kind' is not checked: mark it sh, sh fails, text or rust" >&2
        exit 1
        ;;
    esac
  done
}

export CARGO_TARGET_DIR=$SEATRIAL/target CARGO_PROFILE_DEV_DEBUG=none # what the tests depend on is compiled once
cargo build --quiet --package seatrial-models --package seatrial \
  --features loom,shuttle --bin seatrial --bin cargo-seatrial # as `cargo seatrial` builds it: built once
export PATH="$SEATRIAL/target/debug:$PATH"

mkdir "$work/here" "$work/there" "$work/threads"
cd "$work/threads"
run_page docs/a-test-of-threads.md

cd "$work/here"
run_page docs/check-your-own-controller.md
grep -q '<table class="picture">' report.html || { echo "the page has no picture" >&2; exit 1; }

mkdir "$work/kube"
cd "$work/kube"
run_page docs/a-bug-in-ten-minutes.md

cd "$work/there"
cargo new --quiet --lib mine
cd mine
cp "$SEATRIAL/Cargo.lock" .
cargo seatrial init --path "$SEATRIAL" >/dev/null
for page in "$SEATRIAL"/docs/checking/*.md; do
  run_page "docs/checking/$(basename "$page")"
done
echo "$ran blocks of the pages ran as written"
