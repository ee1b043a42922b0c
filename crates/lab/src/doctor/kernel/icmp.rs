//! The check of ICMP sockets.

use std::net::SocketAddr;

use hopbench_sys::{Icmp, Socket};
use hopbench_testbed::Finding;

use crate::doctor::check::Check;

pub(crate) const CHECK: Check = Check {
    name: "ICMP",
    needed_for: "ping by hand; in labs it works without",
    inside: false,
    run,
};

fn run() -> Finding {
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    match Socket::icmp(loopback, 1) {
        Ok((_, Icmp::Datagram)) => {
            Finding::works("unprivileged datagram sockets (net.ipv4.ping_group_range)")
        }
        Ok((_, Icmp::Raw)) => Finding::works("raw sockets, by privilege"),
        Err(error) => Finding::limited(
            format!("neither a datagram nor a raw socket: {error}"),
            "`sysctl net.ipv4.ping_group_range='0 2147483647'`, or CAP_NET_RAW",
        ),
    }
}
