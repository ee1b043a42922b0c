//! The needs of a path's family of addresses.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use hopbench_model::{ClusterSpec, IpFamily, MeshProvider, Path};
use hopbench_testbed::Need;

use crate::plan::assign::Assigned;
use crate::plan::nodes::NodeFacts;
use crate::provision::target::is_of_another;

/// The remedy for a mesh of others that is not known to take a family.
const REMEDY: &str = "say `families: [ipv4, ipv6]` under `mesh:` if it is set up for both; else \
                      take `provider: envoy`, or leave `family` or `mesh` out";

/// The remedy if the path asks for no family.
const UNASKED: &str = "give the path one of these as `family`, or say `families: [ipv4, ipv6]` \
                       under `mesh:` if it is set up for both; else take `provider: envoy`, or \
                       leave `mesh` out";

/// The unmet needs of a path's family: the one that it asks for, or else the cluster's first.
pub(super) fn missing(spec: &ClusterSpec, path: &Path, assigned: &Assigned) -> Vec<Need> {
    let names: BTreeSet<&str> = path.nodes().collect();
    let nodes = names.into_iter().filter_map(|name| Some((name, assigned.nodes.get(name)?)));
    let nodes: Vec<(&str, &NodeFacts)> = nodes.collect();
    let firsts: BTreeSet<&IpAddr> =
        nodes.iter().filter_map(|(_, node)| node.addresses.first()).collect();
    let first = || {
        let family = IpFamily::of(**firsts.first()?);
        firsts.iter().all(|address| family.has(**address)).then_some(family)
    };
    let Some(family) = path.family.or_else(first) else { return Vec::new() };
    let mut needs = Vec::new();
    let mut add = |what: &str, why: String, remedy: &str| {
        needs.push(Need::new(Some(path), what, why, remedy));
    };
    for (name, node) in nodes {
        // Without the right to see nodes they are not known.
        if !node.addresses.is_empty() && !node.addresses.iter().any(|one| family.has(*one)) {
            let why = format!("node {name} ({}) has no {family} address", node.name);
            add(&family.to_string(), why, "leave `family` out, or make the cluster dual-stack");
        }
    }
    if let Some((why, remedy)) = not_taken(spec, path, family, &firsts) {
        add(Need::IMPOSSIBLE, why, remedy);
    }
    let gateway = spec.gateway_of(path).and_then(|gateway| gateway.address.as_deref());
    let is_elsewhere = |at: &&str| {
        let address = at.parse::<SocketAddr>().ok().map(|at| at.ip());
        is_of_another(address, path.family)
    };
    if let Some(at) = gateway.filter(is_elsewhere) {
        let why = format!("the `address` of its gateway is {at}, which is not {family}");
        add(Need::IMPOSSIBLE, why, "say one of this family or a name, or leave `family` out");
    }
    needs
}

