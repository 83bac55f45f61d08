#!/usr/bin/env bash
# Opens a rendered report in a browser without a head, by the document it builds and as pixels.
# Proves: the page stands alone, opens with the verdict, and shows its rows and an interleaving.
# Takes a few seconds; without a browser it says so and fails.
set -euo pipefail
cd "$(dirname "$0")/.."

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "no browser: install chromium" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
browse() {
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$work/profile" "$@" 2>"$work/browser.log" ||
    { tail "$work/browser.log" >&2; exit 1; }
}

cargo seatrial run canary --budget 200 --report html="$work/page.html" >"$work/run.txt"
browse --dump-dom "file://$work/page.html" >"$work/dom.html"
expect() { # a pattern, and how often at least
  found=$(grep -oE "$1" "$work/dom.html" | wc -l)
  [ "$found" -ge "$2" ] || { echo "the page has $found of '$1' and should have $2" >&2; exit 1; }
}
expect '<h1 id="verdict" class="good">.*all as expected' 1
expect '<tr><th scope="row">(lost|slow)_update' 2
expect '<table class="picture">' 2
expect '<td class="step locked"' 8
expect 'came between' 2
expect 'seatrial replay seatrial-' 2

browse --window-size=1200,1600 --screenshot="$work/page.png" "file://$work/page.html" >/dev/null
[ "$(wc -c <"$work/page.png")" -gt 20000 ] || { echo "the page is blank" >&2; exit 1; }
mkdir -p target/report
cp "$work/page.html" "$work/page.png" target/report/
echo "the page opens: target/report/page.html, page.png"
