//! Two namespaces.

use std::net::Ipv4Addr;

use hopbench_lab::namespace::Namespace;
use hopbench_lab::netlink::Netlink;

/// The address of `va`.
pub(crate) const A: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
/// The address of `vb`.
pub(crate) const B: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);

/// Two namespaces that have nothing to do with each other.
pub(crate) fn two() -> (Namespace, Netlink, Namespace, Netlink) {
    let [a, b] = ["a", "b"].map(|name| Namespace::create(name).expect("a namespace"));
    for namespace in [&a, &b] {
        // IPv6 sends packets of its own at times, which would be counted. A kernel without it does
        // not have the setting.
        let _ = namespace.set_sysctl("net.ipv6.conf.default.disable_ipv6", "1");
    }
    let [na, nb] = [&a, &b].map(|namespace| namespace.netlink().expect("a socket"));
    (a, na, b, nb)
}

/// The two, with a pair of links between them, `va` and `vb`, up, with an address each.
pub(crate) fn joined() -> (Namespace, Netlink, Namespace, Netlink) {
    let (a, mut na, b, mut nb) = two();
    na.add_veth("va", "vb", &b).expect("a pair");
    for (netlink, link, address) in [(&mut na, "va", A), (&mut nb, "vb", B)] {
        netlink.add_address(link, address.into(), 24).expect("an address");
        netlink.set_up(link).expect("a link");
    }
    (a, na, b, nb)
}
