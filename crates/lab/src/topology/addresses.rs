//! The plan of all addresses and node ports of a lab.
//!
//! ```text
//!   10.10.0.0/16    the fabric: nodes from .0.1, pods that sit on the fabric themselves from .64.0
//!   10.128.0.0/9    pods behind their nodes: a /19 each node, of it a /22 each network kind
//!   10.255.0.0/16   Services (kept free of nodes: the last eight of the 1024 blocks)
//! ```
//! Addresses of IPv6 have the same plan: see `network::families`.

use std::net::Ipv4Addr;

/// Nodes that a lab can have.
pub(crate) const MOST_NODES: usize = 1000;
/// Pods of one network kind that a node can have.
pub(crate) const MOST_PODS: u32 = 1000;
/// Network kinds that can have a subnet on every node.
#[cfg(test)]
pub(crate) const MOST_KINDS: usize = 8;
/// Services that a lab can have: as many as there are triples of node ports.
pub(crate) const MOST_SERVICES: usize = 900;

/// A network and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subnet {
    /// Its lowest address.
    pub(crate) base: Ipv4Addr,
    /// Bits that its addresses share.
    pub(crate) prefix: u8,
}

impl Subnet {
    const fn new(base: [u8; 4], prefix: u8) -> Self {
        Self { base: Ipv4Addr::new(base[0], base[1], base[2], base[3]), prefix }
    }

    fn at(self, offset: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.base.to_bits() + offset)
    }

    /// Whether an address lies in it.
    #[cfg(test)]
    pub(crate) fn contains(self, address: Ipv4Addr) -> bool {
        (self.base.to_bits() ^ address.to_bits()).leading_zeros() >= u32::from(self.prefix)
    }

    /// The first address: the node's own on the pods' bridge, their gateway.
    pub(crate) fn gateway(self) -> Ipv4Addr {
        self.at(1)
    }

    /// The node's end of a tunnel between these subnets.
    pub(crate) fn tunnel(self) -> Ipv4Addr {
        self.at(2)
    }

    /// The pod with this number, from 0.
    pub(crate) fn pod(self, number: u32) -> Ipv4Addr {
        self.at(3 + number)
    }
}

/// Everything on the fabric's segment.
pub(crate) const FABRIC: Subnet = Subnet::new([10, 10, 0, 0], 16);
/// The Services.
pub(crate) const SERVICES: Subnet = Subnet::new([10, 255, 0, 0], 16);
const PODS: Subnet = Subnet::new([10, 128, 0, 0], 9);

/// A node's address on the fabric.
pub(crate) fn node(node: usize) -> Ipv4Addr {
    FABRIC.at(1 + node as u32)
}

/// The address of a pod that sits on the fabric itself. `number` counts these pods over the lab.
pub(crate) fn on_fabric(number: u32) -> Ipv4Addr {
    FABRIC.at(64 * 256 + number)
}

/// All pods behind a node.
pub(crate) fn behind(node: usize) -> Subnet {
    Subnet { base: PODS.at((node as u32) << 13), prefix: 19 }
}

/// The subnets of one network kind: one behind each node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subnets {
    /// The position of the kind in the registry.
    kind: usize,
}

impl Subnets {
    /// Those of the network kind at this position of the registry.
    pub(crate) fn of_kind(position: usize) -> Self {
        Self { kind: position }
    }

    /// The addresses of the kind's pods behind a node.
    pub(crate) fn behind(self, node: usize) -> Subnet {
        Subnet { base: behind(node).at((self.kind as u32) << 10), prefix: 22 }
    }
}

/// The address of a Service.
pub(crate) fn service(service: usize) -> Ipv4Addr {
    SERVICES.at(1 + service as u32)
}

/// The ports of a Service on the nodes: one for each thing that a server can be asked for.
pub(crate) fn node_ports(service: usize) -> [u16; 4] {
    // At most 900 Services: below 32768, where the kernel's own choice of ports begins.
    let first = 30_000 + 3 * service as u16;
    // HTTP/2 has a port of its own on few paths.
    [first, first + 1, first + 2, 29_000 + service as u16]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_address_is_given_twice() {
        let mut seen = BTreeSet::new();
        for at in [0, 1, 500, MOST_NODES - 1] {
            assert!(seen.insert(node(at)));
            assert!(FABRIC.contains(node(at)) && !FABRIC.contains(behind(at).base));
            for kind in 0..MOST_KINDS {
                let subnet = Subnets::of_kind(kind).behind(at);
                assert!(behind(at).contains(subnet.base), "{subnet:?}");
                for pod in [0, 1, MOST_PODS - 1] {
                    assert!(seen.insert(subnet.pod(pod)) && subnet.contains(subnet.pod(pod)));
                }
                assert!(seen.insert(subnet.gateway()) && seen.insert(subnet.tunnel()));
                let next = Subnets::of_kind((kind + 1) % MOST_KINDS).behind(at);
                assert!(!subnet.contains(next.base));
            }
        }
        for at in [0, MOST_SERVICES - 1] {
            assert!(seen.insert(service(at)) && SERVICES.contains(service(at)));
            assert!(seen.insert(on_fabric(at as u32)) && FABRIC.contains(on_fabric(at as u32)));
        }
        assert!(
            !SERVICES.contains(behind(MOST_NODES - 1).pod(8191 - 3)),
            "the last pod's block ends before the Services"
        );
        assert_eq!(node_ports(MOST_SERVICES - 1), [32_697, 32_698, 32_699, 29_899]);
    }

    #[test]
    fn a_subnet_ends_where_its_prefix_says() {
        let subnet = Subnets::of_kind(0).behind(0);
        assert_eq!(subnet, Subnet { base: Ipv4Addr::new(10, 128, 0, 0), prefix: 22 });
        assert!(subnet.contains(Ipv4Addr::new(10, 128, 3, 255)));
        assert!(!subnet.contains(Ipv4Addr::new(10, 128, 4, 0)));
        assert_eq!(Subnets::of_kind(1).behind(1).gateway(), Ipv4Addr::new(10, 128, 36, 1));
    }
}
