//! The figures of each kind of workload: one entry a kind.

use hopbench_model::{BY_PEER, Job, Record, WorkloadKind};

use super::figure::End::{All, Client, Proxies, Server};
use super::figure::Percentile::{Max, Mean, Min, P50, P90, P99};
use super::figure::Source::{
    Asked, Bytes, Cpu, Failures, Latency, LinkShare, Metric, Nic, Nodes, NodesIdle, ProxyMemory,
    Retransmitted,
};
use super::figure::Work::{Each, KiB};
use super::figure::{End, Figure, Source, Work};
use super::kind::Intent::{self, Most, Offered, Rate};
use super::kind::Kind;
use super::node::Busy;
use super::recorded_job::RecordedJob;
use crate::summary::Better;
use crate::summary::Better::{Cheaper, Higher, Lower, Neither};

/// The figures of a kind: its own, and those that every kind has, of nodes and NICs.
#[rustfmt::skip]
macro_rules! figures {
    ($($own:ident),+) => {
        &[
            $($own,)+
            NODE_CORES, NODE_SOFTIRQ, NODE_STEAL, NODE_IDLE,
            CLIENT_RX_BYTES, CLIENT_RX_PACKETS, CLIENT_TX_BYTES, CLIENT_TX_PACKETS,
            SERVER_RX_BYTES, SERVER_RX_PACKETS, SERVER_TX_BYTES, SERVER_TX_PACKETS,
        ]
    };
}

