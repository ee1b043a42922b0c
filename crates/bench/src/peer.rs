//! The registry of the programs that ours is measured against, one file each.

pub(crate) mod http;
pub(crate) mod iperf3;
pub(crate) mod openssl;
pub(crate) mod pacing;
pub(crate) mod plain;
pub(crate) mod qperf;
pub(crate) mod quick;
pub(crate) mod sockperf;

use crate::bench::Peer;
use crate::bench::target::nginx;
use http::{fortio, ghz, h2load, hey, k6, oha, wrk};

/// Every program that some row needs, in the order of the report.
pub(crate) const PEERS: &[&Peer] = &[
    &iperf3::PEER,
    &openssl::PEER,
    &qperf::PEER,
    &sockperf::PEER,
    &wrk::PEER,
    &hey::PEER,
    &oha::PEER,
    &k6::PEER,
    &h2load::PEER,
    &fortio::PEER,
    &ghz::PEER,
    &nginx::PEER,
    &quick::PEER,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Version, word_after};

    #[test]
    fn versions_are_cut_out_of_what_the_tools_print() {
        let cases: &[(&Peer, &str, &str)] = &[
            (&iperf3::PEER, "iperf 3.12 (cJSON 1.7.15)\nLinux\n", "3.12"),
            (
                &openssl::PEER,
                "OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)\n",
                "3.0.19",
            ),
            (&qperf::PEER, "qperf 0.4.11\n", "0.4.11"),
            (
                &sockperf::PEER,
                "sockperf, version 3.7-no.git\n   compiled 2021-08-23 12:14:23\n",
                "3.7-no.git",
            ),
            (
                &wrk::PEER,
                "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk",
                "debian/4.1.0-3+b2",
            ),
            (&oha::PEER, "oha 1.16.0\n", "1.16.0"),
            (&k6::PEER, "k6 v1.1.0 (commit/0e3fb953be, go1.24.4, linux/amd64)\n", "1.1.0"),
            (&h2load::PEER, "h2load nghttp2/1.52.0\n", "1.52.0"),
            (&fortio::PEER, "1.68.2\n", "1.68.2"),
            (&nginx::PEER, "nginx version: nginx/1.22.1\n", "1.22.1"),
        ];
        for (peer, printed, version) in cases {
            let Version::Printed(_, before) = peer.version else {
                panic!("{} prints no version", peer.name)
            };
            assert_eq!(word_after(printed, before).as_deref(), Some(*version), "{}", peer.name);
        }
    }
}
