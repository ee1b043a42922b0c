//! Counters of TCP, UDP and ICMP.

use std::io;

use hopbench_model::Reading;

use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, Source, Target, Unavailable, ValueDef};

const SNMP_PATH: &str = "/proc/thread-self/net/snmp";
const NETSTAT_PATH: &str = "/proc/thread-self/net/netstat";
const SNMP6_PATH: &str = "/proc/thread-self/net/snmp6";

/// A counter as the kernel names it (group and field; `nstat` joins them), and ours.
struct Field(&'static str, &'static str, ValueDef);

const fn total(name: &'static str, unit: &'static str, help: &'static str) -> ValueDef {
    ValueDef::total(name, unit, help)
}

/// The names stay close to the kernel's, so that its documentation can be found.
const FIELDS: &[Field] = &[
    Field(
        "Tcp",
        "InSegs",
        total("tcp_in_segs_total", "segments", "received, IPv4 and IPv6"),
    ),
    Field(
        "Tcp",
        "OutSegs",
        total("tcp_out_segs_total", "segments", "sent, IPv4 and IPv6"),
    ),
    Field(
        "Tcp",
        "RetransSegs",
        total("tcp_retrans_segs_total", "segments", "sent again"),
    ),
    Field(
        "Tcp",
        "ActiveOpens",
        total(
            "tcp_active_opens_total",
            "connections",
            "begun by this side",
        ),
    ),
    Field(
        "Tcp",
        "PassiveOpens",
        total(
            "tcp_passive_opens_total",
            "connections",
            "accepted by this side",
        ),
    ),
    Field(
        "Tcp",
        "AttemptFails",
        total(
            "tcp_attempt_fails_total",
            "connections",
            "failed before they were established",
        ),
    ),
    Field(
        "Tcp",
        "EstabResets",
        total(
            "tcp_estab_resets_total",
            "connections",
            "reset after they were established",
        ),
    ),
    Field(
        "Tcp",
        "InErrs",
        total("tcp_in_errs_total", "segments", "received broken"),
    ),
    Field(
        "Tcp",
        "OutRsts",
        total("tcp_out_rsts_total", "segments", "resets sent"),
    ),
    Field(
        "Udp",
        "InDatagrams",
        total(
            "udp_in_datagrams_total",
            "datagrams",
            "delivered to applications, IPv4",
        ),
    ),
    Field(
        "Udp",
        "OutDatagrams",
        total("udp_out_datagrams_total", "datagrams", "sent, IPv4"),
    ),
    Field(
        "Udp",
        "NoPorts",
        total(
            "udp_no_ports_total",
            "datagrams",
            "received for a port that nobody has, IPv4",
        ),
    ),
    Field(
        "Udp",
        "InErrors",
        total(
            "udp_in_errors_total",
            "datagrams",
            "received and not delivered, IPv4; full buffers included",
        ),
    ),
    Field(
        "Udp",
        "RcvbufErrors",
        total(
            "udp_rcvbuf_errors_total",
            "datagrams",
            "dropped at a full receive buffer, IPv4",
        ),
    ),
    Field(
        "Udp",
        "SndbufErrors",
        total(
            "udp_sndbuf_errors_total",
            "datagrams",
            "dropped at a full send buffer, IPv4",
        ),
    ),
    Field(
        "Icmp",
        "InMsgs",
        total("icmp_in_msgs_total", "messages", "received, IPv4"),
    ),
    Field(
        "Icmp",
        "OutMsgs",
        total("icmp_out_msgs_total", "messages", "sent, IPv4"),
    ),
    Field(
        "Icmp",
        "InDestUnreachs",
        total(
            "icmp_in_dest_unreachs_total",
            "messages",
            "destination unreachable received, IPv4",
        ),
    ),
    Field(
        "Icmp",
        "OutDestUnreachs",
        total(
            "icmp_out_dest_unreachs_total",
            "messages",
            "destination unreachable sent, IPv4",
        ),
    ),
    Field(
        "TcpExt",
        "ListenOverflows",
        total(
            "tcp_listen_overflows_total",
            "connections",
            "refused because a listener's queue was full",
        ),
    ),
    Field(
        "TcpExt",
        "ListenDrops",
        total(
            "tcp_listen_drops_total",
            "segments",
            "dropped by listeners for any reason",
        ),
    ),
    Field(
        "TcpExt",
        "TCPTimeouts",
        total("tcp_timeouts_total", "timeouts", "retransmission timeouts"),
    ),
    Field(
        "TcpExt",
        "TCPLostRetransmit",
        total(
            "tcp_lost_retransmit_total",
            "segments",
            "sent again and lost again",
        ),
    ),
    Field(
        "TcpExt",
        "TCPFastRetrans",
        total(
            "tcp_fast_retrans_total",
            "segments",
            "sent again before a timeout",
        ),
    ),
    Field(
        "TcpExt",
        "TCPSynRetrans",
        total(
            "tcp_syn_retrans_total",
            "segments",
            "connection requests sent again",
        ),
    ),
    Field(
        "TcpExt",
        "TCPAbortOnMemory",
        total(
            "tcp_abort_on_memory_total",
            "connections",
            "aborted for lack of memory",
        ),
    ),
    Field(
        "TcpExt",
        "TCPAbortOnTimeout",
        total(
            "tcp_abort_on_timeout_total",
            "connections",
            "aborted after too many timeouts",
        ),
    ),
    Field(
        "TcpExt",
        "TCPBacklogDrop",
        total(
            "tcp_backlog_drop_total",
            "segments",
            "dropped at a full backlog of a busy socket",
        ),
    ),
    Field(
        "TcpExt",
        "TCPRcvQDrop",
        total(
            "tcp_rcv_q_drop_total",
            "segments",
            "dropped at a full receive queue",
        ),
    ),
    Field(
        "TcpExt",
        "PruneCalled",
        total(
            "tcp_prune_called_total",
            "times",
            "receive buffers that had to be squeezed",
        ),
    ),
    Field(
        "TcpExt",
        "SyncookiesSent",
        total(
            "tcp_syncookies_sent_total",
            "segments",
            "SYN cookies sent because a queue was full",
        ),
    ),
    Field(
        "Udp6",
        "InDatagrams",
        total(
            "udp6_in_datagrams_total",
            "datagrams",
            "delivered to applications, IPv6",
        ),
    ),
    Field(
        "Udp6",
        "OutDatagrams",
        total("udp6_out_datagrams_total", "datagrams", "sent, IPv6"),
    ),
    Field(
        "Udp6",
        "NoPorts",
        total(
            "udp6_no_ports_total",
            "datagrams",
            "received for a port that nobody has, IPv6",
        ),
    ),
    Field(
        "Udp6",
        "InErrors",
        total(
            "udp6_in_errors_total",
            "datagrams",
            "received and not delivered, IPv6; full buffers included",
        ),
    ),
    Field(
        "Udp6",
        "RcvbufErrors",
        total(
            "udp6_rcvbuf_errors_total",
            "datagrams",
            "dropped at a full receive buffer, IPv6",
        ),
    ),
    Field(
        "Udp6",
        "SndbufErrors",
        total(
            "udp6_sndbuf_errors_total",
            "datagrams",
            "dropped at a full send buffer, IPv6",
        ),
    ),
    Field(
        "Icmp6",
        "InMsgs",
        total("icmp6_in_msgs_total", "messages", "received, IPv6"),
    ),
    Field(
        "Icmp6",
        "OutMsgs",
        total("icmp6_out_msgs_total", "messages", "sent, IPv6"),
    ),
];