/// The same with what both ends counted of the bytes.
macro_rules! bulk {
    ($($own:ident),+) => {
        figures![
            $($own,)+
            CLIENT_SENT, CLIENT_ACKED, SERVER_RECEIVED, SERVER_SENT, SERVER_ACKED, CLIENT_RECEIVED,
            CLIENT_RESENT, CLIENT_QUEUE, SERVER_UNREAD, SERVER_RESENT, SERVER_QUEUE, CLIENT_UNREAD,
            IN_PROXIES
        ]
    };
}

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    kind("stream", None, bulk![
        RECEIVED, LINK, RESENT,
        ALL_KIB, CLIENT_KIB, SERVER_KIB, PROXY_KIB, PROXY_CORES, PROXY_MEMORY
    ], 1, None),
    kind("push", None, bulk![
        DELAY_P50, DELAY_P99, MESSAGES,
        ALL_MESSAGE, CLIENT_MESSAGE, SERVER_MESSAGE, PROXY_MESSAGE, PROXY_CORES, PROXY_MEMORY
    ], 2, Some("delay_ns")),
    kind("rr", Some(Most), figures![
        EXCHANGE_P50, EXCHANGE_P99, EXCHANGES,
        ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY
    ], 2, Some("service_ns")),
    kind("rr", Some(Rate), figures![
        ANSWER_P50, ANSWER_P99, ASKED_EXCHANGES,
        ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY
    ], 2, Some("response_ns")),
    kind("crr", None, figures![
        CONNECTIONS, CONNECT_P50, CONNECT_P99,
        ALL_CONNECTION, CLIENT_CONNECTION, SERVER_CONNECTION, PROXY_CONNECTION, PROXY_CORES,
        PROXY_MEMORY
    ], 3, Some("connect_ns")),
    kind("udp", Some(Most), figures![
        PACKETS, LINK, LOST, JITTER,
        ALL_PACKET, CLIENT_PACKET, SERVER_PACKET
    ], 2, None),
    // A rate that is asked for is delivered by every path that is good enough: what differs is the
    // delay.
    kind("udp", Some(Rate), figures![
        DELAY_P50, DELAY_P99, ASKED_PACKETS, LOST, LINK, JITTER,
        ALL_PACKET, CLIENT_PACKET, SERVER_PACKET
    ], 4, Some("delay_ns")),
    kind("udp", Some(Offered), figures![
        PACKETS, LINK, LOST, JITTER, DELAY_P50, DELAY_P99,
        ALL_PACKET, CLIENT_PACKET, SERVER_PACKET
    ], 2, None),
    kind("ping", None, figures![RTT_P50, RTT_MIN, RTT_MAX, LOST], 1, Some("service_ns")),
    kind("http", Some(Most), figures![
        REQUESTS, SERVICE_P50, SERVICE_P90, SERVICE_P99, ERRORS,
        ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY
    ], 4, Some("service_ns")),
    kind("http", Some(Rate), figures![
        RESPONSE_P50, RESPONSE_P90, RESPONSE_P99, ASKED_REQUESTS, ERRORS,
        ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY
    ], 3, Some("response_ns")),
    kind("grpc", Some(Most), figures![
        CALLS, SERVICE_P50, SERVICE_P90, SERVICE_P99, ERRORS,
        ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY
    ], 4, Some("service_ns")),
    kind("grpc", Some(Rate), figures![
        RESPONSE_P50, RESPONSE_P90, RESPONSE_P99, ASKED_CALLS, ERRORS,
        ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY
    ], 3, Some("response_ns")),
    // Other tools measured these: what their files state, in figures of the same names.
    kind("imported-stream", None, figures![
        RECEIVED, SENT, SEGMENTS,
        ALL_KIB, CLIENT_KIB, SERVER_KIB
    ], 1, None),
    kind("imported-udp", None, figures![
        PACKETS, RECEIVED, SENT, LOST, JITTER,
        ALL_PACKET, CLIENT_PACKET, SERVER_PACKET
    ], 2, None),
    kind("imported-rr", None, figures![
        EXCHANGE_P50, EXCHANGE_P99, EXCHANGE_MEAN, EXCHANGES, LOST
    ], 2, Some("service_ns")),
    kind("imported-crr", None, figures![
        CONNECTIONS, SERVICE_P50, SERVICE_P99, SERVICE_MEAN
    ], 3, Some("service_ns")),
    kind("imported-ping", None, figures![
        RTT_P50, RTT_MEAN, RTT_MIN, RTT_MAX, LOST
    ], 1, Some("service_ns")),
    kind("imported-http", None, figures![
        REQUESTS, SERVICE_P50, SERVICE_P90, SERVICE_P99, SERVICE_MEAN, ERRORS
    ], 4, Some("service_ns")),
    kind("imported-http-paced", None, figures![
        SERVICE_P50, SERVICE_P90, SERVICE_P99, SERVICE_MEAN, ASKED_REQUESTS, ERRORS
    ], 3, Some("service_ns")),
    kind("imported-http-open", None, figures![
        RESPONSE_P50, RESPONSE_P90, RESPONSE_P99, RESPONSE_MEAN, ASKED_REQUESTS, ERRORS
    ], 3, Some("response_ns")),
];

/// For a kind that this version does not know.
const OTHER: Kind = kind(
    "",
    None,
    figures![REQUESTS, RECEIVED, SERVICE_P50, SERVICE_P99, ERRORS],
    1,
    Some("service_ns"),
);

const MESSAGE: Work = Each("messages_per_s");
const REQUEST: Work = Each("requests_per_s");
const CONNECTION: Work = Each("connections_per_s");
const PACKET: Work = Each("received_packets_per_s");

/// The `const`s of figures: one line each.
macro_rules! figure_consts {
    ($($name:ident = $figure:expr;)+) => { $(const $name: Figure = $figure;)+ };
}

