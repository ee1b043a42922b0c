//! Istio's ambient mode: a ztunnel on each node, which names both workloads of each connection.
//!
//! A pod without a controller is a workload of its own name, and a run's pods have names of their
//! own. So each ztunnel tells the connections of a path's pods apart from all others.

use std::collections::BTreeMap;

use super::node_mesh::{Counted, NodeMesh, PathPods};
use crate::observe::meters::exposition::samples;

/// How it is found and read.
pub(super) const MESH: NodeMesh = NodeMesh {
    proxy: "ztunnel",
    carry: &["app=ztunnel"],
    count: "app=ztunnel",
    metrics: (15020, "/metrics"),
    read,
    remedy: "ztunnel has its metrics at port 15020",
};

const OPENED: &str = "istio_tcp_connections_opened_total";
const SENT: &str = "istio_tcp_sent_bytes_total";
const RECEIVED: &str = "istio_tcp_received_bytes_total";

/// The annotation of a pod that is in the mesh.
pub(super) const CAPTURED: &str = "ambient.istio.io/redirection";

/// The labels of a pod in the mesh, or of one outside.
pub(super) fn labels(is_in_mesh: bool) -> BTreeMap<String, String> {
    let mode = if is_in_mesh { "ambient" } else { "none" };
    let all = [("istio.io/dataplane-mode", mode), ("sidecar.istio.io/inject", "false")];
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// Of each end of a path, `client` or `server`: `END_connections`, those of them with mTLS as
/// `END_mtls_connections`, and `END_bytes` both ways.
fn read(text: &str, pods: &PathPods<'_>) -> Counted {
    // One that carried nothing yet may not even name its counters.
    if !text.contains("istio_build") && !text.contains("istio_tcp_connections_opened") {
        return Err("the answer is not the metrics of a ztunnel".to_owned());
    }
    let names = ["client", "server"].into_iter().flat_map(|end| {
        ["connections", "mtls_connections", "bytes"].map(|counter| format!("{end}_{counter}"))
    });
    let mut sums: BTreeMap<String, u64> = names.map(|name| (name, 0)).collect();
    for sample in samples(text, &[OPENED, SENT, RECEIVED]) {
        let sample = sample?;
        let (end, workload, own) = match sample.label("reporter") {
            "source" => ("client", "source", &pods.clients),
            _ => ("server", "destination", &pods.servers),
        };
        let is_own = own.contains(sample.label(&format!("{workload}_workload")))
            && sample.label(&format!("{workload}_workload_namespace")) == pods.namespace;
        if !is_own {
            continue;
        }
        let mut add = |counter: &str| {
            *sums.entry(format!("{end}_{counter}")).or_default() += sample.value as u64;
        };
        if sample.name == OPENED {
            add("connections");
            if sample.label("connection_security_policy") == "mutual_tls" {
                add("mtls_connections");
            }
        } else {
            add("bytes");
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// In the form of ztunnel's own metrics, shortened by labels that nobody reads here.
    const ANSWER: &str = r#"# HELP istio_tcp_connections_opened The total number of TCP connections opened.
# TYPE istio_tcp_connections_opened counter
istio_tcp_connections_opened_total{reporter="source",source_workload="pod-a-mesh",source_workload_namespace="hb-x",source_principal="spiffe://cluster.local/ns/hb-x/sa/default",destination_service="unknown",destination_workload="pod-b-mesh",destination_workload_namespace="hb-x",request_protocol="tcp",response_flags="-",connection_security_policy="mutual_tls"} 16
istio_tcp_connections_opened_total{reporter="source",source_workload="pod-a-mesh",source_workload_namespace="hb-x",destination_workload="pod-b",destination_workload_namespace="hb-x",request_protocol="tcp",response_flags="-",connection_security_policy="unknown"} 3
istio_tcp_connections_opened_total{reporter="source",source_workload="pod-a-mesh",source_workload_namespace="other",destination_workload="web",destination_workload_namespace="other",request_protocol="tcp",response_flags="-",connection_security_policy="mutual_tls"} 900
istio_tcp_connections_opened_total{reporter="destination",source_workload="pod-a-mesh",source_workload_namespace="hb-x",destination_workload="pod-b-mesh",destination_workload_namespace="hb-x",request_protocol="tcp",response_flags="-",connection_security_policy="mutual_tls"} 16
# TYPE istio_tcp_connections_closed counter
istio_tcp_connections_closed_total{reporter="source",source_workload="pod-a-mesh",source_workload_namespace="hb-x"} 19
# TYPE istio_tcp_received_bytes counter
istio_tcp_received_bytes_total{reporter="source",source_workload="pod-a-mesh",source_workload_namespace="hb-x",connection_security_policy="mutual_tls"} 1000
istio_tcp_sent_bytes_total{reporter="source",source_workload="pod-a-mesh",source_workload_namespace="hb-x",connection_security_policy="mutual_tls"} 24
# EOF
"#;

    fn pods() -> PathPods<'static> {
        PathPods {
            namespace: "hb-x",
            clients: BTreeSet::from(["pod-a-mesh"]),
            servers: BTreeSet::from(["pod-b-mesh"]),
        }
    }

    #[test]
    fn connections_of_the_paths_pods_are_counted_and_no_others() {
        let found = read(ANSWER, &pods()).unwrap();
        let of = |end: &str| {
            ["connections", "mtls_connections", "bytes"].map(|name| found[&format!("{end}_{name}")])
        };
        assert_eq!((of("client"), of("server")), ([19, 16, 1024], [16, 16, 0]));
        let idle = "istio_build{component=\"ztunnel\",tag=\"1.30.0\"} 1\n# EOF\n";
        assert!(read(idle, &pods()).unwrap().values().all(|count| *count == 0));
        assert!(read("# HELP other\n", &pods()).unwrap_err().contains("not the metrics"));
        let torn = ANSWER.replace("} 16", "} x");
        assert!(read(&torn, &pods()).unwrap_err().contains("cannot be read"));
    }
}
