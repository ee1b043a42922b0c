//! Counters of TCP, UDP and ICMP.

mod fields;

use hopbench_model::Reading;

use self::fields::{FIELDS, Field};
use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, ValueDef};

const SNMP_PATH: &str = "/proc/thread-self/net/snmp";
const NETSTAT_PATH: &str = "/proc/thread-self/net/netstat";
const SNMP6_PATH: &str = "/proc/thread-self/net/snmp6";

const VALUES: [ValueDef; FIELDS.len()] = {
    let mut values = [FIELDS[0].def; FIELDS.len()];
    let mut n = 0;
    while n < FIELDS.len() {
        values[n] = FIELDS[n].def;
        n += 1;
    }
    values
};

/// Protocol counters of the opener's network namespace, from `/proc/net/snmp`, `netstat` and, where
/// the kernel has IPv6, `snmp6`.
pub(crate) const METER: Meter = Meter {
    name: "snmp",
    summary: "segments, datagrams, retransmissions, drops and errors of TCP, UDP and ICMP",
    values: &VALUES,
    open: |_| {
        let mut snmp = ProcFile::open(SNMP_PATH)?;
        let mut netstat = ProcFile::open(NETSTAT_PATH)?;
        let mut snmp6 = ProcFile::open(SNMP6_PATH).ok();
        Ok(Box::new(move |into: &mut Reading| {
            for (path, file) in [(SNMP_PATH, &mut snmp), (NETSTAT_PATH, &mut netstat)] {
                parse_pairs(&file.text()?, into)
                    .ok_or_else(|| unexpected(path, "protocol counters"))?;
            }
            if let Some(file) = &mut snmp6 {
                parse_list(&file.text()?, into);
            }
            Ok(())
        }))
    },
};

/// Two lines a group: `Tcp: InSegs OutSegs` and `Tcp: 4876 3549`.
fn parse_pairs(text: &str, into: &mut Reading) -> Option<()> {
    let mut lines = text.lines();
    while let Some(names) = lines.next() {
        let (group, names) = names.split_once(':')?;
        let (same_group, numbers) = lines.next()?.split_once(':')?;
        if group != same_group {
            return None;
        }
        let mut wanted: Vec<&Field> = FIELDS.iter().filter(|field| field.group == group).collect();
        if wanted.is_empty() {
            continue;
        }
        for (name, number) in names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace()) {
            if let Some(n) = wanted.iter().position(|field| field.name == name) {
                let field = wanted.swap_remove(n);
                into.insert(field.def.name.to_owned(), number.parse::<u64>().ok()? as f64);
            }
        }
    }
    Some(())
}

/// A line a counter: `Udp6InDatagrams                  7`. What cannot be read is left out.
fn parse_list(text: &str, into: &mut Reading) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(name), Some(number)) = (words.next(), words.next()) else {
            continue;
        };
        let field = FIELDS.iter().find(|field| name.strip_prefix(field.group) == Some(field.name));
        if let (Some(field), Ok(number)) = (field, number.parse::<u64>()) {
            into.insert(field.def.name.to_owned(), number as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_by_name_not_by_place() {
        let text = "\
Ip: Forwarding InSegs
Ip: 2 64
Tcp: RtoAlgorithm MaxConn RetransSegs EstabResets OutSegs InSegs New
Tcp: 1 -1 4 38 3549 4876 9
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors
Udp: 111 1 2 112 3 5
UdpLite: InDatagrams NoPorts
UdpLite: 77 78
";
        let mut reading = Reading::new();
        parse_pairs(text, &mut reading).unwrap();
        let expected = [
            ("tcp_estab_resets_total", 38.0),
            ("tcp_in_segs_total", 4876.0),
            ("tcp_out_segs_total", 3549.0),
            ("tcp_retrans_segs_total", 4.0),
            ("udp_in_datagrams_total", 111.0),
            ("udp_in_errors_total", 2.0),
            ("udp_no_ports_total", 1.0),
            ("udp_out_datagrams_total", 112.0),
            ("udp_rcvbuf_errors_total", 3.0),
            ("udp_sndbuf_errors_total", 5.0),
        ];
        assert_eq!(reading, expected.map(|(key, value)| (key.to_owned(), value)).into());
    }

    #[test]
    fn netstat_has_the_same_form() {
        let text = "\
TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPTimeouts TCPAbortOnMemory TCPOther
TcpExt: 1 2 3 4 5 6
IpExt: InOctets
IpExt: 98890983
";
        let mut reading = Reading::new();
        parse_pairs(text, &mut reading).unwrap();
        let expected = [
            ("tcp_abort_on_memory_total", 5.0),
            ("tcp_listen_drops_total", 3.0),
            ("tcp_listen_overflows_total", 2.0),
            ("tcp_syncookies_sent_total", 1.0),
            ("tcp_timeouts_total", 4.0),
        ];
        assert_eq!(reading, expected.map(|(key, value)| (key.to_owned(), value)).into());
    }

    #[test]
    fn snmp6_is_a_list() {
        let text = "Ip6InReceives                   \t1\nUdp6InDatagrams                 \t7\n\
                    Udp6RcvbufErrors 2\nUdpLite6InDatagrams 5\nIcmp6InMsgs x\nIcmp6OutMsgs 3\n";
        let mut reading = Reading::new();
        parse_list(text, &mut reading);
        let expected = [
            ("icmp6_out_msgs_total", 3.0),
            ("udp6_in_datagrams_total", 7.0),
            ("udp6_rcvbuf_errors_total", 2.0),
        ];
        assert_eq!(reading, expected.map(|(key, value)| (key.to_owned(), value)).into());
    }

    #[test]
    fn broken_pairs_are_refused() {
        for bad in ["Tcp\n", "Tcp: InSegs\n", "Tcp: InSegs\nUdp: 1\n", "Tcp: InSegs\nTcp: x\n"] {
            assert!(parse_pairs(bad, &mut Reading::new()).is_none(), "{bad:?} was accepted");
        }
    }
}
