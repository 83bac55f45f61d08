#!/usr/bin/env bash
# Runs a command of the README's first block as it is printed there: ci/readme.sh 1 or 2. Proves: the first two
# commands of a newcomer succeed. They are read from the page, so they cannot drift. The first runs without
# colours and the second with colours forced, in two locales: neither may show in a verdict.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t commands < <(awk '/^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' README.md |
  sed 's/ *#.*$//')
[ "${#commands[@]}" -eq 2 ] || { echo "the first block of README.md has ${#commands[@]} lines, not 2" >&2; exit 1; }
case ${1:?which command: 1 or 2} in
  1) export NO_COLOR=1 LC_ALL=C ;;
  2)
    unset NO_COLOR
    export CLICOLOR_FORCE=1 CARGO_TERM_COLOR=always LC_ALL=C.UTF-8
    # Properties begin from one and the same seed, so that a change is refused for what it brings rather than
    # for luck; nights differ.
    export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
    ;;
  *) echo "ci/readme.sh 1 or 2" >&2; exit 2 ;;
esac
command=${commands[$1 - 1]}
echo "\$ $command"
said=$(mktemp)
trap 'rm -f "$said" "$said.words"' EXIT
timeout "$(ci/budget.sh submission readme_seconds)" bash -c "$command" | tee "$said"
[ "$1" = 1 ] || exit 0

# What the page shows of the first command is what it prints, but for the width of columns.
words() { sed 's/  */ /g; s/ *$//'; }
words <"$said" >"$said.words"
mapfile -t shown < <(awk '/^```text$/ { inside = 1; next } /^```$/ && inside { exit } inside' README.md | words)
[ "${#shown[@]}" -ge 6 ] || { echo "README.md shows nothing of a run" >&2; exit 1; }
for line in "${shown[@]}"; do
  [ "$line" = ... ] || grep -qxF -- "$line" "$said.words" ||
    { echo "README.md shows '$line', and that is not what the run prints" >&2; exit 1; }
done
echo "the README shows what is printed"
