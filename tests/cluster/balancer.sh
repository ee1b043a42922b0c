#!/usr/bin/env bash
# Gives addresses to the Services of type LoadBalancer that the controller of a GatewayClass made, as a cloud would.
# Runs until it is ended.
set -uo pipefail
source "$(dirname "$0")/lib.sh"

columns='{.metadata.namespace} {.metadata.name} {.spec.type} {.status.loadBalancer.ingress[0].ip}{"\n"}'
count=0
while sleep 0.5; do
  # Each Service as it is, and whenever it changes.
  kubectl get services -A -l gateway.networking.k8s.io/gateway-name --watch -o "jsonpath=$columns" |
    while read -r namespace name kind address; do
      [ "$kind" = LoadBalancer ] && [ -z "$address" ] || continue
      address=$FABRIC.$((230 + count++ % 20))
      kubectl -n "$namespace" patch service "$name" --subresource=status --type=merge \
        -p "{\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"$address\"}]}}}"
    done
done
