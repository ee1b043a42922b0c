#!/usr/bin/env bash
# Builds the binary, and runs the built-in quickstart scenario in a lab of network namespaces: seven
# paths, five workloads, as many rounds as fit into two and a half minutes. Leaves a folder under
# results/.
# Usage: demo.sh WHERE-THE-BINARY-WILL-BE
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
installing=""
trap '[ -z "$installing" ] || kill "$installing" 2>/dev/null || true; rm -f "$log"' EXIT

# What the lab cannot do itself: nft, for the path through a Service, and Envoy, for the path
# through sidecars. They are fetched while the compiler works.
without() { echo "hopbench: going on without; what needs it is left out, and the plan says so" >&2; }
install() {
  scripts/install-test-tools.sh nft || without
  scripts/install-envoy.sh || without
}
install >"$log" 2>&1 &
installing=$!
"${MAKE:-make}" --no-print-directory build
wait "$installing" || true
installing=""
cat "$log" >&2
hopbench=$(realpath "$1")

printf '$ hopbench plan quickstart\n'
"$hopbench" plan quickstart

out=results/$(date -u +%Y%m%dT%H%M%SZ)-quickstart
printf '\n$ hopbench run quickstart --output %s\n' "$out"
status=0
"$hopbench" run quickstart --output "$out" || status=$?

if [ -f "$out/report.html" ]; then
  printf '\nThe report: open file://%s/report.html in a browser.\n' "$PWD/$out"
  printf 'The binary: %s\n' "$hopbench"
fi
exit "$status"