figure_consts! {
    RECEIVED = metric("received_bits_per_s", "received", Higher);
    SENT = metric("sent_bits_per_s", "sent", Higher);
    SEGMENTS = metric("retransmitted_segments", "segments sent again", Neither);
    LINK = figure("link_share_ratio", "of link", Neither, LinkShare);
    RESENT = figure("retransmitted_ratio", "sent again", Neither, Retransmitted);
    DELAY_P50 = figure("delay_p50_ns", "delay p50", Lower, Latency("delay_ns", P50));
    DELAY_P99 = figure("delay_p99_ns", "delay p99", Lower, Latency("delay_ns", P99));
    SERVICE_MEAN = figure("service_mean_ns", "service mean", Lower, Latency("service_ns", Mean));
    RESPONSE_MEAN =
        figure("response_mean_ns", "response mean", Lower, Latency("response_ns", Mean));
    SERVICE_P50 = figure("service_p50_ns", "service p50", Lower, Latency("service_ns", P50));
    SERVICE_P90 = figure("service_p90_ns", "service p90", Lower, Latency("service_ns", P90));
    SERVICE_P99 = figure("service_p99_ns", "service p99", Lower, Latency("service_ns", P99));
    RESPONSE_P50 = figure("response_p50_ns", "response p50", Lower, Latency("response_ns", P50));
    RESPONSE_P90 = figure("response_p90_ns", "response p90", Lower, Latency("response_ns", P90));
    RESPONSE_P99 = figure("response_p99_ns", "response p99", Lower, Latency("response_ns", P99));
    // Of the same latencies, `rr` says that they are no half of the way.
    EXCHANGE_P50 = Figure { label: "RTT p50", ..SERVICE_P50 };
    EXCHANGE_P99 = Figure { label: "RTT p99", ..SERVICE_P99 };
    EXCHANGE_MEAN = Figure { label: "RTT mean", ..SERVICE_MEAN };
    ANSWER_P50 = Figure { label: "response RTT p50", ..RESPONSE_P50 };
    ANSWER_P99 = Figure { label: "response RTT p99", ..RESPONSE_P99 };
    CONNECT_P50 = figure("connect_p50_ns", "connect p50", Lower, Latency("connect_ns", P50));
    CONNECT_P99 = figure("connect_p99_ns", "connect p99", Lower, Latency("connect_ns", P99));
    RTT_P50 = figure("rtt_p50_ns", "RTT p50", Lower, Latency("service_ns", P50));
    RTT_MEAN = figure("rtt_mean_ns", "RTT mean", Lower, Latency("service_ns", Mean));
    RTT_MIN = figure("rtt_min_ns", "RTT min", Lower, Latency("service_ns", Min));
    RTT_MAX = figure("rtt_max_ns", "RTT max", Lower, Latency("service_ns", Max));
    MESSAGES = metric("messages_per_s", "messages", Higher);
    EXCHANGES = metric("requests_per_s", "exchanges", Higher);
    REQUESTS = metric("requests_per_s", "requests", Higher);
    CALLS = metric("requests_per_s", "calls", Higher);
    CONNECTIONS = metric("connections_per_s", "connections", Higher);
    PACKETS = metric("received_packets_per_s", "delivered", Higher);
    // The rates of open loops.
    ASKED_EXCHANGES = asked(EXCHANGES);
    ASKED_REQUESTS = asked(REQUESTS);
    ASKED_CALLS = asked(CALLS);
    ASKED_PACKETS = asked(PACKETS);
    LOST = failures("lost_ratio", "lost");
    ERRORS = failures("error_ratio", "errors");
    JITTER = metric("jitter_ns", "jitter", Neither);
    ALL_KIB = cpu("cpu_per_kib_ns", "CPU/KiB", All, KiB);
    ALL_MESSAGE = cpu("cpu_per_message_ns", "CPU/msg", All, MESSAGE);
    ALL_REQUEST = cpu("cpu_per_request_ns", "CPU/req", All, REQUEST);
    ALL_CONNECTION = cpu("cpu_per_connection_ns", "CPU/conn", All, CONNECTION);
    ALL_PACKET = cpu("cpu_per_packet_ns", "CPU/pkt", All, PACKET);
    CLIENT_KIB = cpu("client_cpu_per_kib_ns", "client CPU/KiB", Client, KiB);
    SERVER_KIB = cpu("server_cpu_per_kib_ns", "server CPU/KiB", Server, KiB);
    CLIENT_MESSAGE = cpu("client_cpu_per_message_ns", "client CPU/msg", Client, MESSAGE);
    SERVER_MESSAGE = cpu("server_cpu_per_message_ns", "server CPU/msg", Server, MESSAGE);
    CLIENT_REQUEST = cpu("client_cpu_per_request_ns", "client CPU/req", Client, REQUEST);
    SERVER_REQUEST = cpu("server_cpu_per_request_ns", "server CPU/req", Server, REQUEST);
    CLIENT_CONNECTION = cpu("client_cpu_per_connection_ns", "client CPU/conn", Client, CONNECTION);
    SERVER_CONNECTION = cpu("server_cpu_per_connection_ns", "server CPU/conn", Server, CONNECTION);
    CLIENT_PACKET = cpu("client_cpu_per_packet_ns", "client CPU/pkt", Client, PACKET);
    SERVER_PACKET = cpu("server_cpu_per_packet_ns", "server CPU/pkt", Server, PACKET);
    PROXY_KIB = cpu("proxy_cpu_per_kib_ns", "proxy CPU/KiB", Proxies, KiB);
    PROXY_MESSAGE = cpu("proxy_cpu_per_message_ns", "proxy CPU/msg", Proxies, MESSAGE);
    PROXY_REQUEST = cpu("proxy_cpu_per_request_ns", "proxy CPU/req", Proxies, REQUEST);
    PROXY_CONNECTION = cpu("proxy_cpu_per_connection_ns", "proxy CPU/conn", Proxies, CONNECTION);
    PROXY_CORES = metric("proxy_cores", "proxy cores", Neither);
    PROXY_MEMORY = figure("proxy_rss_bytes", "proxy memory so far", Neither, ProxyMemory);
    NODE_CORES = figure("node_cores", "node cores", Neither, Nodes(Busy::All));
    NODE_SOFTIRQ = figure("node_softirq_cores", "softirq cores", Neither, Nodes(Busy::Softirq));
    NODE_STEAL = figure("node_steal_cores", "stolen cores", Neither, Nodes(Busy::Steal));
    NODE_IDLE = figure("node_idle_ratio", "node idle", Neither, NodesIdle);
    CLIENT_RX_BYTES = nic("client_nic_rx_bytes_per_s", "client NIC received bytes", Client);
    CLIENT_RX_PACKETS = nic("client_nic_rx_packets_per_s", "client NIC received packets", Client);
    CLIENT_TX_BYTES = nic("client_nic_tx_bytes_per_s", "client NIC sent bytes", Client);
    CLIENT_TX_PACKETS = nic("client_nic_tx_packets_per_s", "client NIC sent packets", Client);
    SERVER_RX_BYTES = nic("server_nic_rx_bytes_per_s", "server NIC received bytes", Server);
    SERVER_RX_PACKETS = nic("server_nic_rx_packets_per_s", "server NIC received packets", Server);
    SERVER_TX_BYTES = nic("server_nic_tx_bytes_per_s", "server NIC sent bytes", Server);
    SERVER_TX_PACKETS = nic("server_nic_tx_packets_per_s", "server NIC sent packets", Server);
    CLIENT_SENT = bytes("client_sent_bits_per_s", "client sent", Client);
    CLIENT_ACKED = bytes("client_acknowledged_bits_per_s", "client acknowledged", Client);
    CLIENT_RESENT = bytes("client_retransmitted_bytes", "client sent again", Client);
    CLIENT_QUEUE = bytes("client_queued_bytes", "client queue", Client);
    CLIENT_RECEIVED = bytes("client_received_bits_per_s", "client received", Client);
    CLIENT_UNREAD = bytes("client_receive_queue_bytes", "client unread", Client);
    SERVER_SENT = bytes("server_sent_bits_per_s", "server sent", Server);
    SERVER_ACKED = bytes("server_acknowledged_bits_per_s", "server acknowledged", Server);
    SERVER_RESENT = bytes("server_retransmitted_bytes", "server sent again", Server);
    SERVER_QUEUE = bytes("server_queued_bytes", "server queue", Server);
    SERVER_RECEIVED = bytes("server_received_bits_per_s", "server received", Server);
    SERVER_UNREAD = bytes("server_receive_queue_bytes", "server unread", Server);
    IN_PROXIES =
        figure("in_proxies_bytes", "in proxies", Neither, Bytes(Proxies, "in_proxies_bytes"));
}

