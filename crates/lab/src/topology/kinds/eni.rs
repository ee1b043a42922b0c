//! `eni`: a NIC of its own on the fabric, as fast as the node's, moved into the pod.

use std::io;

use super::blocks;
use crate::topology::kind::{NetworkKind, Reach, Site};

#[derive(Debug)]
pub(super) struct Eni;

impl NetworkKind for Eni {
    fn name(&self) -> &'static str {
        "eni"
    }

    fn summary(&self) -> &'static str {
        "a NIC of its own on the fabric, moved into the pod"
    }

    fn reach(&self) -> Reach {
        Reach::OwnNic
    }

    fn attach(&self, site: &mut Site<'_>) -> io::Result<()> {
        let (port, capacity) = (format!("e{}", site.number), site.node.capacity());
        site.fabric.plug(&site.node.spec.zone, &port, &site.pod.namespace, capacity)?;
        if let Some(bits_per_s) = capacity.bits_per_s {
            site.pod.netlink.shape("eth0", bits_per_s, capacity.mtu)?;
        }
        blocks::on_fabric(site)
    }
}
