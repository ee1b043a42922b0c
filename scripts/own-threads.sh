#!/usr/bin/env bash
# Usage: own-threads.sh HOPBENCH. For each workload and end: every thread that ran during a second
# of a window, the share of a CPU that it used, and how often it was switched in. The table is that
# of docs/benchmarks.md, Our own cost. Loopback only; about a minute.
set -euo pipefail
hopbench=$1
port=${PORT:-7499}
work=$(mktemp -d)
agent=""
client=""
trap '[ -z "$agent" ] || kill "$agent" 2>/dev/null || true
  [ -z "$client" ] || kill "$client" 2>/dev/null || true
  rm -rf "$work"' EXIT

# THREAD RUN_NS SWITCHES of each thread of a process: tasks PID
tasks() {
  local task
  for task in "/proc/$1/task"/*; do
    {
      printf '%s %s ' "${task##*/}" "$(tr ' ' _ <"$task/comm")"
      cut -d ' ' -f 1 "$task/schedstat" | tr '\n' ' '
      awk '/ctxt_switches/ { sum += $2 } END { print sum }' "$task/status"
    } 2>/dev/null || true
  done
}

# The threads of both ends, each with the time of its reading: sample NUMBER
sample() {
  local end
  for end in client agent; do
    { date +%s%N; tasks "${!end}"; } >"$work/$end.$1"
  done
}

# What ran between the two samples of an end, threads of a name together: ran END
ran() {
  awk '
    FNR == 1 { seconds = ($1 - before) / 1e9; before = $1; next }
    NR == FNR { ns[$1] = $3; switches[$1] = $4; next }
    {
      used = $3 - ns[$1]; often = $4 - switches[$1]
      if (used > 0 || often > 0) { cpu[$2] += used; count[$2] += often; threads[$2]++ }
    }
    END {
      for (name in cpu)
        printf "%s%s %.2f CPU, %d/s\n", name, (threads[name] > 1 ? " x" threads[name] : ""), \
          cpu[name] / 1e9 / seconds, count[name] / seconds
    }' "$work/$1.1" "$work/$1.2" | sort -t ' ' -k 2 -r | paste -sd ';' | sed 's/;/; /g'
}

measure() {
  local shown=$1
  shift
  "$hopbench" "$@" -t 3s --warmup 500ms --format json >"$work/record" 2>"$work/error" &
  client=$!
  sleep 1.5
  sample 1
  sleep 1
  sample 2
  if ! wait "$client"; then
    client=""
    echo "own-threads: $shown failed: $(cat "$work/error")" >&2
    return 1
  fi
  client=""
  printf '| `%s` | %s | %s |\n' "$shown" "$(ran client)" "$(ran agent)"
}

"$hopbench" serve --insecure --bind 127.0.0.1 --port "$port" >"$work/serve" 2>&1 &
agent=$!
for _ in $(seq 50); do
  if "$hopbench" rr "127.0.0.1:$port" --insecure -t 50ms --warmup 0 >/dev/null 2>&1; then break; fi
  sleep 0.1
done
to=(127.0.0.1:"$port" --insecure)
printf '%s; %s; %s CPUs, Linux %s\n\n' "$(date +%F)" "$("$hopbench" --version | head -1)" "$(nproc)" \
  "$(uname -r)"
printf '| workload | threads of the client | threads of the agent |\n|---|---|---|\n'
for engine in epoll uring threads spin; do
  measure "rr --engine $engine" rr "${to[@]}" --engine "$engine"
done
measure "rr --udp" rr "${to[@]}" --udp
measure http http "http://127.0.0.1:$port/" --insecure
measure crr crr "${to[@]}"
measure "udp --rate 1000pps" udp "${to[@]}" --rate 1000pps
measure "push -c 4" push "${to[@]}" -c 4
measure "ping" ping 127.0.0.1
measure stream stream "${to[@]}"
