//! The addresses and routes of a link, kept to be set once more.

use std::io;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressMessage, AddressScope};
use netlink_packet_route::route::{RouteAttribute, RouteMessage, RouteProtocol};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::socket::Netlink;

/// Addresses of a link, and the routes over it that somebody added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    addresses: Vec<AddressMessage>,
    routes: Vec<RouteMessage>,
}

impl Netlink {
    /// Addresses and routes of a link as they are now, of IPv4, or `with_ipv6` of both. Those that
    /// the kernel gives itself are left out.
    ///
    /// # Errors
    /// A link that is not there.
    pub fn layout(&mut self, link: &str, with_ipv6: bool) -> io::Result<Layout> {
        let mut layout = self.layout_of(link, AddressFamily::Inet)?;
        if with_ipv6 {
            let more = self.layout_of(link, AddressFamily::Inet6)?;
            layout.addresses.extend(more.addresses);
            layout.routes.extend(more.routes);
        }
        Ok(layout)
    }

    fn layout_of(&mut self, link: &str, family: AddressFamily) -> io::Result<Layout> {
        let index = self.index(link)?;
        let mut question = AddressMessage::default();
        question.header.family = family;
        let addresses = self
            .dump(format!("list addresses of {link}"), RouteNetlinkMessage::GetAddress(question))?;
        let addresses = addresses.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewAddress(address)
                if address.header.index == index
                    && address.header.scope == AddressScope::Universe =>
            {
                Some(address)
            }
            _ => None,
        });
        let mut question = RouteMessage::default();
        question.header.address_family = family;
        let routes =
            self.dump(format!("list routes over {link}"), RouteNetlinkMessage::GetRoute(question))?;
        let mut routes: Vec<RouteMessage> = routes
            .into_iter()
            .filter_map(|answer| match answer {
                // Those of the kernel come with the addresses.
                RouteNetlinkMessage::NewRoute(route)
                    if route.header.protocol != RouteProtocol::Kernel =>
                {
                    Some(route)
                }
                _ => None,
            })
            .filter(|route| route.attributes.contains(&RouteAttribute::Oif(index)))
            .collect();
        // A gateway must be reached before it can be one.
        routes.sort_by_key(|route| {
            route.attributes.iter().any(|part| matches!(part, RouteAttribute::Gateway(_)))
        });
        Ok(Layout { addresses: addresses.collect(), routes })
    }

    /// Makes addresses and routes of a link what they were; those that are still there stay.
    ///
    /// # Errors
    /// A link that is gone or down.
    pub fn restore(&mut self, layout: &Layout) -> io::Result<()> {
        for address in &layout.addresses {
            let message = RouteNetlinkMessage::NewAddress(address.clone());
            self.change("restore an address", message, NLM_F_CREATE | NLM_F_REPLACE)?;
        }
        for route in &layout.routes {
            let message = RouteNetlinkMessage::NewRoute(route.clone());
            self.change("restore a route", message, NLM_F_CREATE | NLM_F_REPLACE)?;
        }
        Ok(())
    }
}
