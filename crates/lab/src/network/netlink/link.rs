//! The links of a namespace: making and changing them.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoMacVlan, InfoVeth, InfoVxlan, LinkAttribute, LinkFlags, LinkInfo,
    LinkMessage, MacVlanMode,
};

use super::socket::Netlink;
use crate::network::namespace::Namespace;

/// Longest name of a link, bytes.
const LONGEST_NAME_BYTES: usize = 15;

impl Netlink {
    /// Adds a pair of links that are joined: `name` here, `peer_name` in `peer_namespace`. Both are
    /// down.
    ///
    /// # Errors
    /// A name that is taken or too long, a kernel without veth.
    pub fn add_veth(
        &mut self,
        name: &str,
        peer_name: &str,
        peer_namespace: &Namespace,
    ) -> io::Result<()> {
        let what = format!("add veth {name} with {peer_name} in {}", peer_namespace.name());
        let mut peer = LinkMessage::default();
        peer.attributes = vec![named(peer_name)?, within(peer_namespace)];
        self.add(what, name, InfoKind::Veth, Some(InfoData::Veth(InfoVeth::Peer(peer))), vec![])
    }

    /// Adds a bridge without ports. It is down.
    ///
    /// # Errors
    /// A name that is taken or too long, a kernel without bridges.
    pub fn add_bridge(&mut self, name: &str) -> io::Result<()> {
        self.add(format!("add bridge {name}"), name, InfoKind::Bridge, None, vec![])
    }

    /// Adds one end of a VXLAN network with the number `vni`, from `local` over the link `dev`, to
    /// UDP port `port`. It learns nothing: whom to send to is said with [`Self::add_fdb`].
    ///
    /// # Errors
    /// A name that is taken or too long, a link that is not there, a kernel without VXLAN.
    pub fn add_vxlan(
        &mut self,
        name: &str,
        vni: u32,
        local: Ipv4Addr,
        dev: &str,
        port: u16,
    ) -> io::Result<()> {
        let over = self.index(dev)?;
        let data = vec![
            InfoVxlan::Id(vni),
            InfoVxlan::Link(over),
            InfoVxlan::Local(local),
            InfoVxlan::Port(port),
            InfoVxlan::Learning(false),
        ];
        let what = format!("add vxlan {name} over {dev}");
        self.add(what, name, InfoKind::Vxlan, Some(InfoData::Vxlan(data)), vec![])
    }

    /// Adds a macvlan, in bridge mode, of the link `parent`: it appears as `name` in `into`. It is
    /// down.
    ///
    /// # Errors
    /// A name that is taken or too long, a link that is not there, a kernel without macvlan.
    pub fn add_macvlan(&mut self, name: &str, parent: &str, into: &Namespace) -> io::Result<()> {
        let over = LinkAttribute::Link(self.index(parent)?);
        let data = InfoData::MacVlan(vec![InfoMacVlan::Mode(MacVlanMode::Bridge)]);
        let what = format!("add macvlan {name} of {parent} to {}", into.name());
        self.add(what, name, InfoKind::MacVlan, Some(data), vec![over, within(into)])
    }

    /// Gives a link another name. It must be down.
    ///
    /// # Errors
    /// A link that is not there or up, a name that is taken or too long.
    pub fn rename(&mut self, name: &str, new: &str) -> io::Result<()> {
        let attributes = vec![named(new)?];
        self.set(name, &format!("rename link {name} to {new}"), attributes)
    }

    /// Switches a link on.
    ///
    /// # Errors
    /// A link that is not there.
    pub fn set_up(&mut self, name: &str) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = self.index(name)?;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.change(format!("set link {name} up"), RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Sets a link's MTU, bytes.
    ///
    /// # Errors
    /// A link that is not there, an MTU that its kind does not take.
    pub fn set_mtu(&mut self, name: &str, mtu_bytes: u32) -> io::Result<()> {
        self.set(
            name,
            &format!("set the MTU of link {name} to {mtu_bytes}"),
            vec![LinkAttribute::Mtu(mtu_bytes)],
        )
    }

    /// Makes a link a port of the bridge `master`.
    ///
    /// # Errors
    /// A link or bridge that is not there.
    pub fn set_master(&mut self, name: &str, master: &str) -> io::Result<()> {
        let bridge = self.index(master)?;
        self.set(
            name,
            &format!("make link {name} a port of {master}"),
            vec![LinkAttribute::Controller(bridge)],
        )
    }

    fn add(
        &mut self,
        what: String,
        name: &str,
        kind: InfoKind,
        data: Option<InfoData>,
        more: Vec<LinkAttribute>,
    ) -> io::Result<()> {
        let mut info = vec![LinkInfo::Kind(kind)];
        info.extend(data.map(LinkInfo::Data));
        let mut message = LinkMessage::default();
        message.attributes = vec![named(name)?, LinkAttribute::LinkInfo(info)];
        message.attributes.extend(more);
        self.change(what, RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    fn set(&mut self, name: &str, what: &str, attributes: Vec<LinkAttribute>) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = self.index(name)?;
        message.attributes = attributes;
        self.change(what, RouteNetlinkMessage::SetLink(message), 0)
    }
}

/// A link's name, if it can be one: what the kernel says to a long one ("numerical result out of
/// range") helps nobody.
fn named(name: &str) -> io::Result<LinkAttribute> {
    if name.is_empty() || name.len() > LONGEST_NAME_BYTES {
        let text = format!(
            "a link cannot be called {name:?}: 1 to {LONGEST_NAME_BYTES} bytes are allowed"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(LinkAttribute::IfName(name.to_owned()))
}

fn within(namespace: &Namespace) -> LinkAttribute {
    LinkAttribute::NetNsFd(namespace.fd().as_raw_fd())
}
