//! Addresses, routes and neighbours.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_core::{NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::socket::Netlink;

impl Netlink {
    /// Adds an address to a link; with the link up, the addresses of its prefix are then reached
    /// over it. Nobody is asked whether another station has it.
    ///
    /// # Errors
    /// A link that is not there, an address that it has already.
    pub fn add_address(&mut self, link: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.index = self.index(link)?;
        message.header.prefix_len = prefix;
        message.attributes =
            vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        match address {
            IpAddr::V4(address) if prefix < 31 => {
                let hosts = u32::MAX >> prefix;
                let broadcast = Ipv4Addr::from(u32::from(address) | hosts);
                message.attributes.push(AddressAttribute::Broadcast(broadcast));
            }
            IpAddr::V4(_) => {}
            // An address that is being checked cannot be used meanwhile.
            IpAddr::V6(_) => message.header.flags = AddressHeaderFlags::Nodad,
        }
        let what = format!("add address {address}/{prefix} to link {link}");
        self.change(what, RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Adds a route to the addresses `to`, an address and the length of its prefix (0: everything):
    /// through `gateway`, or directly over `link`. With both, the gateway is taken to be on that
    /// link, whatever the addresses there say.
    ///
    /// # Errors
    /// A link that is not there or down, a gateway that no link reaches, a route that is there
    /// already.
    pub fn add_route(
        &mut self,
        to: (IpAddr, u8),
        gateway: Option<IpAddr>,
        link: Option<&str>,
    ) -> io::Result<()> {
        let (address, prefix) = to;
        let mut message = RouteMessage::default();
        message.header.address_family = family(address);
        message.header.destination_prefix_length = prefix;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.kind = RouteType::Unicast;
        message.header.scope =
            if gateway.is_some() { RouteScope::Universe } else { RouteScope::Link };
        let mut what = format!("add route to {address}/{prefix}");
        if prefix > 0 {
            message.attributes.push(RouteAttribute::Destination(route_address(address)));
        }
        if let Some(gateway) = gateway {
            what += &format!(" via {gateway}");
            message.attributes.push(RouteAttribute::Gateway(route_address(gateway)));
        }
        if let Some(link) = link {
            what += &format!(" over link {link}");
            message.attributes.push(RouteAttribute::Oif(self.index(link)?));
        }
        if gateway.is_some() && link.is_some() {
            message.header.flags = RouteFlags::Onlink;
        }
        self.change(what, RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Says which station of the link has an address; nobody is asked any more.
    ///
    /// # Errors
    /// A link that is not there.
    pub fn add_neighbour(&mut self, link: &str, address: IpAddr, mac: [u8; 6]) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = family(address);
        message.header.ifindex = self.index(link)?;
        message.header.state = NeighbourState::Permanent;
        message.attributes = vec![
            NeighbourAttribute::Destination(neighbour_address(address)),
            NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
        ];
        let what = format!("add neighbour {address} to link {link}");
        self.change(what, RouteNetlinkMessage::NewNeighbour(message), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Says to which address a VXLAN link sends frames for a station. The all-zero station stands
    /// for every one that is not known, and may have several.
    ///
    /// # Errors
    /// A link that is not there or is not a VXLAN.
    pub fn add_fdb(&mut self, link: &str, mac: [u8; 6], to: Ipv4Addr) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Bridge;
        message.header.ifindex = self.index(link)?;
        message.header.state = NeighbourState::Permanent;
        message.header.flags = NeighbourFlags::Own;
        message.attributes = vec![
            NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
            NeighbourAttribute::Destination(NeighbourAddress::Inet(to)),
        ];
        let what = format!("send frames of link {link} to {to}");
        self.change(what, RouteNetlinkMessage::NewNeighbour(message), NLM_F_CREATE | NLM_F_APPEND)
    }
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

fn neighbour_address(address: IpAddr) -> NeighbourAddress {
    match address {
        IpAddr::V4(address) => NeighbourAddress::Inet(address),
        IpAddr::V6(address) => NeighbourAddress::Inet6(address),
    }
}
