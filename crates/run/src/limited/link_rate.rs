//! The rate of the slowest link on the way, and how much payload it carries.

use std::collections::BTreeMap;

use hopbench_model::{Job, LINK_RATE_SETTING};

/// Facts about the slowest link on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRate {
    /// Rate in each direction, bits/s, Ethernet headers included; absent: not known, or no link is
    /// shaped.
    pub bits_per_s: Option<u64>,
    /// The largest packet that the ends send, bytes with its IP header; 0: not known.
    pub mtu_bytes: u32,
    /// Bytes that tunnels add to each packet on the link.
    pub tunnel_bytes: u32,
    /// Whether the ends talk over IPv6.
    pub v6: bool,
}

const ETHERNET: f64 = 14.0;
/// With the time stamps that Linux sends unless it is told not to.
const TCP: f64 = 32.0;
const UDP: f64 = 8.0;

impl LinkRate {
    /// The payload that the link can carry for a job in one direction, bits/s: full packets over
    /// TCP, datagrams of the job's own size. Acknowledgements of the other direction are not
    /// counted.
    pub(crate) fn payload_bits_per_s(&self, job: &Job) -> Option<f64> {
        let ip = if self.v6 { 40.0 } else { 20.0 };
        let outside = ETHERNET + f64::from(self.tunnel_bytes);
        let mtu = f64::from(self.mtu_bytes);
        let share = if job.kind().is_one_way_udp() {
            let size = job.size()?.0 as f64;
            // Fragments hold multiples of 8 bytes; the UDP header is in the first.
            let room = ((mtu - ip) / 8.0).floor() * 8.0;
            let packets = if size + UDP + ip <= mtu { 1.0 } else { ((size + UDP) / room).ceil() };
            size / (size + UDP + packets * (ip + outside))
        } else {
            (mtu - ip - TCP) / (mtu + outside)
        };
        (share > 0.0 && share < 1.0).then_some(self.bits_per_s? as f64 * share)
    }

    /// What a record says of it; what is not known is absent.
    pub(crate) fn settings(&self) -> BTreeMap<String, String> {
        let mtu = Some(self.mtu_bytes).filter(|bytes| *bytes > 0);
        let numbers = [
            (LINK_RATE_SETTING, self.bits_per_s),
            ("link_mtu_bytes", mtu.map(u64::from)),
            ("tunnel_bytes", mtu.map(|_| u64::from(self.tunnel_bytes))),
        ];
        numbers
            .into_iter()
            .filter_map(|(name, number)| Some((name.to_owned(), number?.to_string())))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::fixture;
    use serde_json::json;

    use super::*;

    fn job(workload: &str, size: &str) -> Job {
        fixture::job(workload, json!({"size": size}))
    }

    const GIGABIT: LinkRate =
        LinkRate { bits_per_s: Some(1_000_000_000), mtu_bytes: 1500, tunnel_bytes: 0, v6: false };

    #[test]
    fn payload_is_what_headers_leave() {
        let near = |link: LinkRate, job: &Job, expected: f64| {
            let got = link.payload_bits_per_s(job).unwrap();
            assert!((got - expected).abs() < 1.0, "{got} is not {expected}");
        };
        near(GIGABIT, &job("stream", "128KiB"), 1e9 * 1448.0 / 1514.0);
        // VXLAN: 50 bytes outside, and an MTU that is as much smaller.
        near(
            LinkRate { mtu_bytes: 1450, tunnel_bytes: 50, ..GIGABIT },
            &job("stream", "1B"),
            1e9 * 1398.0 / 1514.0,
        );
        near(LinkRate { v6: true, ..GIGABIT }, &job("http", "1B"), 1e9 * 1428.0 / 1514.0);
        near(GIGABIT, &job("udp", "1472B"), 1e9 * 1472.0 / 1514.0);
        near(GIGABIT, &job("udp", "16B"), 1e9 * 16.0 / 58.0);
        // Three fragments of at most 1480 bytes.
        near(GIGABIT, &job("udp", "4000B"), 1e9 * 4000.0 / 4110.0);
    }

    #[test]
    fn a_record_says_what_is_known() {
        let said = |link: LinkRate| {
            link.settings().into_iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>()
        };
        let tunnel = LinkRate { mtu_bytes: 1450, tunnel_bytes: 50, ..GIGABIT };
        assert_eq!(
            said(tunnel),
            ["link_bits_per_s=1000000000", "link_mtu_bytes=1450", "tunnel_bytes=50"]
        );
        let plain = LinkRate { bits_per_s: None, ..GIGABIT };
        assert_eq!(said(plain), ["link_mtu_bytes=1500", "tunnel_bytes=0"]);
        assert!(said(LinkRate { mtu_bytes: 0, ..plain }).is_empty());
    }

    #[test]
    fn a_link_without_a_rate_or_an_mtu_carries_nobody_knows_what() {
        assert_eq!(
            LinkRate { bits_per_s: None, ..GIGABIT }.payload_bits_per_s(&job("stream", "1B")),
            None
        );
        assert_eq!(
            LinkRate { mtu_bytes: 0, ..GIGABIT }.payload_bits_per_s(&job("stream", "1B")),
            None
        );
    }
}
