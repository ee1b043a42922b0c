//! The check of IPv6 in the lab's namespaces.

use std::io;
use std::net::Ipv4Addr;

use hopbench_model::IpFamily;
use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::programs::nft;
use crate::network::stack::{Stack, kernel_has_ipv6};
use crate::processes::tools;

pub(crate) const CHECK: Check =
    Check { name: "IPv6", needed_for: "paths with `family: ipv6`", inside: true, run };

/// A translation, as a Service has it.
const PROBE: &str = "add table ip6 probe; add chain ip6 probe pre { type nat hook prerouting \
                     priority -100; }; add rule ip6 probe pre tcp dport 80 counter dnat to fd00::1";

fn run() -> Finding {
    if !kernel_has_ipv6() {
        return Finding::limited(
            "this kernel has none (no /proc/sys/net/ipv6)",
            "start it without `ipv6.disable=1`",
        );
    }
    let tried = || -> io::Result<()> {
        let mut stack = Stack::create("probe", &IpFamily::ALL)?;
        stack.netlink.set_up("lo")?;
        stack.add_address("lo", Ipv4Addr::new(10, 0, 0, 1), 32)
    };
    if let Err(error) = tried() {
        let remedy = "see what keeps interfaces from having IPv6";
        return Finding::limited(format!("no address in a namespace: {error}"), remedy);
    }
    if !translates() {
        return Finding::limited(
            "addresses, but no translation (nftables, table ip6): no Services and sidecars by IPv6",
            "`modprobe nft_chain_nat nft_nat`",
        );
    }
    Finding::works("addresses, and their translation")
}

/// Whether addresses of IPv6 can be translated.
pub(crate) fn translates() -> bool {
    let Some(nft) = tools::find("nft") else { return false };
    // Outside of the lab's sandbox an ordinary user cannot tell.
    nft::set(&nft, PROBE).map_or(true, |output| output.status.success())
}
