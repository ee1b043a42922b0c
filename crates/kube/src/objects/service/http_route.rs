//! The HTTPRoute of a path: what a Gateway takes goes to a Service of the run.

use hopbench_model::ParentGateway;
use serde_json::{Value, json};

use super::gateway::VERSION;
use crate::api::labels::RunIdentity;

/// The host name of the requests that the route of a Service takes. It is the run's own, so that
/// nobody else's requests go there, and the run's go nowhere else.
pub(crate) fn host_name(run: &RunIdentity, service: &str) -> String {
    format!("{service}.{}.hopbench.test", run.name)
}

/// The route with the name of its Service, for the requests to its host name that `listener` of the
/// Gateway takes.
pub(crate) fn http_route(
    run: &RunIdentity,
    parent: &ParentGateway,
    listener: &str,
    service: &str,
    port: u16,
) -> Value {
    json!({
        "apiVersion": VERSION,
        "kind": "HTTPRoute",
        "metadata": run.metadata(service),
        "spec": {
            "parentRefs": [
                {"namespace": parent.namespace, "name": parent.name, "sectionName": listener},
            ],
            "hostnames": [host_name(run, service)],
            "rules": [{"backendRefs": [{"name": service, "port": port}]}],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_one_gateway_are_told_apart_by_their_host_names() {
        let run = RunIdentity {
            name: "k2v9xq1bzr".into(),
            namespace: "team".into(),
            is_guest: true,
            owner: "uid".into(),
        };
        let parent = ParentGateway { namespace: "infra".into(), name: "public".into() };
        let route = http_route(&run, &parent, "web", "path0-in", 7474);
        assert_eq!(
            route["spec"],
            json!({
                "parentRefs": [{"namespace": "infra", "name": "public", "sectionName": "web"}],
                "hostnames": ["path0-in.k2v9xq1bzr.hopbench.test"],
                "rules": [{"backendRefs": [{"name": "path0-in", "port": 7474}]}],
            })
        );
        // By its owner the cluster's garbage collector removes it.
        assert_eq!(route["metadata"]["ownerReferences"][0]["uid"], "uid");
        assert_ne!(host_name(&run, "path0-in"), host_name(&run, "path1-in"));
    }
}
