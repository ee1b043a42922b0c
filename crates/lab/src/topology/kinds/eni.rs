//! `eni`: a NIC of its own on the fabric, as fast as the node's, moved into the pod.

use std::io;

use super::blocks;
use crate::topology::kind::{Kind, Reach, Site};

#[derive(Debug)]
pub(super) struct Eni;

impl Kind for Eni {
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
        let (port, line) = (format!("e{}", site.number), site.node.line(site.mtu));
        site.fabric.plug(&site.node.spec.zone, &port, &site.pod.namespace, line)?;
        if let Some(bits_per_s) = line.bits_per_s {
            site.pod.netlink.shape("eth0", bits_per_s, line.mtu)?;
        }
        blocks::on_fabric(site)
    }
}
