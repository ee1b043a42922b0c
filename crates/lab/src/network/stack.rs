//! A network namespace of the lab with the means to change it.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use hopbench_model::IpFamily;

use crate::network::families::{net_of_family, of_family};
use crate::network::namespace::Namespace;
use crate::network::netlink::{Layout, Netlink};

/// The network stack of a node, of a pod or of the fabric.
#[derive(Debug)]
pub struct Stack {
    pub(crate) namespace: Namespace,
    pub(crate) netlink: Netlink,
    families: &'static [IpFamily],
}

/// The kernel parameters of every namespace of the lab.
const SYSCTLS: &[(&str, &str)] = &[
    // The way there and the way back may differ, as in a cluster.
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    // A node that forwards out of the link that a packet came from must not teach the sender
    // another way.
    ("net.ipv4.conf.all.send_redirects", "0"),
    ("net.ipv4.conf.default.send_redirects", "0"),
    ("net.ipv4.conf.all.accept_redirects", "0"),
    ("net.ipv4.conf.default.accept_redirects", "0"),
    // Only group 0 is sure to be mapped in a rootless lab.
    ("net.ipv4.ping_group_range", "0 0"),
];

/// Those of a namespace without IPv6: nothing but the trials' own packets may move the counters
/// that the proof looks at.
const WITHOUT_IPV6: &[(&str, &str)] =
    &[("net.ipv6.conf.all.disable_ipv6", "1"), ("net.ipv6.conf.default.disable_ipv6", "1")];
/// Those of one with IPv6: all addresses are given, at once, and nobody is asked for more.
const WITH_IPV6: &[(&str, &str)] = &[
    ("net.ipv6.conf.all.disable_ipv6", "0"),
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    ("net.ipv6.conf.all.accept_ra", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.router_solicitations", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.default.accept_redirects", "0"),
];

impl Stack {
    /// A new one for traffic of these families, with nothing in it but `lo`.
    pub(crate) fn create(name: &str, families: &'static [IpFamily]) -> io::Result<Self> {
        let namespace = Namespace::create(name)?;
        let of_ipv6 = match (families.contains(&IpFamily::Ipv6), kernel_has_ipv6()) {
            (true, _) => WITH_IPV6,
            (false, true) => WITHOUT_IPV6,
            (false, false) => &[],
        };
        for (key, value) in SYSCTLS.iter().chain(of_ipv6) {
            namespace.set_sysctl(key, value)?;
        }
        let netlink = namespace.netlink()?;
        Ok(Self { namespace, netlink, families })
    }

    /// That of a namespace that is there, for traffic of IPv4.
    pub(crate) fn of(namespace: Namespace, netlink: Netlink) -> Self {
        Self { namespace, netlink, families: &[IpFamily::Ipv4] }
    }

    /// The address to listen on for all of its traffic.
    pub(crate) fn wildcard(&self) -> IpAddr {
        let widest = if self.has_ipv6() { IpFamily::Ipv6 } else { IpFamily::Ipv4 };
        widest.wildcard()
    }

    fn has_ipv6(&self) -> bool {
        self.families.contains(&IpFamily::Ipv6)
    }

    /// Lets it forward packets.
    pub(crate) fn forward(&self) -> io::Result<()> {
        self.families.iter().try_for_each(|family| {
            let key = match family {
                IpFamily::Ipv4 => "net.ipv4.ip_forward",
                IpFamily::Ipv6 => "net.ipv6.conf.all.forwarding",
            };
            self.namespace.set_sysctl(key, "1")
        })
    }

    /// [`Netlink::add_address`] in every family.
    pub(crate) fn add_address(
        &mut self,
        link: &str,
        address: Ipv4Addr,
        prefix: u8,
    ) -> io::Result<()> {
        self.families.iter().try_for_each(|family| {
            let (address, prefix) = net_of_family((address, prefix), *family);
            self.netlink.add_address(link, address, prefix)
        })
    }

    /// [`Netlink::add_route`] in every family.
    pub(crate) fn add_route(
        &mut self,
        to: (Ipv4Addr, u8),
        gateway: Option<Ipv4Addr>,
        link: Option<&str>,
    ) -> io::Result<()> {
        self.families.iter().try_for_each(|family| {
            let gateway = gateway.map(|gateway| of_family(gateway, *family));
            self.netlink.add_route(net_of_family(to, *family), gateway, link)
        })
    }

    /// [`Netlink::add_neighbour`] in every family.
    pub(crate) fn add_neighbour(
        &mut self,
        link: &str,
        address: Ipv4Addr,
        mac: [u8; 6],
    ) -> io::Result<()> {
        self.families.iter().try_for_each(|family| {
            self.netlink.add_neighbour(link, of_family(address, *family), mac)
        })
    }

    /// Addresses and routes of a link, for runtimes, which take them over.
    pub(crate) fn layout(&mut self, link: &str) -> io::Result<Layout> {
        self.netlink.layout(link, self.has_ipv6())
    }
}

/// Whether the kernel knows IPv6 at all.
pub(crate) fn kernel_has_ipv6() -> bool {
    std::path::Path::new("/proc/sys/net/ipv6").exists()
}
