//! The figures of each kind of workload: one line a kind.

use hopbench_model::Record;

use super::figure::End::{All, Client, Proxies, Server};
use super::figure::Percentile::{Max, Min, P50, P90, P99};
use super::figure::Source::{
    Asked, Cpu, Latency, LinkShare, Metric, Nic, Nodes, NodesIdle, ProxyMemory, Retransmitted,
};
use super::figure::Work::{Each, KiB};
use super::figure::{Figure, Source};
use super::kind::Kind;
use super::node::Busy;
use super::recorded_job::RecordedJob;
use crate::summary::Better;
use crate::summary::Better::{Cheaper, Higher, Lower, Neither};

/// The figures of a kind: its own, and those that every kind has, of nodes and NICs.
macro_rules! figures {
    ($($own:ident),+) => {
        &[
            $($own,)+
            NODE_CORES,
            NODE_SOFTIRQ,
            NODE_STEAL,
            NODE_IDLE,
            CLIENT_NIC_RX_BYTES,
            CLIENT_NIC_RX_PACKETS,
            CLIENT_NIC_TX_BYTES,
            CLIENT_NIC_TX_PACKETS,
            SERVER_NIC_RX_BYTES,
            SERVER_NIC_RX_PACKETS,
            SERVER_NIC_TX_BYTES,
            SERVER_NIC_TX_PACKETS,
        ]
    };
}

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    kind("stream", None, figures![RECEIVED, LINK, RESENT, ALL_KIB, CLIENT_KIB, SERVER_KIB, PROXY_KIB, PROXY_CORES, PROXY_MEMORY], 1, None),
    kind("push", None, figures![DELAY_P50, DELAY_P99, MESSAGES, ALL_MESSAGE, CLIENT_MESSAGE, SERVER_MESSAGE, PROXY_MESSAGE, PROXY_CORES, PROXY_MEMORY], 2, Some("delay_ns")),
    kind("rr", Some(false), figures![SERVICE_P50, SERVICE_P99, EXCHANGES, ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY], 2, Some("service_ns")),
    kind("rr", Some(true), figures![RESPONSE_P50, RESPONSE_P99, ASKED_EXCHANGES, ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY], 2, Some("response_ns")),
    kind("crr", None, figures![CONNECTIONS, CONNECT_P50, CONNECT_P99, ALL_CONNECTION, CLIENT_CONNECTION, SERVER_CONNECTION, PROXY_CONNECTION, PROXY_CORES, PROXY_MEMORY], 3, Some("connect_ns")),
    kind("udp", Some(false), figures![PACKETS, LINK, LOST, JITTER, ALL_PACKET, CLIENT_PACKET, SERVER_PACKET], 2, None),
    // A rate that is asked for is delivered by every path that is good enough: what differs is the
    // delay.
    kind("udp", Some(true), figures![DELAY_P50, DELAY_P99, ASKED_PACKETS, LOST, LINK, JITTER, ALL_PACKET, CLIENT_PACKET, SERVER_PACKET], 4, Some("delay_ns")),
    kind("ping", None, figures![RTT_P50, RTT_MIN, RTT_MAX, LOST], 1, Some("service_ns")),
    kind("http", Some(false), figures![REQUESTS, SERVICE_P50, SERVICE_P90, SERVICE_P99, ERRORS, ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY], 4, Some("service_ns")),
    kind("http", Some(true), figures![RESPONSE_P50, RESPONSE_P90, RESPONSE_P99, ASKED_REQUESTS, ERRORS, ALL_REQUEST, CLIENT_REQUEST, SERVER_REQUEST, PROXY_REQUEST, PROXY_CORES, PROXY_MEMORY], 3, Some("response_ns")),
];

/// For a kind that this version does not know.
const OTHER: Kind = kind(
    "",
    None,
    figures![REQUESTS, RECEIVED, SERVICE_P50, SERVICE_P99, ERRORS],
    1,
    Some("service_ns"),
);

const RECEIVED: Figure =
    figure("received_bits_per_s", "received", Higher, Metric("received_bits_per_s"));