const VALUES: [ValueDef; FIELDS.len()] = {
    let mut values = [FIELDS[0].2; FIELDS.len()];
    let mut n = 0;
    while n < FIELDS.len() {
        values[n] = FIELDS[n].2;
        n += 1;
    }
    values
};

/// Protocol counters of the opener's network namespace, from `/proc/net/snmp`, `netstat` and, where
/// the kernel has IPv6, `snmp6`.
pub(crate) struct Snmp;

impl Meter for Snmp {
    fn name(&self) -> &'static str {
        "snmp"
    }

    fn summary(&self) -> &'static str {
        "segments, datagrams, retransmissions, drops and errors of TCP, UDP and ICMP"
    }

    fn values(&self) -> &'static [ValueDef] {
        &VALUES
    }

    fn open(&self, _: &Target) -> Result<Box<dyn Source>, Unavailable> {
        Ok(Box::new(Counters {
            snmp: ProcFile::open(SNMP_PATH)?,
            netstat: ProcFile::open(NETSTAT_PATH)?,
            snmp6: ProcFile::open(SNMP6_PATH).ok(),
        }))
    }
}

struct Counters {
    snmp: ProcFile,
    netstat: ProcFile,
    snmp6: Option<ProcFile>,
}

impl Source for Counters {
    fn read(&mut self, into: &mut Reading) -> io::Result<()> {
        for (path, file) in [
            (SNMP_PATH, &mut self.snmp),
            (NETSTAT_PATH, &mut self.netstat),
        ] {
            parse_pairs(&file.text()?, into)
                .ok_or_else(|| unexpected(path, "protocol counters"))?;
        }
        if let Some(file) = &mut self.snmp6 {
            parse_list(&file.text()?, into);
        }
        Ok(())
    }
}

