//! The fabric: the switches between the nodes.
//!
//! ```text
//!   zone 0: bridge z0 ─ up0 ══ down0 ─┐        one zone: just z0
//!                                     core
//!   zone 1: bridge z1 ─ up1 ══ down1 ─┘        ══ shaped to the zones' rate, delayed on the way up
//! ```

use std::io;

use hopbench_model::{IpFamily, LabSpec};

use crate::network::namespace::Namespace;
use crate::network::stack::Stack;

/// The fabric of a lab.
#[derive(Debug)]
pub struct Fabric {
    pub(crate) stack: Stack,
    /// Names of the zones; the position is in the names of their links.
    pub(crate) zones: Vec<String>,
}

/// The zones of a lab, in the order in which its nodes name them.
pub(crate) fn zones(spec: &LabSpec) -> Vec<String> {
    let mut zones: Vec<String> = Vec::new();
    for node in &spec.nodes {
        if !zones.contains(&node.zone) {
            zones.push(node.zone.clone());
        }
    }
    zones
}

impl Fabric {
    /// Bridges, and links between them; no node yet.
    pub(crate) fn build(spec: &LabSpec) -> io::Result<Self> {
        let mut fabric =
            Self { stack: Stack::create("fabric", &[IpFamily::Ipv4])?, zones: zones(spec) };
        let count = fabric.zones.len();
        for zone in 0..count {
            fabric.bridge(&format!("z{zone}"), spec.mtu)?;
        }
        if count > 1 {
            fabric.bridge("core", spec.mtu)?;
            for zone in 0..count {
                fabric.join(zone, spec)?;
            }
        }
        Ok(fabric)
    }

    fn bridge(&mut self, name: &str, mtu: u32) -> io::Result<()> {
        let netlink = &mut self.stack.netlink;
        netlink.add_bridge(name)?;
        netlink.set_mtu(name, mtu)?;
        netlink.set_up(name)
    }

    /// Joins a zone to the core.
    fn join(&mut self, zone: usize, spec: &LabSpec) -> io::Result<()> {
        let (up, down, bridge) = (format!("up{zone}"), format!("down{zone}"), format!("z{zone}"));
        let Stack { netlink, namespace, .. } = &mut self.stack;
        netlink.add_veth(&up, &down, namespace)?;
        for (link, master) in [(&up, bridge.as_str()), (&down, "core")] {
            netlink.set_mtu(link, spec.mtu)?;
            netlink.set_master(link, master)?;
            if let Some(bits_per_s) = spec.zone_link_bits_per_s {
                netlink.shape(link, bits_per_s, spec.mtu)?;
            }
            netlink.set_up(link)?;
        }
        if spec.zone_delay_ns > 0 {
            // On the way up only: every packet between two zones goes up once.
            netlink.delay(&up, spec.zone_delay_ns)?;
        }
        Ok(())
    }

    /// A cable from a zone's bridge into a namespace, where it is called `eth0`. That end is down,
    /// and the fabric's end is up.
    pub(crate) fn plug(
        &mut self,
        zone: &str,
        port: &str,
        into: &Namespace,
        capacity: LinkCapacity,
    ) -> io::Result<()> {
        let zone = self.zones.iter().position(|name| name == zone).unwrap_or_default();
        let netlink = &mut self.stack.netlink;
        netlink.add_veth(port, "eth0", into)?;
        netlink.set_mtu(port, capacity.mtu)?;
        netlink.set_master(port, &format!("z{zone}"))?;
        if let Some(bits_per_s) = capacity.bits_per_s {
            netlink.shape(port, bits_per_s, capacity.mtu)?;
        }
        netlink.set_up(port)
    }
}

/// The capacity of a cable to the fabric.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkCapacity {
    /// Its rate in each direction; absent: not shaped.
    pub(crate) bits_per_s: Option<u64>,
    /// Its MTU, bytes.
    pub(crate) mtu: u32,
}