const LINK: Figure = figure("link_share_ratio", "of link", Neither, LinkShare);

const RESENT: Figure = figure("retransmitted_ratio", "sent again", Neither, Retransmitted);

const DELAY_P50: Figure = figure("delay_p50_ns", "delay p50", Lower, Latency("delay_ns", P50));

const DELAY_P99: Figure = figure("delay_p99_ns", "delay p99", Lower, Latency("delay_ns", P99));

const SERVICE_P50: Figure =
    figure("service_p50_ns", "service p50", Lower, Latency("service_ns", P50));

const SERVICE_P90: Figure =
    figure("service_p90_ns", "service p90", Lower, Latency("service_ns", P90));

const SERVICE_P99: Figure =
    figure("service_p99_ns", "service p99", Lower, Latency("service_ns", P99));

const RESPONSE_P50: Figure =
    figure("response_p50_ns", "response p50", Lower, Latency("response_ns", P50));

const RESPONSE_P90: Figure =
    figure("response_p90_ns", "response p90", Lower, Latency("response_ns", P90));

const RESPONSE_P99: Figure =
    figure("response_p99_ns", "response p99", Lower, Latency("response_ns", P99));

const CONNECT_P50: Figure =
    figure("connect_p50_ns", "connect p50", Lower, Latency("connect_ns", P50));

const CONNECT_P99: Figure =
    figure("connect_p99_ns", "connect p99", Lower, Latency("connect_ns", P99));

const RTT_P50: Figure = figure("rtt_p50_ns", "RTT p50", Lower, Latency("service_ns", P50));

const RTT_MIN: Figure = figure("rtt_min_ns", "RTT min", Lower, Latency("service_ns", Min));

const RTT_MAX: Figure = figure("rtt_max_ns", "RTT max", Lower, Latency("service_ns", Max));

const MESSAGES: Figure = figure("messages_per_s", "messages", Higher, Metric("messages_per_s"));

const EXCHANGES: Figure = figure("requests_per_s", "exchanges", Higher, Metric("requests_per_s"));

const REQUESTS: Figure = figure("requests_per_s", "requests", Higher, Metric("requests_per_s"));

const CONNECTIONS: Figure =
    figure("connections_per_s", "connections", Higher, Metric("connections_per_s"));

const PACKETS: Figure =
    figure("received_packets_per_s", "delivered", Higher, Metric("received_packets_per_s"));

/// The rates of open loops.
const ASKED_EXCHANGES: Figure = asked(EXCHANGES);
const ASKED_REQUESTS: Figure = asked(REQUESTS);
const ASKED_PACKETS: Figure = asked(PACKETS);

const LOST: Figure = figure("lost_ratio", "lost", Neither, Metric("lost_ratio"));

const ERRORS: Figure = figure("error_ratio", "errors", Neither, Metric("error_ratio"));

const JITTER: Figure = figure("jitter_ns", "jitter", Neither, Metric("jitter_ns"));

const ALL_KIB: Figure = figure("cpu_per_kib_ns", "CPU/KiB", Cheaper, Cpu(All, KiB));

const ALL_MESSAGE: Figure =
    figure("cpu_per_message_ns", "CPU/msg", Cheaper, Cpu(All, Each("messages_per_s")));

const ALL_REQUEST: Figure =
    figure("cpu_per_request_ns", "CPU/req", Cheaper, Cpu(All, Each("requests_per_s")));

const ALL_CONNECTION: Figure =
    figure("cpu_per_connection_ns", "CPU/conn", Cheaper, Cpu(All, Each("connections_per_s")));

const ALL_PACKET: Figure =
    figure("cpu_per_packet_ns", "CPU/pkt", Cheaper, Cpu(All, Each("received_packets_per_s")));

const CLIENT_KIB: Figure =
    figure("client_cpu_per_kib_ns", "client CPU/KiB", Cheaper, Cpu(Client, KiB));

const SERVER_KIB: Figure =
    figure("server_cpu_per_kib_ns", "server CPU/KiB", Cheaper, Cpu(Server, KiB));

