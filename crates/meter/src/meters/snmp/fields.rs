//! The protocol counters that are read.

use crate::ValueDef;

/// A counter: how the kernel names it (`nstat` joins group and field), and how we do.
pub(super) struct Field {
    pub(super) group: &'static str,
    pub(super) name: &'static str,
    pub(super) def: ValueDef,
}

/// Our names stay close to the kernel's, so that its documentation can be found. TCP counts IPv4
/// and IPv6 together, UDP and ICMP have counters for each.
#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    tcp("InSegs", "tcp_in_segs_total", "segments", "received"),
    tcp("OutSegs", "tcp_out_segs_total", "segments", "sent"),
    tcp("RetransSegs", "tcp_retrans_segs_total", "segments", "sent again"),
    tcp("ActiveOpens", "tcp_active_opens_total", "connections", "begun by this side"),
    tcp("PassiveOpens", "tcp_passive_opens_total", "connections", "accepted by this side"),
    tcp("AttemptFails", "tcp_attempt_fails_total", "connections",
        "failed before they were established"),
    tcp("EstabResets", "tcp_estab_resets_total", "connections",
        "reset after they were established"),
    tcp("InErrs", "tcp_in_errs_total", "segments", "received broken"),
    tcp("OutRsts", "tcp_out_rsts_total", "segments", "resets sent"),
    udp("InDatagrams", "udp_in_datagrams_total", "delivered to applications"),
    udp("OutDatagrams", "udp_out_datagrams_total", "sent"),
    udp("NoPorts", "udp_no_ports_total", "received for a port that nobody has"),
    udp("InErrors", "udp_in_errors_total", "received and not delivered; full buffers included"),
    udp("RcvbufErrors", "udp_rcvbuf_errors_total", "dropped at a full receive buffer"),
    udp("SndbufErrors", "udp_sndbuf_errors_total", "dropped at a full send buffer"),
    icmp("InMsgs", "icmp_in_msgs_total", "received"),
    icmp("OutMsgs", "icmp_out_msgs_total", "sent"),
    icmp("InDestUnreachs", "icmp_in_dest_unreachs_total", "destination unreachable received"),
    icmp("OutDestUnreachs", "icmp_out_dest_unreachs_total", "destination unreachable sent"),
    tcp_ext("ListenOverflows", "tcp_listen_overflows_total", "connections",
        "refused because a listener's queue was full"),
    tcp_ext("ListenDrops", "tcp_listen_drops_total", "segments",
        "dropped by listeners for any reason"),
    tcp_ext("TCPTimeouts", "tcp_timeouts_total", "timeouts", "retransmission timeouts"),
    tcp_ext("TCPLostRetransmit", "tcp_lost_retransmit_total", "segments",
        "sent again and lost again"),
    tcp_ext("TCPFastRetrans", "tcp_fast_retrans_total", "segments", "sent again before a timeout"),
    tcp_ext("TCPSynRetrans", "tcp_syn_retrans_total", "segments", "connection requests sent again"),
    tcp_ext("TCPAbortOnMemory", "tcp_abort_on_memory_total", "connections",
        "aborted for lack of memory"),
    tcp_ext("TCPAbortOnTimeout", "tcp_abort_on_timeout_total", "connections",
        "aborted after too many timeouts"),
    tcp_ext("TCPBacklogDrop", "tcp_backlog_drop_total", "segments",
        "dropped at a full backlog of a busy socket"),
    tcp_ext("TCPRcvQDrop", "tcp_rcv_q_drop_total", "segments", "dropped at a full receive queue"),
    tcp_ext("PruneCalled", "tcp_prune_called_total", "times",
        "receive buffers that had to be squeezed"),
    tcp_ext("SyncookiesSent", "tcp_syncookies_sent_total", "segments",
        "SYN cookies sent because a queue was full"),
    udp6("InDatagrams", "udp6_in_datagrams_total", "delivered to applications"),
    udp6("OutDatagrams", "udp6_out_datagrams_total", "sent"),
    udp6("NoPorts", "udp6_no_ports_total", "received for a port that nobody has"),
    udp6("InErrors", "udp6_in_errors_total", "received and not delivered; full buffers included"),
    udp6("RcvbufErrors", "udp6_rcvbuf_errors_total", "dropped at a full receive buffer"),
    udp6("SndbufErrors", "udp6_sndbuf_errors_total", "dropped at a full send buffer"),
    icmp6("InMsgs", "icmp6_in_msgs_total", "received"),
    icmp6("OutMsgs", "icmp6_out_msgs_total", "sent"),
];

const fn tcp(
    name: &'static str,
    key: &'static str,
    unit: &'static str,
    help: &'static str,
) -> Field {
    Field { group: "Tcp", name, def: ValueDef::total(key, unit, help) }
}

const fn tcp_ext(
    name: &'static str,
    key: &'static str,
    unit: &'static str,
    help: &'static str,
) -> Field {
    Field { group: "TcpExt", name, def: ValueDef::total(key, unit, help) }
}

const fn udp(name: &'static str, key: &'static str, help: &'static str) -> Field {
    Field { group: "Udp", name, def: ValueDef::total(key, "datagrams", help) }
}

const fn udp6(name: &'static str, key: &'static str, help: &'static str) -> Field {
    Field { group: "Udp6", name, def: ValueDef::total(key, "datagrams", help) }
}

const fn icmp(name: &'static str, key: &'static str, help: &'static str) -> Field {
    Field { group: "Icmp", name, def: ValueDef::total(key, "messages", help) }
}

const fn icmp6(name: &'static str, key: &'static str, help: &'static str) -> Field {
    Field { group: "Icmp6", name, def: ValueDef::total(key, "messages", help) }
}
