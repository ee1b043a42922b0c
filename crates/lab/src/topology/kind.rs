//! A network kind: how a pod is attached, and what follows from that for its traffic.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;

use super::addresses::{Subnet, Subnets};
use super::fabric::Fabric;
use super::node::Node;
use crate::network::stack::Stack;

/// A way to attach a pod to the network.
///
/// To add one: a file in `topology/kinds/` and a line in [`KINDS`](crate::KINDS).
pub trait NetworkKind: fmt::Debug + Sync {
    /// Its name in scenarios.
    fn name(&self) -> &'static str;

    /// A line about it.
    fn summary(&self) -> &'static str;

    /// How its pods reach the fabric. Routes, counters and Services follow from this.
    fn reach(&self) -> Reach;

    /// Bytes that its pods' packets must leave free for headers that are added on the way.
    fn header_bytes(&self) -> u32 {
        0
    }

    /// Makes the nodes ready for pods of this kind. It is called once, before the first pod, with
    /// all nodes of the lab. `subnets` are those of this kind.
    ///
    /// # Errors
    /// A refusal of the kernel.
    fn prepare(&self, _nodes: &mut [Node], _subnets: Subnets) -> io::Result<()> {
        Ok(())
    }

    /// Gives a pod its interface, address and routes.
    ///
    /// # Errors
    /// A refusal of the kernel.
    fn attach(&self, site: &mut Site<'_>) -> io::Result<()>;
}

/// How pods reach the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// They are in the node's own namespace.
    Node,
    /// Through the node's IP stack, which also translates the addresses of Services for them.
    Routed {
        /// The bridge that the pods of one node share: their traffic among themselves does not pass
        /// the node's stack.
        segment: Option<&'static str>,
        /// The tunnel device through which other nodes send to these pods.
        tunnel: Option<&'static str>,
    },
    /// On the node's NIC, past its stack. Pods of one node reach each other, and never their own
    /// node.
    SharedNic,
    /// By a NIC of their own, past the node.
    OwnNic,
}

impl Reach {
    /// Whether the pods' traffic passes the node's IP stack.
    pub fn is_routed(self) -> bool {
        matches!(self, Self::Node | Self::Routed { .. })
    }

    /// Whether the pods sit on the fabric's segment themselves.
    pub fn is_on_fabric(self) -> bool {
        !self.is_routed()
    }

    /// The device through which other nodes send to these pods.
    pub fn tunnel(self) -> Option<&'static str> {
        match self {
            Self::Routed { tunnel, .. } => tunnel,
            _ => None,
        }
    }

    /// The bridge that these pods share on a node.
    pub fn segment(self) -> Option<&'static str> {
        match self {
            Self::Routed { segment, .. } => segment,
            _ => None,
        }
    }
}

/// The place at which a pod is about to be attached.
#[derive(Debug)]
pub struct Site<'a> {
    /// The switches between the nodes.
    pub(crate) fabric: &'a mut Fabric,
    /// The pod's node.
    pub(crate) node: &'a mut Node,
    /// The pod's namespace.
    pub(crate) pod: &'a mut Stack,
    /// The pod's address.
    pub(crate) address: Ipv4Addr,
    /// The addresses of this kind's pods behind the node.
    pub(crate) subnet: Subnet,
    /// The pod's number in the lab. It makes names of links unique.
    pub(crate) number: usize,
    /// Nodes of the lab.
    pub(crate) nodes: usize,
}