/// Two lines a group: `Tcp: InSegs OutSegs` and `Tcp: 4876 3549`.
fn parse_pairs(text: &str, into: &mut Reading) -> Option<()> {
    let mut lines = text.lines();
    while let Some(names) = lines.next() {
        let (group, names) = names.split_once(':')?;
        let (same_group, numbers) = lines.next()?.split_once(':')?;
        if group != same_group {
            return None;
        }
        let mut wanted: Vec<&Field> = FIELDS.iter().filter(|field| field.0 == group).collect();
        if wanted.is_empty() {
            continue;
        }
        for (name, number) in names
            .split_ascii_whitespace()
            .zip(numbers.split_ascii_whitespace())
        {
            if let Some(n) = wanted.iter().position(|field| field.1 == name) {
                let field = wanted.swap_remove(n);
                into.insert(field.2.name.to_owned(), number.parse::<u64>().ok()? as f64);
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
        let field = FIELDS
            .iter()
            .find(|field| name.strip_prefix(field.0) == Some(field.1));
        if let (Some(field), Ok(number)) = (field, number.parse::<u64>()) {
            into.insert(field.2.name.to_owned(), number as f64);
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
        assert_eq!(
            reading,
            expected.map(|(key, value)| (key.to_owned(), value)).into()
        );
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
        assert_eq!(
            reading,
            expected.map(|(key, value)| (key.to_owned(), value)).into()
        );
    }

    #[test]
    fn snmp6_is_a_list() {
        let text = "Ip6InReceives                   \t1\nUdp6InDatagrams                 \t7\nUdp6RcvbufErrors 2\nUdpLite6InDatagrams 5\nIcmp6InMsgs x\nIcmp6OutMsgs 3\n";
        let mut reading = Reading::new();
        parse_list(text, &mut reading);
        let expected = [
            ("icmp6_out_msgs_total", 3.0),
            ("udp6_in_datagrams_total", 7.0),
            ("udp6_rcvbuf_errors_total", 2.0),
        ];
        assert_eq!(
            reading,
            expected.map(|(key, value)| (key.to_owned(), value)).into()
        );
    }

    #[test]
    fn broken_pairs_are_refused() {
        for bad in [
            "Tcp\n",
            "Tcp: InSegs\n",
            "Tcp: InSegs\nUdp: 1\n",
            "Tcp: InSegs\nTcp: x\n",
        ] {
            assert!(
                parse_pairs(bad, &mut Reading::new()).is_none(),
                "{bad:?} was accepted"
            );
        }
    }
}
