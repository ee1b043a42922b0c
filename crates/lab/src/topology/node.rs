//! A node: a namespace with a NIC on the fabric that forwards for the pods behind it.

use std::io;
use std::net::Ipv4Addr;

use hopbench_model::{IpFamily, LabNode};

use crate::network::stack::Stack;
use crate::topology::addresses;
use crate::topology::fabric::{Fabric, LinkCapacity};

/// A node of the lab.
#[derive(Debug)]
pub struct Node {
    pub(crate) spec: LabNode,
    /// MTU of its links, bytes.
    pub(crate) mtu: u32,
    /// Its position in the lab.
    pub(crate) number: usize,
    pub(crate) stack: Stack,
    /// All its own addresses: a packet that it sends or masquerades has one of them.
    pub(crate) addresses: Vec<Ipv4Addr>,
    /// The CPUs of its agents and of its receive side; absent: shared with the other nodes.
    pub(crate) cpus: Option<Vec<usize>>,
}

impl Node {
    /// A node with its NIC on the fabric. `mtu` is that of its links, unless its settings say
    /// another.
    pub(crate) fn build(
        number: usize,
        spec: &LabNode,
        fabric: &mut Fabric,
        families: &'static [IpFamily],
        mtu: u32,
    ) -> io::Result<Self> {
        let address = addresses::node(number);
        let mtu = spec.settings.mtu.unwrap_or(mtu);
        let mut node = Self {
            spec: spec.clone(),
            mtu,
            number,
            stack: Stack::create(&spec.name, families)?,
            addresses: vec![Ipv4Addr::LOCALHOST, address],
            cpus: None,
        };
        node.stack.forward()?;
        fabric.plug(&spec.zone, &format!("n{number}"), &node.stack.namespace, node.capacity())?;
        node.nic()?;
        Ok(node)
    }

    /// The capacity of its NIC.
    pub(crate) fn capacity(&self) -> LinkCapacity {
        LinkCapacity { bits_per_s: self.spec.link_bits_per_s, mtu: self.mtu }
    }

    fn nic(&mut self) -> io::Result<()> {
        let mtu = self.mtu;
        let netlink = &mut self.stack.netlink;
        netlink.set_mtu("eth0", mtu)?;
        if let Some(bits_per_s) = self.spec.link_bits_per_s {
            netlink.shape("eth0", bits_per_s, mtu)?;
        }
        netlink.set_up("eth0")?;
        let (own, prefix) = (addresses::node(self.number), addresses::FABRIC.prefix);
        self.stack.add_address("eth0", own, prefix)?;
        // A local client's packet to a Service needs some route before its address is translated.
        let services = addresses::SERVICES;
        self.stack.add_route((services.base, services.prefix), None, Some("eth0"))
    }

    /// Routes to the pods behind the other nodes.
    pub(crate) fn route_to_others(&mut self, nodes: usize) -> io::Result<()> {
        for other in (0..nodes).filter(|other| *other != self.number) {
            let pods = addresses::behind(other);
            let through = Some(addresses::node(other));
            self.stack.add_route((pods.base, pods.prefix), through, None)?;
        }
        Ok(())
    }

    /// An address of the node's own on one of its links.
    pub(crate) fn add_address(
        &mut self,
        link: &str,
        address: Ipv4Addr,
        prefix: u8,
    ) -> io::Result<()> {
        self.stack.add_address(link, address, prefix)?;
        self.addresses.push(address);
        Ok(())
    }
}
