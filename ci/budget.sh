#!/usr/bin/env bash
# Prints one value of budgets.toml: ci/budget.sh SECTION KEY. Fails if there is none.
set -euo pipefail
cd "$(dirname "$0")"
awk -v section="[$1]" -v key="$2" '
  /^\[/ { here = ($1 == section) }
  here && $1 == key { value = $3; gsub(/"/, "", value); print value; found = 1; exit }
  END { exit !found }
' budgets.toml || { echo "budgets.toml has no $2 in [$1]" >&2; exit 1; }
