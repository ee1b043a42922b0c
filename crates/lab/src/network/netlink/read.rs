//! The properties and counters of links, as the kernel tells them.

use std::io;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkInfo as Info, LinkMessage};

use super::socket::Netlink;

/// The traffic of a link since it was made. In a pair, one end receives what the other sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkCounters {
    /// Bytes received, with Ethernet headers.
    pub rx_bytes: u64,
    /// Bytes sent, with Ethernet headers.
    pub tx_bytes: u64,
    /// Packets received; one that the kernel merged counts once.
    pub rx_packets: u64,
    /// Packets sent; one that the kernel is yet to cut counts once.
    pub tx_packets: u64,
    /// Packets received and thrown away.
    pub rx_dropped: u64,
    /// Packets that could not be sent. Those that a shaper drops are not among them.
    pub tx_dropped: u64,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkInfo {
    /// Its number in the namespace.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its kind, `veth`; `None` for one that no driver of virtual links made, like `lo`.
    pub kind: Option<String>,
    /// Its MTU, bytes.
    pub mtu_bytes: u32,
    /// The number of the bridge that it is a port of.
    pub master: Option<u32>,
    /// Its hardware address, six bytes for Ethernet.
    pub mac: Vec<u8>,
    /// Whether it is switched on.
    pub up: bool,
    /// The largest packet that may be handed to it to be cut (GSO), bytes.
    pub gso_max_bytes: u32,
    /// The largest packet that its received ones are merged to (GRO), bytes; 0: the kernel does not
    /// say.
    pub gro_max_bytes: u32,
}

impl Netlink {
    /// All links, in the order of their numbers.
    ///
    /// # Errors
    /// An answer that cannot be read.
    pub fn links(&mut self) -> io::Result<Vec<LinkInfo>> {
        let answers =
            self.dump("list links", RouteNetlinkMessage::GetLink(LinkMessage::default()))?;
        let mut links: Vec<LinkInfo> = answers.iter().filter_map(message).map(info).collect();
        links.sort_by_key(|link| link.index);
        Ok(links)
    }

    /// A link, as the kernel has it.
    ///
    /// # Errors
    /// A link that is not there.
    pub fn look(&mut self, link: &str) -> io::Result<LinkInfo> {
        Ok(info(&self.link(link)?))
    }

    /// The counters of a link.
    ///
    /// # Errors
    /// A link that is not there.
    pub fn counters(&mut self, link: &str) -> io::Result<LinkCounters> {
        let found = self.link(link)?;
        let counted = found.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Stats64(s) => Some(LinkCounters {
                rx_bytes: s.rx_bytes,
                tx_bytes: s.tx_bytes,
                rx_packets: s.rx_packets,
                tx_packets: s.tx_packets,
                rx_dropped: s.rx_dropped,
                tx_dropped: s.tx_dropped,
            }),
            _ => None,
        });
        counted.ok_or_else(|| {
            io::Error::other(format!(
                "cannot read counters of link {link} in namespace {}: it has none",
                self.namespace
            ))
        })
    }

    /// A link's hardware address.
    ///
    /// # Errors
    /// A link that is not there or has none of six bytes.
    pub fn mac(&mut self, link: &str) -> io::Result<[u8; 6]> {
        let found = info(&self.link(link)?);
        found.mac.try_into().map_err(|mac| {
            io::Error::other(format!(
                "link {link} in namespace {} has no Ethernet address but {mac:?}",
                self.namespace
            ))
        })
    }

    /// The number of a link.
    ///
    /// # Errors
    /// A link that is not there.
    pub fn index(&mut self, link: &str) -> io::Result<u32> {
        Ok(self.link(link)?.header.index)
    }

    fn link(&mut self, name: &str) -> io::Result<LinkMessage> {
        let mut question = LinkMessage::default();
        question.attributes = vec![LinkAttribute::IfName(name.to_owned())];
        let what = format!("find link {name}");
        let answers = self.get(&what, RouteNetlinkMessage::GetLink(question))?;
        let found = answers.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(link) => Some(link),
            _ => None,
        });
        found.ok_or_else(|| {
            io::Error::other(format!("cannot {what} in namespace {}: no answer", self.namespace))
        })
    }
}

fn message(answer: &RouteNetlinkMessage) -> Option<&LinkMessage> {
    match answer {
        RouteNetlinkMessage::NewLink(link) => Some(link),
        _ => None,
    }
}

fn info(link: &LinkMessage) -> LinkInfo {
    let mut info = LinkInfo {
        index: link.header.index,
        name: String::new(),
        kind: None,
        mtu_bytes: 0,
        master: None,
        mac: vec![],
        gso_max_bytes: 0,
        gro_max_bytes: 0,
        up: link.header.flags.contains(LinkFlags::Up),
    };
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::IfName(name) => info.name.clone_from(name),
            LinkAttribute::GsoMaxSize(bytes) => info.gso_max_bytes = *bytes,
            LinkAttribute::GroMaxSize(bytes) => info.gro_max_bytes = *bytes,
            LinkAttribute::Mtu(mtu) => info.mtu_bytes = *mtu,
            LinkAttribute::Controller(master) => info.master = Some(*master),
            LinkAttribute::Address(mac) => info.mac.clone_from(mac),
            LinkAttribute::LinkInfo(parts) => {
                info.kind = parts.iter().find_map(|part| match part {
                    Info::Kind(kind) => Some(kind.to_string()),
                    _ => None,
                });
            }
            _ => {}
        }
    }
    info
}