const fn kind(
    name: &'static str,
    intent: Option<Intent>,
    figures: &'static [Figure],
    plots: usize,
    distribution: Option<&'static str>,
) -> Kind {
    Kind { name, intent, figures, plots, distribution }
}

/// The same figure where the schedule asks for it.
const fn asked(figure: Figure) -> Figure {
    let Metric(name) = figure.source else { panic!("only a metric is asked for") };
    Figure { source: Asked(name), ..figure }
}

/// A metric of the record, under its own name.
const fn metric(name: &'static str, label: &'static str, better: Better) -> Figure {
    figure(name, label, better, Metric(name))
}

/// A share of losses or of errors: a metric of the record, under its own name.
const fn failures(name: &'static str, label: &'static str) -> Figure {
    figure(name, label, Neither, Failures(name))
}

/// CPU time for each unit of work.
const fn cpu(name: &'static str, label: &'static str, end: End, work: Work) -> Figure {
    figure(name, label, Cheaper, Cpu(end, work))
}

/// The traffic of an end's NIC. Behind `client_` or `server_` is its name among the end's costs.
const fn nic(name: &'static str, label: &'static str, end: End) -> Figure {
    figure(name, label, Neither, Nic(end, name.split_at("client_".len()).1))
}

/// An end's count of the bytes. Behind `client_` or `server_` is the name of the metric.
const fn bytes(name: &'static str, label: &'static str, end: End) -> Figure {
    figure(name, label, Neither, Bytes(end, name.split_at("client_".len()).1))
}

