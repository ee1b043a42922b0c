#!/bin/sh
# Contour where there is no DNS: an address that is the name of a Service becomes that Service's, which the kubelet says
# in the environment. If it does not say it yet, this ends, and the pod starts it again.
for word; do
  case "$word" in
  --xds-address=contour-*)
    service=$(echo "${word#*=}" | tr 'a-z-' 'A-Z_')_SERVICE_HOST
    eval "address=\${$service-}"
    [ -n "$address" ] || {
      echo "there is no $service yet" >&2
      exit 1
    }
    word=--xds-address=$address
    ;;
  esac
  shift
  set -- "$@" "$word"
done
exec /usr/lib/contour "$@"
