#!/usr/bin/env bash
# Counts the lines of Rust by area, tests apart: ci/lines.sh [COMMIT]. A number that grows should have a reason.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=${1:-HEAD}
git ls-tree -r --name-only "$commit" | grep '\.rs$' | while IFS= read -r file; do
  case $file in
    core/src/* | kube/src/* | models/src/* | models/sim/src/* | models/harness/src/* | sync/src/*)
      area=${file%%/src/*}
      [ "$area" = models ] && area="models: pages"
      # Unit tests lie in files and folders of this name.
      [[ $file =~ /tests?(/|\.rs) ]] && area="$area, unit tests"
      ;;
    */tests/* | */benches/* | */examples/*) area="tests, benches, examples" ;;
    *) area=other ;;
  esac
  printf '%s\t%s\n' "$area" "$(git show "$commit:$file" | wc -l)"
done | awk -F '\t' '{ lines[$1] += $2; all += $2 }
  END { for (area in lines) printf "%8d  %s\n", lines[area], area | "sort -k 2"; close("sort -k 2"); printf "%8d  all\n", all }'