const fn figure(name: &'static str, label: &'static str, better: Better, source: Source) -> Figure {
    Figure { name, label, better, source }
}

/// The figures of a workload of this kind.
pub(crate) fn of(name: &str, intent: Intent) -> &'static Kind {
    // What a tool states is the same in a run and in a file.
    let of_peer = name.strip_prefix(BY_PEER);
    let is_it = |kind: &Kind| match of_peer {
        Some(name) => kind.name.strip_prefix(WorkloadKind::IMPORTED) == Some(name),
        None => kind.name == name,
    };
    let fits = |kind: &&Kind| is_it(kind) && kind.intent.is_none_or(|own| own == intent);
    KINDS.iter().find(fits).unwrap_or(&OTHER)
}

/// The kind of a job of a plan.
pub(crate) fn of_job(job: &Job) -> &'static Kind {
    of(&job.workload, intent(job.schedule.per_s().is_some(), job.is_offered()))
}

/// The kind of a trial by its own job: a search sets the schedule.
pub(crate) fn of_record(record: &Record) -> Option<&'static Kind> {
    let job = RecordedJob(&record.job);
    let has_rate = job.schedule().is_some_and(|schedule| schedule.per_s().is_some());
    let name = record.job.get("workload")?.as_str()?;
    Some(of(name, intent(has_rate, job.is_offered())))
}

/// The mean of the latency that matters for a kind, which tables of searches have; `None` where it
/// is not one of exchanges.
pub(crate) fn mean(kind: &Kind) -> Option<&'static Figure> {
    match kind.distribution? {
        "service_ns" => Some(&SERVICE_MEAN),
        "response_ns" => Some(&RESPONSE_MEAN),
        _ => None,
    }
}

/// The share of losses or of errors of this name; `None` for any other name. Records of all kinds
/// can have it, also of those whose reports do not show it.
pub(crate) fn of_failures(name: &str) -> Option<&'static Figure> {
    const SHARES: &[Figure] = &[LOST, ERRORS];
    SHARES.iter().find(|figure| figure.name == name)
}

/// The purpose of a rate.
pub(crate) fn intent(has_rate: bool, is_offered: bool) -> Intent {
    match (has_rate, is_offered) {
        (false, _) => Most,
        (true, false) => Rate,
        (true, true) => Offered,
    }
}

