//! The static traits of workloads.

use serde::{Deserialize, Serialize};

/// What carries the traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Bytes over TCP.
    Tcp,
    /// HTTP/1.1 over TCP.
    Http,
    /// UDP datagrams.
    Udp,
    /// ICMP echoes.
    Icmp,
}

/// The order in which the ends send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// The next message waits for the answer to the one before, unless a schedule says when it
    /// starts.
    Exchanges,
    /// One end sends, whatever became of what it sent before.
    OneWay,
    /// Each message has an answer, and none waits for one.
    Probes,
}

/// What throughput counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bits of payload.
    Bits,
    /// Messages that arrived.
    Messages,
    /// Requests that were answered.
    Requests,
    /// Connections: each exchange opens one.
    Connections,
    /// Datagrams that arrived.
    Packets,
    /// Echoes of the whole window: they are too few to be told by the second.
    Echoes,
}

impl Unit {
    /// The metric that counts them in records.
    pub fn metric(self) -> &'static str {
        match self {
            Self::Bits => "received_bits_per_s",
            Self::Messages => "messages_per_s",
            Self::Requests => "requests_per_s",
            Self::Connections => "connections_per_s",
            Self::Packets => "received_packets_per_s",
            Self::Echoes => "received",
        }
    }
}

/// What is true of every job of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadKind {
    /// What carries it, where no parameter says otherwise.
    pub transport: Transport,
    /// The order in which the ends send.
    pub pattern: Pattern,
    /// What its throughput counts.
    pub unit: Unit,
    /// Whether a window holds enough of its latencies for a 99th percentile.
    pub has_tail: bool,
}

/// The workloads of version 0.1: their jobs do not carry their kind.
const TABLE: &[(&str, WorkloadKind)] = {
    use Pattern::{Exchanges, Probes};
    use Transport::{Http, Icmp, Udp};
    const PLAIN: WorkloadKind = WorkloadKind::PLAIN;
    &[
        ("stream", WorkloadKind { unit: Unit::Bits, has_tail: false, ..PLAIN }),
        ("push", WorkloadKind { unit: Unit::Messages, ..PLAIN }),
        ("rr", WorkloadKind { pattern: Exchanges, ..PLAIN }),
        ("crr", WorkloadKind { pattern: Exchanges, unit: Unit::Connections, ..PLAIN }),
        ("udp", WorkloadKind { transport: Udp, unit: Unit::Packets, ..PLAIN }),
        (
            "ping",
            WorkloadKind { transport: Icmp, pattern: Probes, unit: Unit::Echoes, has_tail: false },
        ),
        ("http", WorkloadKind { transport: Http, pattern: Exchanges, ..PLAIN }),
    ]
};

impl WorkloadKind {
    /// How the names of workloads begin whose trials another tool made.
    pub const IMPORTED: &str = "imported-";

    /// What is assumed of a workload about which nothing is known: one way over TCP.
    pub const PLAIN: Self = Self {
        transport: Transport::Tcp,
        pattern: Pattern::OneWay,
        unit: Unit::Requests,
        has_tail: true,
    };

    /// The kind of a workload whose jobs do not carry it; a plain one if its name is not known.
    pub fn of(name: &str) -> Self {
        TABLE.iter().find(|(known, _)| *known == name).map_or(Self::PLAIN, |(_, kind)| *kind)
    }

    /// Whether a workload of this name was measured by another tool: `hopbench import` read what it
    /// stated, and nothing is proved of it.
    pub fn is_imported(name: &str) -> bool {
        name.starts_with(Self::IMPORTED)
    }

    /// The kind that jobs of a workload of this name carry: none where [`of`](Self::of) knows it.
    pub fn carried(self, name: &str) -> Option<Self> {
        Some(self).filter(|kind| *kind != Self::of(name))
    }

    /// Whether it is made of exchanges. All other workloads send whatever has become of what they
    /// sent before: the words *closed loop* and *open loop* say nothing of them.
    pub fn is_of_exchanges(self) -> bool {
        self.pattern == Pattern::Exchanges
    }

    /// Whether each exchange opens a connection. An agent then takes any number of flows, and says
    /// no word before the answer: nobody waits for one.
    pub fn connects_for_each(self) -> bool {
        self.unit == Unit::Connections
    }

    /// Whether it talks HTTP, to any server.
    pub fn is_http(self) -> bool {
        self.transport == Transport::Http
    }

    /// Whether it sends datagrams that nobody answers. They wait for no connection, and those that
    /// are sent need not arrive.
    pub fn is_one_way_udp(self) -> bool {
        (self.transport, self.pattern) == (Transport::Udp, Pattern::OneWay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn an_unknown_workload_is_a_plain_one() {
        assert_eq!(WorkloadKind::of("rr").pattern, Pattern::Exchanges);
        assert_eq!(WorkloadKind::of("half-close"), WorkloadKind::PLAIN);
    }

    #[test]
    fn a_name_tells_what_another_tool_measured() {
        let names = ["imported-http", "http", "my-imported-http"];
        assert_eq!(names.map(WorkloadKind::is_imported), [true, false, false]);
    }

    #[test]
    fn a_job_carries_the_kind_that_no_table_knows() {
        let kind = WorkloadKind {
            pattern: Pattern::Exchanges,
            unit: Unit::Connections,
            ..WorkloadKind::PLAIN
        };
        assert_eq!(kind.carried("crr"), None);
        let mut job = fixture::job("half-close", serde_json::json!({}));
        let text = |job: &crate::Job| serde_json::to_value(job).expect("a job is JSON");
        assert_eq!(text(&job).get("kind"), None, "files of 0.1 have no such field");
        job.kind = kind.carried("half-close");
        let read: crate::Job =
            serde_json::from_value(text(&job)).expect("the job as it was written");
        assert_eq!((read.kind(), read.is_closed_loop()), (kind, true));
        let record = crate::Record { job: text(&job), ..fixture::record(&[]) };
        assert_eq!(record.kind(), kind);
    }
}