/// Why the proxies of others do not take this family, or are not known to, and the remedy. `None`:
/// they take it, or there are none. `firsts` has the first address of each node. What the scenario
/// says of the mesh counts. If it says nothing, meshes take the first family of a cluster, and the
/// second one only if they are set up for it.
fn not_taken(
    spec: &ClusterSpec,
    path: &Path,
    family: IpFamily,
    firsts: &BTreeSet<&IpAddr>,
) -> Option<(String, &'static str)> {
    let mesh = &spec.mesh;
    let name = mesh.provider.name();
    let is_ours = mesh.provider == MeshProvider::Envoy;
    if path.mesh.is_none() || is_ours || mesh.families.contains(&family) {
        return None;
    }
    if !mesh.families.is_empty() {
        let said: Vec<&str> = mesh.families.iter().map(|family| family.word()).collect();
        let said = said.join(", ");
        let why = format!("{name} is set up for `families: [{said}]`, which is not {family}");
        return Some(match path.family {
            Some(_) => (why, REMEDY),
            None => (format!("{why}, the first family of the cluster"), UNASKED),
        });
    }
    let found = if firsts.is_empty() {
        "the addresses of the nodes are not known".to_owned()
    } else if firsts.iter().all(|one| family.has(**one)) {
        return None;
    } else {
        let firsts: Vec<String> = firsts.iter().map(ToString::to_string).collect();
        format!("the nodes have {} first", firsts.join(", "))
    };
    let why = format!(
        "hopbench cannot see whether {name} is set up for {family} as a second family ({found})"
    );
    Some((why, REMEDY))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hopbench_model::{GatewaySpec, MeshMode, Via};

    use super::*;
    use crate::plan::fixture;

    fn told(spec: &ClusterSpec, path: &Path, addresses: &[&str]) -> Vec<String> {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        let node = NodeFacts { name: "n1".into(), addresses, ..NodeFacts::default() };
        let nodes = BTreeMap::from([("a".to_owned(), node)]);
        let needs = missing(spec, path, &Assigned { nodes, without: BTreeMap::new() });
        needs.into_iter().map(|need| need.why).collect()
    }

    fn path(family: Option<IpFamily>, mesh: MeshMode, via: Via) -> Path {
        Path { family, mesh, ..fixture::path("p", "pod@a", "pod@b", via) }
    }

    #[test]
    fn the_second_family_of_a_mesh_of_others_is_not_known() {
        let (ipv4, ipv6) = (Some(IpFamily::Ipv4), Some(IpFamily::Ipv6));
        let both = ["10.0.0.1", "fd00::1"];
        let by = |provider, family, addresses: &[&str]| {
            let mut spec = fixture::spec();
            spec.mesh.provider = provider;
            told(&spec, &path(family, MeshMode::Both, Via::Direct), addresses)
        };
        for provider in MeshProvider::ALL {
            assert!(by(provider, ipv4, &both).is_empty(), "the first one is always taken");
            assert!(by(provider, None, &both).is_empty());
            let is_ours = provider == MeshProvider::Envoy;
            assert_eq!(by(provider, ipv6, &both).is_empty(), is_ours, "{provider:?}");
            assert_eq!(by(provider, ipv4, &[]).is_empty(), is_ours, "{provider:?}");
            assert!(by(provider, ipv6, &["fd00::1", "10.0.0.1"]).is_empty());
        }
        assert_eq!(
            by(MeshProvider::Istio, ipv6, &both),
            ["hopbench cannot see whether istio is set up for IPv6 as a second family (the nodes \
              have 10.0.0.1 first)"]
        );
    }

    #[test]
    fn what_is_said_of_a_mesh_of_others_counts() {
        let (ipv4, ipv6) = (IpFamily::Ipv4, IpFamily::Ipv6);
        let by = |families: &[IpFamily], family, addresses: &[&str]| {
            let mut spec = fixture::spec();
            spec.mesh.provider = MeshProvider::Linkerd;
            spec.mesh.families = families.iter().copied().collect();
            told(&spec, &path(Some(family), MeshMode::Both, Via::Direct), addresses)
        };
        for addresses in [&["10.0.0.1", "fd00::1"][..], &["fd00::1", "10.0.0.1"], &[]] {
            for family in IpFamily::ALL {
                assert!(by(&IpFamily::ALL, family, addresses).is_empty(), "{addresses:?}");
                assert!(by(&[family], family, addresses).is_empty(), "{addresses:?}");
            }
            // Even if it is the first one of the nodes.
            assert_eq!(
                by(&[ipv4], ipv6, addresses),
                ["linkerd is set up for `families: [ipv4]`, which is not IPv6"]
            );
            assert_eq!(by(&[ipv6], ipv4, addresses).len(), 1);
        }
        // What is said of the mesh gives no node an address.
        assert_eq!(by(&IpFamily::ALL, ipv6, &["10.0.0.1"]), ["node a (n1) has no IPv6 address"]);
    }

    #[test]
    fn a_path_that_asks_for_no_family_has_the_first_one_of_the_cluster() {
        let (ipv4, ipv6) = (IpFamily::Ipv4, IpFamily::Ipv6);
        let by = |families: &[IpFamily], mesh, addresses: &[&str]| {
            let mut spec = fixture::spec();
            spec.mesh.provider = MeshProvider::Istio;
            spec.mesh.families = families.iter().copied().collect();
            told(&spec, &path(None, mesh, Via::Direct), addresses)
        };
        let (ipv4_first, ipv6_first) = (["10.0.0.1", "fd00::1"], ["fd00::1", "10.0.0.1"]);
        let why = |said: &str, first: &str| {
            format!(
                "istio is set up for `families: [{said}]`, which is not {first}, the first family \
                 of the cluster"
            )
        };
        assert_eq!(by(&[ipv4], MeshMode::Both, &ipv6_first), [why("ipv4", "IPv6")]);
        assert_eq!(by(&[ipv6], MeshMode::Server, &ipv4_first), [why("ipv6", "IPv4")]);
        for families in [&[][..], &[ipv6], &IpFamily::ALL] {
            assert_eq!(by(families, MeshMode::Both, &ipv6_first), [""; 0], "{families:?}");
        }
        assert_eq!(by(&[ipv4], MeshMode::None, &ipv6_first), [""; 0], "there is no mesh");
        assert_eq!(by(&[ipv4], MeshMode::Both, &[]), [""; 0], "no node says what is first");
    }

    #[test]
    fn the_remedy_names_the_key() {
        let mut spec = fixture::spec();
        spec.mesh.provider = MeshProvider::Cilium;
        let path = path(Some(IpFamily::Ipv6), MeshMode::Server, Via::ClusterIp);
        let assigned = Assigned { nodes: BTreeMap::new(), without: BTreeMap::new() };
        let needs = missing(&spec, &path, &assigned);
        let text = needs[0].to_string();
        assert!(text.contains("say `families: [ipv4, ipv6]` under `mesh:`"), "{text}");
    }

    #[test]
    fn the_address_of_a_gateway_is_of_the_family_or_a_name() {
        let at = |address: &str, family| {
            let mut spec = fixture::spec();
            let address = Some(address.to_owned());
            spec.gateway = Some(GatewaySpec { address, ..GatewaySpec::default() });
            let path = path(Some(family), MeshMode::None, Via::Gateway(String::new()));
            told(&spec, &path, &["10.0.0.1", "fd00::1"])
        };
        for address in ["[fd00::9]:80", "gateway.example:80"] {
            assert!(at(address, IpFamily::Ipv6).is_empty(), "{address}");
        }
        assert_eq!(
            at("203.0.113.7:80", IpFamily::Ipv6),
            ["the `address` of its gateway is 203.0.113.7:80, which is not IPv6"]
        );
        assert_eq!(at("[fd00::9]:80", IpFamily::Ipv4).len(), 1);
    }
}
