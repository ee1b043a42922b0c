//! The tasks of proxies as far as they are the same on every testbed. They say whom they ask and
//! tell, and their way to the server in their own pod.

use std::net::{Ipv4Addr, SocketAddr};

use hopbench_mesh::{Offer, ProxyRoute, Upstream};
use hopbench_model::MeshMode;

use super::endpoints::Endpoints;
use super::of_plan::Placement;
use super::pod::PodId;

impl Endpoints {
    /// The pod with the telemetry service that is told of its traffic.
    pub fn telemetry(&self) -> Option<&PodId> {
        let variant = self.path.variant.as_ref()?;
        self.policy.as_ref().filter(|_| variant.policy_report)
    }

    /// The route of a server's sidecar from the port that stands for this offer to the server in
    /// its pod, at `own_port`. `telemetry` is told of it.
    pub fn inward(&self, offer: Offer, own_port: u16, telemetry: Option<SocketAddr>) -> ProxyRoute {
        let mode = self.entered();
        ProxyRoute {
            name: format!("in-{}-{mode}", offer.word()),
            address: None,
            port: offer.exposed(mode),
            protocol: offer.protocol,
            from_proxy: mode == MeshMode::Both,
            to_proxy: false,
            checked: true,
            telemetry,
            upstream: Upstream::Endpoints(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, own_port))]),
        }
    }
}

impl Placement {
    /// The pod with the policy service that the proxy of a pod asks before it lets anything pass.
    pub fn policy_of(&self, pod: &PodId) -> Option<&PodId> {
        // All paths for which a sidecar asks end at the same place.
        let serves = |endpoints: &Endpoints| {
            endpoints.path.mesh.has_server() && endpoints.servers.contains(pod)
        };
        let mut paths = self.paths.values();
        let asking =
            paths.find(|endpoints| endpoints.gateways.contains(pod) || serves(endpoints))?;
        let variant = asking.path.variant.as_ref()?;
        asking.policy.as_ref().filter(|_| variant.policy_check)
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Path, Variant, Via, fixture};

    use super::*;
    use crate::placement::rules::Rules;

    #[test]
    fn only_proxies_of_a_variant_that_asks_know_whom() {
        let path = |name: &str, check: bool, report: bool, via: Via| Path {
            from: fixture::place("bridge", "a"),
            to: fixture::place("bridge", "b"),
            via,
            mesh: MeshMode::Server,
            variant: Some(Variant {
                name: name.to_owned(),
                policy_check: check,
                policy_report: report,
                ..Variant::plain()
            }),
            ..fixture::path(name)
        };
        let paths = vec![
            path("silent", false, false, Via::Direct),
            path("told", false, true, Via::Direct),
            path("asked", true, false, Via::Gateway("c".to_owned())),
        ];
        let placement = Placement::of(&fixture::plan(paths, vec![]), Rules::default());
        let name = |pod: Option<&PodId>| pod.map(PodId::to_string).unwrap_or_default();
        let of = |path: &str| {
            let endpoints = &placement.paths[path];
            let gateway = endpoints.gateways.first().and_then(|pod| placement.policy_of(pod));
            (
                name(endpoints.telemetry()),
                name(placement.policy_of(&endpoints.servers[0])),
                name(gateway),
            )
        };
        let nobody = String::new;
        assert_eq!(of("silent"), (nobody(), nobody(), nobody()));
        assert_eq!(of("told"), ("bridge@b/policy-told".to_owned(), nobody(), nobody()));
        let asked = || "bridge@b/policy-asked".to_owned();
        assert_eq!(of("asked"), (nobody(), asked(), asked()));
        let inward = placement.paths["asked"].inward(Offer::ALL[0], 7474, None);
        assert_eq!(
            (inward.name.as_str(), inward.from_proxy),
            ("in-agent-tcp-both", true),
            "from its gateway"
        );
    }
}