const CLIENT_MESSAGE: Figure = figure(
    "client_cpu_per_message_ns",
    "client CPU/msg",
    Cheaper,
    Cpu(Client, Each("messages_per_s")),
);

const SERVER_MESSAGE: Figure = figure(
    "server_cpu_per_message_ns",
    "server CPU/msg",
    Cheaper,
    Cpu(Server, Each("messages_per_s")),
);

const CLIENT_REQUEST: Figure = figure(
    "client_cpu_per_request_ns",
    "client CPU/req",
    Cheaper,
    Cpu(Client, Each("requests_per_s")),
);

const SERVER_REQUEST: Figure = figure(
    "server_cpu_per_request_ns",
    "server CPU/req",
    Cheaper,
    Cpu(Server, Each("requests_per_s")),
);

const CLIENT_CONNECTION: Figure = figure(
    "client_cpu_per_connection_ns",
    "client CPU/conn",
    Cheaper,
    Cpu(Client, Each("connections_per_s")),
);

const SERVER_CONNECTION: Figure = figure(
    "server_cpu_per_connection_ns",
    "server CPU/conn",
    Cheaper,
    Cpu(Server, Each("connections_per_s")),
);

const PROXY_KIB: Figure =
    figure("proxy_cpu_per_kib_ns", "proxy CPU/KiB", Cheaper, Cpu(Proxies, KiB));

const PROXY_MESSAGE: Figure = figure(
    "proxy_cpu_per_message_ns",
    "proxy CPU/msg",
    Cheaper,
    Cpu(Proxies, Each("messages_per_s")),
);

const PROXY_REQUEST: Figure = figure(
    "proxy_cpu_per_request_ns",
    "proxy CPU/req",
    Cheaper,
    Cpu(Proxies, Each("requests_per_s")),
);

const PROXY_CONNECTION: Figure = figure(
    "proxy_cpu_per_connection_ns",
    "proxy CPU/conn",
    Cheaper,
    Cpu(Proxies, Each("connections_per_s")),
);

const PROXY_CORES: Figure = figure("proxy_cores", "proxy cores", Neither, Metric("proxy_cores"));

const PROXY_MEMORY: Figure = figure("proxy_rss_bytes", "proxy memory so far", Neither, ProxyMemory);

const NODE_CORES: Figure = figure("node_cores", "node cores", Neither, Nodes(Busy::All));

const NODE_SOFTIRQ: Figure =
    figure("node_softirq_cores", "softirq cores", Neither, Nodes(Busy::Softirq));

const NODE_STEAL: Figure = figure("node_steal_cores", "stolen cores", Neither, Nodes(Busy::Steal));

const NODE_IDLE: Figure = figure("node_idle_ratio", "node idle", Neither, NodesIdle);

const CLIENT_NIC_RX_BYTES: Figure = figure(
    "client_nic_rx_bytes_per_s",
    "client NIC received bytes",
    Neither,
    Nic(Client, "nic_rx_bytes_per_s"),
);

const CLIENT_NIC_RX_PACKETS: Figure = figure(
    "client_nic_rx_packets_per_s",
    "client NIC received packets",
    Neither,
    Nic(Client, "nic_rx_packets_per_s"),
);

const CLIENT_NIC_TX_BYTES: Figure = figure(
    "client_nic_tx_bytes_per_s",
    "client NIC sent bytes",
    Neither,
    Nic(Client, "nic_tx_bytes_per_s"),
);

const CLIENT_NIC_TX_PACKETS: Figure = figure(
    "client_nic_tx_packets_per_s",
    "client NIC sent packets",
    Neither,
    Nic(Client, "nic_tx_packets_per_s"),
);

const SERVER_NIC_RX_BYTES: Figure = figure(
    "server_nic_rx_bytes_per_s",
    "server NIC received bytes",
    Neither,
    Nic(Server, "nic_rx_bytes_per_s"),
);

