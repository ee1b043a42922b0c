#!/usr/bin/env bash
# Runs the built-in quickstart scenario in a lab of network namespaces: five ways to attach a pod, five workloads,
# three rounds, about two and a half minutes. Leaves a folder under results/.
set -euo pipefail
hopbench=$(realpath "$1")
cd "$(dirname "$0")/.."

# What the lab cannot do itself: nft, for the path through a Service, and Envoy, for the path through sidecars.
without() { echo "hopbench: going on without; what needs it is left out, and the plan says so" >&2; }
scripts/install-test-tools.sh nft || without
scripts/install-envoy.sh || without

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
