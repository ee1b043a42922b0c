# A real Gateway of the Gateway API, projectcontour/contour: Contour beside the control plane, its Envoy on node n3, and
# an address as a cloud gives one. It takes Ingresses of the IngressClass web, too. And the GatewayClass
# contour-provisioned: for each Gateway of it, Contour's provisioner makes a Contour and an Envoy in pods. Sourced, needs
# lib.sh and hosts.sh.
# shellcheck shell=bash disable=SC2154

# What clients connect to: kube-proxy knows it for a load balancer's.
GATEWAY=$FABRIC.226

has_gateway() { [ -e "$STATE/gateway" ]; }

programmed() {
  kubectl -n projectcontour wait gateway/contour --for=condition=Programmed --timeout=1s
}

is_accepted() { kubectl wait gatewayclass/contour-provisioned --for=condition=Accepted --timeout=1s; }

start_gateway() {
  local contour envoy examples folder node=n3 work=$STATE/cp
  envoy=$(envoy_program)
  [ -n "$envoy" ] || {
    say "going on without a Gateway: there is no Envoy"
    return 0
  }
  contour=$("$cluster/../../scripts/go-part.sh" --folder contour)
  folder=$(dirname "$contour")
  # Where the module is, there are the kinds that it has.
  examples=$(cd "$folder/module" && go list -mod=readonly -m -f '{{.Dir}}' github.com/projectcontour/contour)/examples
  kubectl apply --server-side -f "$examples/contour/01-crds.yaml" -f "$examples/gateway/00-crds.yaml" >/dev/null
  kubectl apply -f - >/dev/null <<YAML
{apiVersion: v1, kind: Namespace, metadata: {name: projectcontour}}
---
apiVersion: v1
kind: Service
metadata: {name: envoy, namespace: projectcontour}
spec:
  type: LoadBalancer
  # As its address and its Envoy's, whatever the cluster's first family is.
  ipFamilies: [IPv4]
  ports:
  - {name: http, port: 80, targetPort: 8080}
  - {name: tls, port: 443, targetPort: 8443}
  - {name: tcp, port: 9000, targetPort: 17000}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: envoy-1, namespace: projectcontour, labels: {kubernetes.io/service-name: envoy}}
addressType: IPv4
# Contour lets its Envoy listen at the Gateway's ports plus 8000.
ports: [{name: http, port: 8080}, {name: tls, port: 8443}, {name: tcp, port: 17000}]
endpoints: [{addresses: [$(address "$node")], conditions: {ready: true}, nodeName: $node}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: contour}
spec: {controllerName: projectcontour.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: contour, namespace: projectcontour}
spec:
  gatewayClassName: contour
  listeners:
  - {name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}
  - {name: tls, protocol: TLS, port: 443, tls: {mode: Passthrough}, allowedRoutes: {namespaces: {from: All}}}
  # A TCPRoute takes all of it.
  - {name: tcp, protocol: TCP, port: 9000, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
# Contours that the provisioner makes take Ingresses of the class contour.
metadata: {name: web}
spec: {controller: projectcontour.io/ingress-controller}
---
apiVersion: projectcontour.io/v1alpha1
kind: ContourDeployment
metadata: {name: provisioned, namespace: projectcontour}
spec:
  contour: {deployment: {replicas: 1}}
  envoy: {workloadType: Deployment, deployment: {replicas: 1}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: contour-provisioned}
spec:
  controllerName: projectcontour.io/provisioner
  parametersRef: {group: projectcontour.io, kind: ContourDeployment, namespace: projectcontour, name: provisioned}
YAML
  kubectl -n projectcontour patch service envoy --subresource=status --type=merge \
    -p "{\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"$GATEWAY\"}]}}}" >/dev/null
  echo '{gateway: {gatewayRef: {namespace: projectcontour, name: contour}}}' >"$work/contour.yaml"
  daemon cp contour "$contour/contour" serve --kubeconfig="$KUBECONFIG" --config-path="$work/contour.yaml" \
    --xds-address="$API_SERVER" --xds-port=8001 --insecure --disable-leader-election \
    --envoy-service-namespace=projectcontour --envoy-service-name=envoy --http-port=18000 \
    --ingress-class-name=web
  "$contour/contour" bootstrap "$work/envoy.json" --xds-address="$API_SERVER" --xds-port=8001 \
    --xds-resource-version=v3 --admin-address="$STATE/$node/envoy-admin.sock" >/dev/null
  daemon "$node" envoy "$envoy" -c "$work/envoy.json" --service-cluster projectcontour --service-node envoy-1 \
    --concurrency 1 --log-level warn --disable-hot-restart
  daemon cp provisioner "$contour/contour" gateway-provisioner --no-incluster --kubeconfig="$KUBECONFIG" \
    --metrics-addr=0 --gateway-controller-name=projectcontour.io/provisioner \
    --contour-image=hopbench.test/contour:1 --envoy-image=hopbench.test/envoy:1
  daemon cp balancer "$cluster/balancer.sh"
  wait_for "the GatewayClass contour-provisioned" 30 "$work/provisioner.log" is_accepted || exit 1
  wait_for "the Gateway" 30 "$work/contour.log" programmed || exit 1
  touch "$STATE/gateway"
}