const SERVER_NIC_RX_PACKETS: Figure = figure(
    "server_nic_rx_packets_per_s",
    "server NIC received packets",
    Neither,
    Nic(Server, "nic_rx_packets_per_s"),
);

const SERVER_NIC_TX_BYTES: Figure = figure(
    "server_nic_tx_bytes_per_s",
    "server NIC sent bytes",
    Neither,
    Nic(Server, "nic_tx_bytes_per_s"),
);

const SERVER_NIC_TX_PACKETS: Figure = figure(
    "server_nic_tx_packets_per_s",
    "server NIC sent packets",
    Neither,
    Nic(Server, "nic_tx_packets_per_s"),
);

const CLIENT_PACKET: Figure = figure(
    "client_cpu_per_packet_ns",
    "client CPU/pkt",
    Cheaper,
    Cpu(Client, Each("received_packets_per_s")),
);

const SERVER_PACKET: Figure = figure(
    "server_cpu_per_packet_ns",
    "server CPU/pkt",
    Cheaper,
    Cpu(Server, Each("received_packets_per_s")),
);

const fn kind(
    name: &'static str,
    open_loop: Option<bool>,
    figures: &'static [Figure],
    plots: usize,
    distribution: Option<&'static str>,
) -> Kind {
    Kind { name, open_loop, figures, plots, distribution }
}

/// The same figure where the schedule asks for it.
const fn asked(figure: Figure) -> Figure {
    let Metric(name) = figure.source else { panic!("only a metric is asked for") };
    Figure { source: Asked(name), ..figure }
}

const fn figure(name: &'static str, label: &'static str, better: Better, source: Source) -> Figure {
    Figure { name, label, better, source }
}

/// The figures of a workload of this kind.
pub(crate) fn of(name: &str, open_loop: bool) -> &'static Kind {
    let fits =
        |kind: &&Kind| kind.name == name && kind.open_loop.is_none_or(|open| open == open_loop);
    KINDS.iter().find(fits).unwrap_or(&OTHER)
}

/// The kind of a trial by its own job: a search sets the schedule.
pub(crate) fn of_record(record: &Record) -> Option<&'static Kind> {
    let open_loop =
        RecordedJob(&record.job).schedule().is_some_and(|schedule| schedule.per_s().is_some());
    Some(of(record.job.get("workload")?.as_str()?, open_loop))
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
    fn the_schedule_chooses_the_latency() {
        assert_eq!(of("http", true).figures[0].name, "response_p50_ns");
        assert_eq!(of("http", false).figures[0].name, "requests_per_s");
        assert_eq!(of("stream", true).figures[0].name, "received_bits_per_s");
        assert_eq!(of("udp", false).figures[0].name, "received_packets_per_s");
        assert_eq!(of("udp", true).figures[0].name, "delay_p50_ns");
        assert_eq!(of("later", false).name, "");
    }

    #[test]
    fn what_a_run_looked_at_is_found_among_the_figures() {
        let name = |kind: &str, open_loop: bool, recorded: &str| {
            let kind = of(kind, open_loop);
            kind.recorded_as(recorded).map(|index| kind.figures[index].name)
        };
        for (kind, open_loop, counted) in [
            ("rr", false, "requests_per_s"),
            ("stream", false, "received_bits_per_s"),
            ("crr", false, "connections_per_s"),
            ("http", false, "proxy_cores"),
        ] {
            assert_eq!(name(kind, open_loop, counted), Some(counted));
        }
        assert_eq!(name("http", true, "response_ns p99"), Some("response_p99_ns"));
        assert_eq!(name("rr", true, "response_ns p50"), Some("response_p50_ns"));
        assert_eq!(name("push", false, "delay_ns p99"), Some("delay_p99_ns"));
        assert_eq!(name("ping", true, "service_ns p50"), Some("rtt_p50_ns"));
        assert_eq!(name("rr", false, "service_ns p999"), None, "no column has it");
        assert_eq!(name("rr", false, "sent_bits_per_s"), None);
        assert_eq!(name("rr", false, ""), None, "an old run does not say it");
    }
}
