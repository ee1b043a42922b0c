//! The route of a path: what a Gateway takes goes to a Service of the run.

use hopbench_model::{IpFamily, ParentGateway};
use serde_json::{Value, json};

use crate::api::labels::RunIdentity;
use crate::plan::traffic::Traffic;

/// The host name of what the route of this name takes. It is the run's own, so that nobody else's
/// requests go there, and the run's go nowhere else.
pub(crate) fn host_name(run: &RunIdentity, route: &str) -> String {
    format!("{route}.{}.hopbench.test", run.name)
}

/// The destination of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination<'a> {
    /// The Service.
    pub(crate) service: &'a str,
    /// Its port that takes the traffic.
    pub(crate) port: u16,
    pub(crate) traffic: Traffic,
    /// The family by which clients enter the gateway; absent: any.
    pub(crate) family: Option<IpFamily>,
}

impl Destination<'_> {
    /// The name of the route there.
    pub(crate) fn route(&self) -> String {
        self.traffic.route(self.service)
    }
}

/// The route to this destination, for what `listener` of the Gateway takes. `version`: the group
/// and version in which the cluster has routes of this kind.
pub(crate) fn route(
    run: &RunIdentity,
    version: &str,
    parent: &ParentGateway,
    listener: &str,
    to: Destination<'_>,
) -> Value {
    let name = to.route();
    let mut spec = json!({
        "parentRefs": [
            {"namespace": parent.namespace, "name": parent.name, "sectionName": listener},
        ],
        "rules": [{"backendRefs": [{"name": to.service, "port": to.port}]}],
    });
    if to.traffic.names_host() {
        spec["hostnames"] = json!([host_name(run, &name)]);
    }
    json!({
        "apiVersion": version,
        "kind": to.traffic.kind(),
        "metadata": run.metadata(&name),
        "spec": spec,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunIdentity {
        RunIdentity {
            name: "k2v9xq1bzr".into(),
            namespace: "team".into(),
            is_guest: true,
            owner: "uid".into(),
        }
    }

    fn made(version: &str, listener: &str, traffic: Traffic, port: u16) -> Value {
        let parent = ParentGateway { namespace: "infra".into(), name: "public".into() };
        let to = Destination { service: "path0-in", port, traffic, family: None };
        route(&run(), &format!("gateway.networking.k8s.io/{version}"), &parent, listener, to)
    }

    #[test]
    fn routes_of_one_gateway_are_told_apart_by_their_host_names() {
        let http = made("v1", "web", Traffic::Http, 7474);
        assert_eq!(
            http["spec"],
            json!({
                "parentRefs": [{"namespace": "infra", "name": "public", "sectionName": "web"}],
                "hostnames": ["path0-in.k2v9xq1bzr.hopbench.test"],
                "rules": [{"backendRefs": [{"name": "path0-in", "port": 7474}]}],
            })
        );
        // By its owner the cluster's garbage collector removes it.
        assert_eq!(http["metadata"]["ownerReferences"][0]["uid"], "uid");
        assert_ne!(host_name(&run(), "path0-in"), host_name(&run(), "path1-in"));
        let grpc = made("v1", "web", Traffic::Grpc, 7475);
        assert_eq!(
            (&grpc["kind"], &grpc["metadata"]["name"]),
            (&json!("GRPCRoute"), &json!("grpc-path0-in"))
        );
        assert_eq!(grpc["spec"]["hostnames"], json!(["grpc-path0-in.k2v9xq1bzr.hopbench.test"]));
        assert_eq!(
            grpc["spec"]["rules"][0]["backendRefs"][0],
            json!({"name": "path0-in", "port": 7475})
        );
    }

    #[test]
    fn bytes_have_no_host_name() {
        let tls = made("v1alpha2", "tls", Traffic::Tls, 7474);
        assert_eq!(tls["apiVersion"], "gateway.networking.k8s.io/v1alpha2");
        assert_eq!(tls["spec"]["hostnames"], json!(["tls-path0-in.k2v9xq1bzr.hopbench.test"]));
        let tcp = made("v1alpha2", "tcp", Traffic::Tcp, 7474);
        assert_eq!((&tcp["kind"], tcp["spec"].get("hostnames")), (&json!("TCPRoute"), None));
    }
}
