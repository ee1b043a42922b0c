//! The figures of one test, whichever way they were printed.

use hopbench_model::units::Bytes;

use super::test::Test;
use crate::kinds::TestKind::{Connections, Datagrams, Stream};
use crate::stated::Stated;

/// The figures that an output states.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Length of the test, s.
    pub(super) seconds: Option<f64>,
    /// Bytes of a message, or of a request.
    pub(super) size: Option<f64>,
    /// Bytes of a response.
    pub(super) response: Option<f64>,
    /// What arrived, bits/s.
    pub(super) received: Option<f64>,
    /// What the sender sent, bits/s.
    pub(super) sent: Option<f64>,
    /// Segments of TCP that were sent again.
    pub(super) sent_again: Option<f64>,
    /// Datagrams that the sender sent.
    pub(super) datagrams_sent: Option<f64>,
    /// Datagrams that its kernel did not take.
    pub(super) datagrams_refused: Option<f64>,
    /// Datagrams that arrived.
    pub(super) datagrams_received: Option<f64>,
    /// Transactions a second.
    pub(super) transactions: Option<f64>,
    /// Points of the latency of a transaction, ns.
    pub(super) latency: Vec<(&'static str, f64)>,
    /// The algorithm of the sender against congestion.
    pub(super) congestion: Option<String>,
    /// CPU time of the client's and of the server's machine, in percent of all that they had.
    pub(super) busy: [Option<f64>; 2],
}

impl Figures {
    /// All of this, as records have it.
    pub(super) fn stated(&self, test: &Test) -> Stated {
        let mut out = Stated::of(test.kind);
        out.window_s = self.seconds.unwrap_or(0.0);
        match test.kind {
            Stream => {
                out.param("direction", if test.is_back { "from-server" } else { "to-server" });
                self.bytes(&mut out);
            }
            Datagrams => {
                self.bytes(&mut out);
                self.datagrams(&mut out);
            }
            kind => {
                out.word("protocol", test.protocol());
                let name = if kind == Connections { "connections_per_s" } else { "requests_per_s" };
                optional(&mut out, name, self.transactions);
                self.latency.iter().for_each(|(point, ns)| out.latency(point, *ns));
            }
        }
        for (name, bytes) in [("size", self.size), ("response", self.response)] {
            if let Some(bytes) = bytes.filter(|bytes| *bytes > 0.0) {
                out.param(name, Bytes(bytes as u64).to_string());
            }
        }
        if let Some(word) = &self.congestion {
            out.word("congestion", word);
        }
        // It is that of everything on a machine, so it is no cost of an end.
        let names = ["client_machine_busy_ratio", "server_machine_busy_ratio"];
        for (name, percent) in names.into_iter().zip(self.busy) {
            optional(&mut out, name, percent.map(|percent| percent / 100.0));
        }
        out
    }

    fn bytes(&self, out: &mut Stated) {
        optional(out, "received_bits_per_s", self.received);
        optional(out, "sent_bits_per_s", self.sent);
        optional(out, "retransmitted_segments", self.sent_again);
    }

    fn datagrams(&self, out: &mut Stated) {
        let per_s = |count: Option<f64>| Some(count? / self.seconds?);
        optional(out, "sent_packets_per_s", per_s(self.datagrams_sent));
        optional(out, "received_packets_per_s", per_s(self.datagrams_received));
        if let (Some(sent), Some(received)) = (self.datagrams_sent, self.datagrams_received)
            && sent > 0.0
        {
            out.metric("lost_ratio", (1.0 - received / sent).max(0.0));
        }
        out.error("not taken by the sender's kernel", self.datagrams_refused.unwrap_or(0.0) as u64);
    }
}

fn optional(out: &mut Stated, name: &str, value: Option<f64>) {
    if let Some(value) = value {
        out.metric(name, value);
    }
}
