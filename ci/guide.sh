#!/usr/bin/env bash
# Runs the guide docs/check-your-own-controller.md as it is written: every block marked `sh` must
# succeed, every one marked `sh fails` must fail, and what a `text` block shows must have been said.
# Proves: a newcomer who follows it comes to a convicted bug, its picture, and a mended controller.
set -euo pipefail
cd "$(dirname "$0")/.."
export SEATRIAL=$PWD
guide=$SEATRIAL/docs/check-your-own-controller.md

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# One file per block: its number, and what it is.
awk -v out="$work/block" '
  /^```/ && !inside { inside = 1; file = sprintf("%s-%02d", out, ++count); kind = substr($0, 4)
                      print kind > (file ".kind"); printf "" > file; next }
  /^```/ { inside = 0; close(file); next }
  inside { print > file }
' "$guide"

export CARGO_TARGET_DIR=$SEATRIAL/target/stranger
mkdir "$work/here"
cd "$work/here"
ran=0
for block in "$work"/block-??; do
  kind=$(cat "$block.kind")
  case $kind in
    sh | "sh fails")
      echo "== $(grep -m 1 -o '^[^<\\]*' "$block")"
      # Not behind `||`, where a command that fails would end nothing. `cd` must last, so that the
      # next block begins where this one ended.
      set +e
      (set -euo pipefail; . "$block"; pwd >"$work/where") >"$work/said.txt" 2>&1
      code=$?
      set -e
      if [ "$code" -eq 0 ]; then cd "$(cat "$work/where")"; fi
      if [ "$kind" = sh ] && [ "$code" -ne 0 ] || [ "$kind" != sh ] && [ "$code" -eq 0 ]; then
        cat "$work/said.txt"
        echo "exit code $code of a block marked '$kind': $block" >&2
        exit 1
      fi
      ran=$((ran + 1))
      # The versions that everything here is tested with, not those of today.
      if [ "$ran" -eq 1 ]; then cp "$SEATRIAL/Cargo.lock" .; fi
      ;;
    text)
      while IFS= read -r line; do
        grep -qF -- "$line" "$work/said.txt" ||
          { cat "$work/said.txt"; echo "the guide promises '$line'" >&2; exit 1; }
      done <"$block"
      ;;
    *) echo "a block marked '$kind' is not checked: mark it sh, sh fails or text" >&2; exit 1 ;;
  esac
done
grep -q '<table class="picture">' report.html || { echo "the page has no picture" >&2; exit 1; }
echo "$ran blocks of the guide ran as written"
