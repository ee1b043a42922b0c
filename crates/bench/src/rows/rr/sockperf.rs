//! Round trips against sockperf, which blocks.

use anyhow::Result;

use crate::bench::{Bench, Figures, Peer};
use crate::peer::sockperf;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// Round trips of one engine of ours against sockperf.
#[derive(Debug)]
pub(crate) struct RrSockperf {
    what: &'static str,
    /// As `--engine` calls it.
    engine: &'static str,
    goals: &'static [Goal],
    note: &'static str,
}

/// Both block.
pub(crate) const BLOCKING: RrSockperf = RrSockperf {
    what: "rr 1 B TCP, blocking",
    engine: "threads",
    goals: &[median(1.03), MEAN],
    note: "sockperf sends 14 bytes, the smallest message it knows, ours 1 byte; both are one segment. \
           Both block in recv.",
};

/// Ours spins at both ends.
pub(crate) const SPINNING: RrSockperf = RrSockperf {
    what: "rr 1 B TCP, spin",
    engine: "spin",
    goals: &[median(0.25), MEAN],
    note: "Ours polls at both ends and never sleeps; sockperf blocks. What is saved is the wake-up at \
           each end.",
};

const MEAN: Goal = Goal::ratio("rtt_mean_ns", "round trip mean", "us", 1e-3, Reach::Shown);

/// The goal that ours takes at most this share of the peer's time.
const fn median(most: f64) -> Goal {
    Goal::ratio("rtt_p50_ns", "round trip p50", "us", 1e-3, Reach::AtMost(most))
}

impl Row for RrSockperf {
    fn name(&self) -> String {
        format!("rr-sockperf-{}", self.engine)
    }

    fn what(&self) -> String {
        self.what.to_owned()
    }

    fn against(&self) -> &'static str {
        "sockperf --full-rtt"
    }

    fn needs(&self) -> Vec<&'static Peer> {
        vec![&sockperf::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        self.goals
    }

    fn note(&self) -> String {
        self.note.to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        super::ours(bench, self.engine)
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        sockperf::ping_pong(bench).map(Some)
    }
}
