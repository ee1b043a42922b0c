//! The reasons, the same on every testbed that makes networks, why a path or a cell cannot be
//! measured.

use hopbench_model::{Path, Point, Transport, Via};

use crate::need::Need;

/// Why a cell cannot be measured although its path can be built: its traffic cannot go this way.
pub fn unsupported(path: &Path, point: &Point) -> Option<String> {
    let job = &point.job;
    if matches!(path.via, Via::Gateway(_)) && job.bypasses_proxies() {
        return Some(format!("a gateway takes TCP only: `{}` cannot go through it", job.workload));
    }
    if job.is_over_http2() && !point.server.is_agent() {
        let program = &point.server.program;
        return Some(format!("{program} is set up for HTTP/1.1: let the agent answer"));
    }
    if job.is_over_tls() && !point.server.is_agent() {
        return Some(format!(
            "{} is set up without TLS: let the agent answer",
            point.server.program
        ));
    }
    if path.via != Via::Direct && job.transport() == Transport::Icmp {
        return Some(format!("ICMP has no ports: it cannot go through a Service ({})", path.via));
    }
    None
}

/// The need of a path whose proxies have no setup.
pub fn lacks_variant(path: &Path) -> Option<Need> {
    if !path.is_proxied() || path.variant.is_some() {
        return None;
    }
    let why = "nothing says how the proxies are set up".to_owned();
    Some(Need::new(Some(path), "a variant", why, "name one under `variant:`"))
}

/// The need of a path whose proxies are hopbench's own, which read no annotations.
pub fn annotates_in_vain(path: &Path) -> Option<Need> {
    let variant = path.variant.as_ref().filter(|variant| !variant.annotations.is_empty())?;
    let why = format!("variant {}: its annotations are for a mesh of the cluster", variant.name);
    let remedy = "take `provider: istio` or `linkerd`, or leave the annotations out";
    Some(Need::new(Some(path), Need::IMPOSSIBLE, why, remedy))
}

/// The need of a path whose clients would have sidecars in front of a gateway.
pub fn has_sidecar_before_gateway(path: &Path) -> Option<Need> {
    if !matches!(path.via, Via::Gateway(_)) || !path.mesh.has_client() {
        return None;
    }
    let why = format!("`mesh: {}`: through a gateway clients have no sidecar", path.mesh);
    Some(Need::new(Some(path), Need::IMPOSSIBLE, why, "`mesh: none` or `mesh: server`"))
}

#[cfg(test)]
mod tests {
    use hopbench_model::{MeshMode, fixture};
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_whose_traffic_cannot_go_this_way_say_why() {
        let told = |via: Via, workload: &str, udp: bool| {
            let path = Path { via, ..fixture::path("p") };
            let point = fixture::point("w", fixture::job(workload, json!({"udp": udp})));
            unsupported(&path, &point).unwrap_or_default()
        };
        let gateway = || Via::Gateway("c".to_owned());
        assert_eq!(told(gateway(), "crr", false), "");
        assert_eq!(
            told(gateway(), "rr", true),
            "a gateway takes TCP only: `rr` cannot go through it"
        );
        assert!(told(gateway(), "ping", false).starts_with("a gateway takes TCP only"));
        assert_eq!(told(Via::Direct, "ping", false), "");
        let why = "ICMP has no ports: it cannot go through a Service (cluster-ip)";
        assert_eq!(told(Via::ClusterIp, "ping", false), why);
        assert_eq!(told(Via::ClusterIp, "udp", false), "");
    }

    #[test]
    fn tls_and_http2_are_spoken_with_agents() {
        let told_of = |parameter: &str, mesh: MeshMode, program: &str| {
            let path = Path { mesh, ..fixture::path("p") };
            let mut point = fixture::point("w", fixture::job("http", json!({parameter: true})));
            point.server.program = program.to_owned();
            unsupported(&path, &point).unwrap_or_default()
        };
        let told = |mesh, program| told_of("tls", mesh, program);
        assert_eq!(told_of("http2", MeshMode::None, "hopbench"), "");
        assert_eq!(told_of("http2", MeshMode::Server, "hopbench"), "");
        assert!(told_of("http2", MeshMode::None, "nginx").starts_with("nginx is set up for"));
        assert_eq!(told(MeshMode::None, "hopbench"), "");
        assert_eq!(told(MeshMode::Server, "hopbench"), "");
        assert!(told(MeshMode::None, "nginx").starts_with("nginx is set up without TLS"));
    }

    #[test]
    fn proxies_need_a_setup_and_a_gateway_has_no_sidecar_before_it() {
        let path = |via: Via, mesh: MeshMode| Path { via, mesh, ..fixture::path("p") };
        assert_eq!(lacks_variant(&path(Via::Direct, MeshMode::None)), None);
        assert_eq!(lacks_variant(&path(Via::Direct, MeshMode::Server)).unwrap().what, "a variant");
        let gateway = |mesh| has_sidecar_before_gateway(&path(Via::Gateway("c".to_owned()), mesh));
        assert_eq!(gateway(MeshMode::Server), None);
        assert_eq!(gateway(MeshMode::Both).unwrap().what, Need::IMPOSSIBLE);
        assert_eq!(has_sidecar_before_gateway(&path(Via::Direct, MeshMode::Both)), None);
    }
}
