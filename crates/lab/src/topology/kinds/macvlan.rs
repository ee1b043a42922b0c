//! `macvlan`: addresses of several pods on the NIC of their node, past the node's IP stack.

use std::io;

use super::blocks;
use crate::topology::kind::{NetworkKind, Reach, Site};

#[derive(Debug)]
pub(super) struct Macvlan;

impl NetworkKind for Macvlan {
    fn name(&self) -> &'static str {
        "macvlan"
    }

    fn summary(&self) -> &'static str {
        "on the node's NIC: several addresses share it, past the node's network"
    }

    fn reach(&self) -> Reach {
        Reach::SharedNic
    }

    fn attach(&self, site: &mut Site<'_>) -> io::Result<()> {
        // Older kernels refuse a name that the node's own namespace has, wherever the link is to
        // be.
        let port = format!("m{}", site.number);
        site.node.stack.netlink.add_macvlan(&port, "eth0", &site.pod.namespace)?;
        site.pod.netlink.rename(&port, "eth0")?;
        blocks::on_fabric(site)
    }
}
