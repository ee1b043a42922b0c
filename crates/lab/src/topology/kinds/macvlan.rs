//! `macvlan`: addresses of several pods on the NIC of their node, past the node's IP stack.

use std::io;

use super::blocks;
use crate::topology::kind::{Kind, Reach, Site};

#[derive(Debug)]
pub(super) struct Macvlan;

impl Kind for Macvlan {
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
        site.node.stack.netlink.add_macvlan("eth0", "eth0", &site.pod.namespace)?;
        blocks::on_fabric(site)
    }
}
