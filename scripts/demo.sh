#!/usr/bin/env bash
# A tour over loopback: an agent of our own, five measurements, half a minute.
set -euo pipefail
hopbench=$1
log=$(mktemp)
"$hopbench" serve --insecure --http --bind 127.0.0.1 --port 0 >"$log" 2>&1 &
agent=$!
trap 'kill "$agent" 2>/dev/null || true; wait "$agent" 2>/dev/null || true; rm -f "$log"' EXIT
for _ in $(seq 100); do
  grep -q '^hopbench agent' "$log" && break
  kill -0 "$agent" 2>/dev/null || { cat "$log" >&2; exit 4; }
  sleep 0.05
done
target=$(sed -n 's/^hopbench agent on \([^,]*\),.*/\1/p' "$log")

show() {
  printf '\n$ hopbench %s\n' "$*"
  "$hopbench" "$@" --insecure -t 3s --warmup 500ms
}

show stream "$target" -c 1
show rr "$target" --engine spin,threads
show udp "$target" --size 16 --rate max
show http "http://$target/?size=1KiB" -c 16
show http "http://$target/?size=1KiB" -c 16 --rate 4000
printf '\nThe binary is %s; start `hopbench serve` on another machine and measure the way to it.\n' "$hopbench"
