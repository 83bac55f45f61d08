# Sourced by the scripts beside it: the simulated server, from its start to its end.
# No wait is without a bound, and none goes on once the server has ended.

work=$(mktemp -d)
export KUBECONFIG=$work/config
server=

alive() { kill -0 "$server" 2>/dev/null; }

# Says why nothing goes on, with what the server said last.
give_up() {
  echo "$1" >&2
  [ ! -s "$work/server.log" ] || tail -n 20 "$work/server.log" >&2
  exit 1
}

# Waits until a command succeeds: await WHAT COMMAND...
await() {
  local what=$1
  shift
  for _ in $(seq 300); do
    "$@" && return
    alive || give_up "the server has ended; there is no $what"
    sleep 0.1
  done
  give_up "no $what within 30 seconds"
}

# Starts the server and waits until it listens: serve OPTION...
serve() {
  "${CARGO_TARGET_DIR:-target}/debug/seatrial" apiserver "$@" --kubeconfig "$KUBECONFIG" \
    >"$work/address" 2>"$work/server.log" &
  server=$!
  await "address" test -s "$work/address"
}

# Ends the server, so that another may be started.
end() {
  kill -INT "$server" 2>/dev/null || true
  for _ in $(seq 100); do
    alive || break
    sleep 0.1
  done
  kill -KILL "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
  rm -f "$work/address"
}

stop() {
  local status=$?
  if [ -n "$server" ]; then
    [ "$status" = 0 ] || alive || echo "the server has ended before its client" >&2
    end
  fi
  rm -rf "$work"
  exit "$status"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
