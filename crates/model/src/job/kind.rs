//! The static traits of workloads, in one table.

/// What carries the traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// The next message waits for the answer to the one before, unless a schedule says when it
    /// starts.
    Exchanges,
    /// One end sends, whatever became of what it sent before.
    OneWay,
    /// Each message has an answer, and none waits for one.
    Probes,
}

/// What is true of every job of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadKind {
    /// The workload's name, as `hopbench list workloads` prints it.
    pub name: &'static str,
    /// What carries it, where no parameter says otherwise.
    pub transport: Transport,
    /// The order in which the ends send.
    pub pattern: Pattern,
    /// What its throughput counts, in the plural.
    pub unit: &'static str,
    /// Whether a window holds enough of its latencies for a 99th percentile.
    pub has_tail: bool,
    /// Whether the other end must be an agent.
    pub needs_agent: bool,
}

impl WorkloadKind {
    /// The workloads whose traits are known, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self { name: "stream", unit: "bits", has_tail: false, ..Self::OTHER },
        Self { name: "push", unit: "messages", ..Self::OTHER },
        Self { name: "rr", pattern: Pattern::Exchanges, unit: "requests", ..Self::OTHER },
        Self { name: "crr", pattern: Pattern::Exchanges, unit: "connections", ..Self::OTHER },
        Self { name: "udp", transport: Transport::Udp, unit: "packets", ..Self::OTHER },
        Self {
            name: "ping",
            transport: Transport::Icmp,
            pattern: Pattern::Probes,
            unit: "echoes",
            has_tail: false,
            needs_agent: false,
        },
        Self {
            name: "http",
            transport: Transport::Http,
            pattern: Pattern::Exchanges,
            unit: "requests",
            needs_agent: false,
            ..Self::OTHER
        },
    ];

    /// A workload with nothing special about it: one way over TCP, to an agent.
    const OTHER: Self = Self {
        name: "other",
        transport: Transport::Tcp,
        pattern: Pattern::OneWay,
        unit: "messages",
        has_tail: true,
        needs_agent: true,
    };

    /// The traits of a workload, by name; those of a plain one if it is not known.
    pub fn of(name: &str) -> Self {
        Self::ALL.iter().copied().find(|kind| kind.name == name).unwrap_or(Self::OTHER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_workload_is_a_plain_one() {
        assert_eq!(WorkloadKind::of("rr").pattern, Pattern::Exchanges);
        let unknown = WorkloadKind::of("half-close");
        assert_eq!((unknown.name, unknown.transport, unknown.pattern), ("other", Transport::Tcp, Pattern::OneWay));
    }
}
