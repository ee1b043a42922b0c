//! `ptp`: a cable to the node and host routes, no bridge.

use std::io;

use super::blocks;
use crate::topology::addresses::Subnets;
use crate::topology::kind::{NetworkKind, Reach, Site};
use crate::topology::node::Node;

#[derive(Debug)]
pub(super) struct Ptp;

impl NetworkKind for Ptp {
    fn name(&self) -> &'static str {
        "ptp"
    }

    fn summary(&self) -> &'static str {
        "veth with host routes and no bridge, routed on the node and between nodes"
    }

    fn reach(&self) -> Reach {
        Reach::Routed { segment: None, tunnel: None }
    }

    fn prepare(&self, nodes: &mut [Node], subnets: Subnets) -> io::Result<()> {
        // The gateway of all these pods is an address of the node that is on no segment.
        nodes.iter_mut().try_for_each(|node| {
            let gateway = subnets.behind(node.number).gateway();
            node.add_address("lo", gateway, 32)
        })
    }

    fn attach(&self, site: &mut Site<'_>) -> io::Result<()> {
        let port = format!("p{}", site.number);
        let gateway = site.subnet.gateway();
        blocks::cable(site, &port, site.node.mtu)?;
        let node = &mut site.node.stack;
        node.netlink.set_up(&port)?;
        node.add_route((site.address, 32), None, Some(&port))?;
        let mac = node.netlink.mac(&port)?;
        let pod = &mut *site.pod;
        pod.netlink.set_up("eth0")?;
        pod.add_address("eth0", site.address, 32)?;
        pod.add_route((gateway, 32), None, Some("eth0"))?;
        // With IPv6 a node does not answer for an address that another of its links has.
        pod.add_neighbour("eth0", gateway, mac)?;
        pod.add_route(blocks::DEFAULT, Some(gateway), Some("eth0"))
    }
}