/// The median of the latency that reports show first for a trial's workload: what its column is
/// called, and ns. `None` for a workload without one, and for a trial without samples.
pub fn main_latency(record: &Record) -> Option<(&'static str, f64)> {
    let kind = of_record(record)?;
    let figure = &kind.figures[kind.latency(P50)?];
    Some((figure.label, figure.of(record, false)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_figures_with_names_of_their_own() {
        for kind in KINDS.iter().chain([&OTHER]) {
            assert!(kind.plots >= 1 && kind.plots <= kind.figures.len(), "{}", kind.name);
            let mut names: Vec<_> = kind.figures.iter().map(|figure| figure.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), kind.figures.len(), "{}", kind.name);
            assert!(
                kind.figures[0].better != Neither,
                "{}: a verdict needs a direction",
                kind.name
            );
        }
    }

    #[test]
    fn losses_and_errors_come_to_their_mean_and_all_else_to_a_median() {
        let few = [0.0, 0.0, 0.0, 0.2];
        let all = KINDS.iter().chain([&OTHER]).flat_map(|kind| kind.figures);
        for figure in all.filter(|figure| figure.is_compared()) {
            let is_of_failures = ["lost_ratio", "error_ratio"].contains(&figure.name);
            let expected = Some(if is_of_failures { 0.05 } else { 0.0 });
            assert_eq!(figure.middle(&few), expected, "{}", figure.name);
            let over = figure.over(few.to_vec(), None).map(|spread| spread.median);
            assert_eq!(over, expected, "{}", figure.name);
        }
        assert_eq!(of_failures("error_ratio").map(|figure| figure.label), Some("errors"));
        assert!(of_failures("retransmitted_ratio").is_none());
    }

    #[test]
    fn the_schedule_chooses_the_latency() {
        assert_eq!(of("http", Rate).figures[0].name, "response_p50_ns");
        assert_eq!(of("http", Most).figures[0].name, "requests_per_s");
        assert_eq!(of("grpc", Rate).figures[0].name, "response_p50_ns");
        assert_eq!(of("grpc", Most).figures[0].label, "calls");
        assert_eq!(of("stream", Rate).figures[0].name, "received_bits_per_s");
        assert_eq!(of("udp", Most).figures[0].name, "received_packets_per_s");
        assert_eq!(of("udp", Rate).figures[0].name, "delay_p50_ns");
        assert_eq!(of("udp", Offered).figures[0].name, "received_packets_per_s");
        assert_eq!(of("later", Most).name, "");
        assert_eq!(of("peer-http-paced", Rate).name, "imported-http-paced");
        assert_eq!(of("peer-crr", Most).figures[0].name, "connections_per_s");
        assert_eq!(of("peer-later", Most).name, "");
    }

    #[test]
    fn what_a_run_looked_at_is_found_among_the_figures() {
        let name = |kind: &str, intent: Intent, recorded: &str| {
            let kind = of(kind, intent);
            kind.recorded_as(recorded).map(|index| kind.figures[index].name)
        };
        for (kind, intent, counted) in [
            ("rr", Most, "requests_per_s"),
            ("stream", Most, "received_bits_per_s"),
            ("crr", Most, "connections_per_s"),
            ("http", Most, "proxy_cores"),
        ] {
            assert_eq!(name(kind, intent, counted), Some(counted));
        }
        assert_eq!(name("http", Rate, "response_ns p99"), Some("response_p99_ns"));
        assert_eq!(name("rr", Rate, "response_ns p50"), Some("response_p50_ns"));
        assert_eq!(name("push", Most, "delay_ns p99"), Some("delay_p99_ns"));
        assert_eq!(name("ping", Rate, "service_ns p50"), Some("rtt_p50_ns"));
        assert_eq!(name("rr", Most, "service_ns p999"), None, "no column has it");
        assert_eq!(name("rr", Most, "sent_bits_per_s"), None);
        assert_eq!(name("rr", Most, ""), None, "an old run does not say it");
    }
}
