//! The address that the clients of a path connect to.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use hopbench_model::{Fault, IpFamily, Via};

use crate::objects::service::ServiceEntry;

/// The known addresses of a path's servers.
#[derive(Debug)]
pub(crate) struct Whereabouts<'a> {
    /// The first server's own address and port.
    pub(crate) server: Option<SocketAddr>,
    /// The path's Service.
    pub(crate) entry: Option<&'a ServiceEntry>,
    /// An address of the node that a node port is entered at.
    pub(crate) node: Option<IpAddr>,
    /// Whether the job sends datagrams.
    pub(crate) datagrams: bool,
    /// The family that the path asks for.
    pub(crate) family: Option<IpFamily>,
}

/// The address that the clients of a path connect to.
pub(crate) fn target(path: &str, via: &Via, known: &Whereabouts<'_>) -> Result<SocketAddr, Fault> {
    let nowhere = |what: &str| Fault::environment(format!("path {path}: {what}"));
    let none = |what: &str| nowhere(&no_address(what, known.family));
    let entry = || known.entry.ok_or_else(|| nowhere("its Service was never made"));
    match via {
        Via::Direct | Via::Gateway(_) => known.server.ok_or_else(|| none("its server")),
        Via::ClusterIp => {
            let entry = entry()?;
            let address = entry.address.ok_or_else(|| none("its Service"))?;
            Ok(SocketAddr::new(address, entry.port))
        }
        Via::NodePort(node) => {
            let entry = entry()?;
            let port = if known.datagrams { entry.datagrams_node_port } else { entry.node_port };
            let address = known.node.ok_or_else(|| none(&format!("node {node}")))?;
            if port == 0 {
                Err(nowhere("its Service has no node port"))
            } else {
                Ok(SocketAddr::new(address, port))
            }
        }
        Via::LoadBalancer => {
            let entry = entry()?;
            let balancer = entry.balancer.as_deref().ok_or_else(|| {
                nowhere(
                    "nobody gave its Service of type LoadBalancer an address: the cluster needs a \
                     load balancer (a cloud's, MetalLB ...)",
                )
            })?;
            resolve(&format!("{}:{}", bracketed(balancer), entry.port), known.family)
                .map_err(|e| nowhere(&e))
        }
        Via::Address(address) => resolve(address, None).map_err(|e| nowhere(&e)),
    }
}

/// The first address of the same family as that of a Service: it has node ports on these only.
pub(crate) fn of_family(addresses: &[IpAddr], service: Option<IpAddr>) -> Option<IpAddr> {
    let mut fitting = addresses
        .iter()
        .filter(|of_node| service.is_none_or(|own| own.is_ipv4() == of_node.is_ipv4()));
    fitting.next().copied()
}

/// IPv6 addresses stand in brackets before a port.
pub(crate) fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// Whether an address is of another family. Of a name, which is no address, it is not known.
pub(crate) fn is_of_another(address: Option<IpAddr>, family: Option<IpFamily>) -> bool {
    address.zip(family).is_some_and(|(address, family)| !family.has(address))
}

/// The first address of `HOST:PORT`, of this family.
pub(crate) fn resolve(address: &str, family: Option<IpFamily>) -> Result<SocketAddr, String> {
    let mut found = address.to_socket_addrs().map_err(|e| format!("cannot find {address}: {e}"))?;
    let fitting = found.find(|one| family.is_none_or(|family| family.has(one.ip())));
    fitting.ok_or_else(|| no_address(address, family))
}

/// `node b has no IPv6 address`.
pub(crate) fn no_address(what: &str, family: Option<IpFamily>) -> String {
    let family = family.map(|family| format!("{family} ")).unwrap_or_default();
    format!("{what} has no {family}address")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_has_its_entrance() {
        let entry = ServiceEntry {
            address: Some([10, 96, 0, 7].into()),
            balancer: Some("fd00::7".into()),
            port: 7474,
            node_port: 30_001,
            datagrams_node_port: 30_002,
            ..ServiceEntry::default()
        };
        let server = Some(SocketAddr::from(([10, 244, 1, 5], 7475)));
        let known = |datagrams| Whereabouts {
            server,
            entry: Some(&entry),
            node: Some([10, 0, 0, 2].into()),
            datagrams,
            family: None,
        };
        let at = |via: Via, datagrams| target("p", &via, &known(datagrams)).unwrap().to_string();
        assert_eq!(at(Via::Direct, false), "10.244.1.5:7475");
        assert_eq!(at(Via::ClusterIp, true), "10.96.0.7:7474");
        assert_eq!(at(Via::NodePort("b".into()), false), "10.0.0.2:30001");
        assert_eq!(at(Via::NodePort("b".into()), true), "10.0.0.2:30002");
        assert_eq!(at(Via::LoadBalancer, false), "[fd00::7]:7474");
        assert_eq!(at(Via::Address("203.0.113.7:80".into()), false), "203.0.113.7:80");
    }

    #[test]
    fn a_node_is_entered_at_an_address_of_the_service_s_family() {
        let addresses: [IpAddr; 2] = ["fd00::2".parse().unwrap(), [10, 0, 0, 2].into()];
        let at = |service: Option<IpAddr>| of_family(&addresses, service);
        assert_eq!(at(Some([10, 96, 0, 7].into())), Some(addresses[1]));
        assert_eq!(at(Some("fd00:96::7".parse().unwrap())), Some(addresses[0]));
        assert_eq!(at(None), Some(addresses[0]));
        assert_eq!(of_family(&addresses[..1], Some([10, 96, 0, 7].into())), None);
    }

    #[test]
    fn what_is_not_there_is_told() {
        let family = Some(IpFamily::Ipv6);
        let known =
            |entry| Whereabouts { server: None, entry, node: None, datagrams: false, family };
        let told = |via: Via, entry| target("p", &via, &known(entry)).unwrap_err().text;
        assert_eq!(told(Via::Direct, None), "path p: its server has no IPv6 address");
        assert_eq!(told(Via::ClusterIp, None), "path p: its Service was never made");
        let nothing = ServiceEntry::default();
        assert!(told(Via::LoadBalancer, Some(&nothing)).contains("MetalLB"));
        assert_eq!(
            told(Via::NodePort("b".into()), Some(&nothing)),
            "path p: node b has no IPv6 address"
        );
    }
}
