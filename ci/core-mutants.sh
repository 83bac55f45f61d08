#!/usr/bin/env bash
# Changes every expression of core, one at a time, and runs core's tests: ci/core-mutants.sh
# [FOLDER...], e.g. `core/src/queue`; without one the folders that are listed below. Proves: no such
# change stays unnoticed, but for those in ci/core-survivors.txt, each with its reason. A change takes
# seconds to build and test, and there are many: this is for the night, or for one folder.
set -euo pipefail
cd "$(dirname "$0")/.."
folders=("$@")
if [ "${#folders[@]}" -eq 0 ]; then
  folders=(core/src/{queue,monitor,delta_fifo,elector})
  folders+=(core/src/{slab,delaying_queue,limited_queue,parallel,machine,cancel,polling})
  folders+=(core/src/{priority_queue,ordered_fifo,fifo,store,limiter,runtime,pool,metrics})
fi

if ! cargo mutants --version >/dev/null 2>&1; then
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/tools cargo install --locked --quiet cargo-mutants
fi
# Two changes are built at a time, each beside its own copy of the sources: in one folder they would
# overwrite each other, and a change that was noticed would count as missed.
unset CARGO_TARGET_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=()
for folder in "${folders[@]}"; do
  files+=(--file "$folder/**")
done

code=0
# No debugging symbols: what is built is run once. No step, work or end of a delivery can be made out
# of nothing: such changes do not compile. All features: workers that are tasks and what tells the
# metrics libraries are changed as well.
CARGO_PROFILE_DEV_DEBUG=0 cargo mutants --package seatrial-core --test-package seatrial-core --all-features \
  "${files[@]}" --exclude-re 'with (Step|Work|Finished)::' --timeout 60 --output "$work" --jobs 2 --no-times -- --lib || code=$?
# 2: some were missed; 3: some did not end, which is to be noticed.
case $code in
  0 | 2 | 3) ;;
  *) echo "cargo mutants failed with exit code $code" >&2; exit 1 ;;
esac
[ "$(wc -l <"$work/mutants.out/caught.txt")" -gt 0 ] || { echo "nothing was caught" >&2; exit 1; }

# Lines and columns change; what is replaced by what does not.
without_places() { sed -E 's/:[0-9]+:[0-9]+:/:/' "$1" | sort -u; }
without_places "$work/mutants.out/missed.txt" >"$work/missed.txt"
sed -n 's/^\(core[^#]*[^# ]\) *#.*$/\1/p' ci/core-survivors.txt | sort -u >"$work/known.txt"
unknown=$(comm -23 "$work/missed.txt" "$work/known.txt")
if [ -n "$unknown" ]; then
  echo "these changes stay unnoticed: write a test, or a reason in ci/core-survivors.txt" >&2
  echo "$unknown" >&2
  exit 1
fi
# Of the folders that were looked at.
stale=$(comm -13 "$work/missed.txt" "$work/known.txt" |
  grep -E "^($(IFS='|'; echo "${folders[*]}"))/" || true)
[ -z "$stale" ] || printf '%s\n' "these are noticed by now, or gone: strike them out" "$stale"
echo "$(wc -l <"$work/mutants.out/caught.txt") changes were noticed; $(wc -l <"$work/missed.txt") have reasons"
