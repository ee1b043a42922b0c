#!/usr/bin/env bash
# Kills the API server of the test cluster and starts it again: every connection to it is cut, and it is away for some
# seconds. What it knows is in etcd and stays. Ends when it is ready.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source "$cluster/hosts.sh"
source "$cluster/control-plane.sh"

need_root
pid=$(on cp pgrep -x kube-apiserver) || fail "no API server runs on host cp"
on cp kill -KILL "$pid"
is_gone() { ! on cp kill -0 "$pid"; }
wait_for "end of the API server" 10 "$STATE/cp/kube-apiserver.log" is_gone || exit 1
start_api_server
