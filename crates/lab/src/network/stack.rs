//! A network namespace of the lab with the means to change it.

use std::io;

use crate::network::namespace::Namespace;
use crate::network::netlink::Netlink;

/// The network stack of a node, of a pod or of the fabric.
#[derive(Debug)]
pub struct Stack {
    pub(crate) namespace: Namespace,
    pub(crate) netlink: Netlink,
}

/// The kernel parameters of every namespace of the lab.
const SYSCTLS: &[(&str, &str)] = &[
    // Nothing but the trials' own packets may move the counters that the proof looks at.
    ("net.ipv6.conf.all.disable_ipv6", "1"),
    ("net.ipv6.conf.default.disable_ipv6", "1"),
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

impl Stack {
    /// A new one, with nothing in it but `lo`.
    pub(crate) fn create(name: &str) -> io::Result<Self> {
        let namespace = Namespace::create(name)?;
        let sysctls = SYSCTLS.iter().filter(|(key, _)| !key.starts_with("net.ipv6") || has_ipv6());
        for (key, value) in sysctls {
            namespace.set_sysctl(key, value)?;
        }
        let netlink = namespace.netlink()?;
        Ok(Self { namespace, netlink })
    }
}

/// Whether the kernel has IPv6 at all.
fn has_ipv6() -> bool {
    std::path::Path::new("/proc/sys/net/ipv6").exists()
}
