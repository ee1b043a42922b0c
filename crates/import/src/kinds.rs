//! The kinds of tests that tools make. `analysis` has a line of figures for each.

use hopbench_model::{Pattern, Transport, Unit, WorkloadKind};

/// A kind of test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestKind {
    /// Bytes in bulk over TCP.
    Stream,
    /// Datagrams that nothing answers.
    Datagrams,
    /// Messages that wait for the answers to those before.
    Exchanges,
    /// The same with a new connection for each.
    Connections,
    /// ICMP echoes.
    Echoes,
    /// Requests as fast as they are answered.
    Http,
    /// Requests at a rate, with times from the actual send.
    PacedHttp,
    /// Requests at a rate, with times from when each should have been sent.
    OpenHttp,
}

impl TestKind {
    /// The name of the workload's kind in plans and records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stream => "imported-stream",
            Self::Datagrams => "imported-udp",
            Self::Exchanges => "imported-rr",
            Self::Connections => "imported-crr",
            Self::Echoes => "imported-ping",
            Self::Http => "imported-http",
            Self::PacedHttp => "imported-http-paced",
            Self::OpenHttp => "imported-http-open",
        }
    }

    /// The name of the workload of a tool. Tools measure in different ways, so each has its own.
    pub(crate) fn workload(self, tool: &str) -> String {
        let name = self.name();
        match name.strip_prefix(WorkloadKind::IMPORTED).unwrap_or(name) {
            word if word == tool => tool.to_owned(),
            word => format!("{tool}-{word}"),
        }
    }

    /// How the names of its latency's figures begin.
    pub(crate) fn latency(self) -> &'static str {
        match self {
            Self::OpenHttp => "response",
            Self::Echoes => "rtt",
            _ => "service",
        }
    }

    /// The traits that its jobs carry.
    pub(crate) fn traits(self) -> WorkloadKind {
        let of = |transport, pattern, unit, has_tail| WorkloadKind {
            transport,
            pattern,
            unit,
            has_tail,
        };
        match self {
            Self::Stream => of(Transport::Tcp, Pattern::OneWay, Unit::Bits, false),
            Self::Datagrams => of(Transport::Udp, Pattern::OneWay, Unit::Packets, false),
            Self::Exchanges => of(Transport::Tcp, Pattern::Exchanges, Unit::Requests, true),
            Self::Connections => of(Transport::Tcp, Pattern::Exchanges, Unit::Connections, true),
            Self::Echoes => of(Transport::Icmp, Pattern::Probes, Unit::Echoes, false),
            _ => of(Transport::Http, Pattern::Exchanges, Unit::Requests, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_one_of_another_tool() {
        use TestKind::{
            Connections, Datagrams, Echoes, Exchanges, Http, OpenHttp, PacedHttp, Stream,
        };
        let of_packets = [Stream, Datagrams, Exchanges, Connections, Echoes];
        for kind in of_packets.into_iter().chain([Http, PacedHttp, OpenHttp]) {
            assert!(WorkloadKind::is_imported(kind.name()), "{kind:?}");
        }
    }

    #[test]
    fn a_workload_is_named_after_its_tool() {
        assert_eq!(TestKind::Http.workload("hey"), "hey-http");
        assert_eq!(TestKind::Echoes.workload("ping"), "ping");
    }
}
