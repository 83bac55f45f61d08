#!/usr/bin/env bash
# Opens a rendered report in a browser without a head, by the document it builds and as pixels, light
# and dark. Proves: the page stands alone, opens with the verdict, and shows its rows, how much a
# sample left, the boundaries of simulated elections, the kill matrix, and an interleaving. Takes a
# minute; without a browser it says so and fails.
set -euo pipefail
cd "$(dirname "$0")/.."

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "no browser: install chromium" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
browse() {
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
    --disable-background-networking --no-first-run --user-data-dir="$work/profile" "$@" \
    2>"$work/browser.log" || { tail "$work/browser.log" >&2; exit 1; }
}
expect() { # a pattern, and how often at least
  found=$(grep -oE "$1" "$work/dom.html" | wc -l)
  [ "$found" -ge "$2" ] || { echo "the page has $found of '$1' and should have $2" >&2; exit 1; }
}

mkdir -p target/report
show() { # the name of a page in $work: reads its document, takes both pictures
  local name=$1
  browse --dump-dom "file://$work/$name.html" >"$work/dom.html"
  browse --window-size=1200,2400 --screenshot="$work/$name-light.png" "file://$work/$name.html" \
    >/dev/null
  browse --blink-settings=preferredColorScheme=0 --window-size=1200,2400 \
    --screenshot="$work/$name-dark.png" "file://$work/$name.html" >/dev/null
  for shade in light dark; do
    [ "$(wc -c <"$work/$name-$shade.png")" -gt 20000 ] || { echo "$name is blank" >&2; exit 1; }
  done
  cmp -s "$work/$name-light.png" "$work/$name-dark.png" &&
    { echo "$name is the same in the dark" >&2; exit 1; }
  cp "$work/$name.html" "$work/$name"-*.png target/report/
}

cargo seatrial run canary queue/two_workers elector/cx_01 --budget smoke \
  --report html="$work/run.html" >"$work/run.txt" || { cat "$work/run.txt"; exit 1; }
show run
expect '<h1 id="verdict" class="good">.*all as expected' 1
expect '<tr><th scope="row">(lost|slow)_update' 2
expect '<table class="picture">' 2
expect '<td class="step locked"' 8
expect 'came between' 2
expect 'seatrial replay seatrial-' 2
expect ' traces, unseen [0-9.]+ %' 1
expect 'steps simulated' 1
expect '<img alt="How much drift' 2

cargo seatrial mutants queue/lost queue/add_ --seeds 5 --report html="$work/mutants.html" \
  >"$work/run.txt" || { cat "$work/run.txt"; exit 1; }
show mutants
expect '<section id="mutants">' 1
expect '<section id="speeds">' 1
expect 'plain (loom|random)' 2
echo "the pages open: target/report/{run,mutants}{.html,-light.png,-dark.png}"
