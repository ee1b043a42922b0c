//! Spinning round trips against sockperf, which sleeps.

use anyhow::Result;

use crate::bench::Bench;
use crate::figures::Figures;
use crate::goal::{Goal, Reach};
use crate::peer::{Peer, sockperf};
use crate::round_trip;
use crate::row::Row;

/// Spinning round trips against sockperf, which sleeps.
#[derive(Debug)]
pub(super) struct RrSpin;

impl Row for RrSpin {
    fn name(&self) -> String {
        "rr-spin".to_owned()
    }

    fn what(&self) -> String {
        "rr 1 B TCP, spin".to_owned()
    }

    fn against(&self) -> &'static str {
        "sockperf --full-rtt"
    }

    fn needs(&self) -> &'static [&'static Peer] {
        &[&sockperf::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[
                Goal::ratio("rtt_p50_ns", "round trip p50", "us", 1e-3, Reach::AtMost(0.25)),
                Goal::ratio("rtt_mean_ns", "round trip mean", "us", 1e-3, Reach::Shown),
            ]
        }
    }

    fn note(&self) -> &'static str {
        "Ours polls at both ends and never sleeps; sockperf blocks. What is saved is the wake-up at each end."
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        round_trip::ours(bench, "spin")
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        sockperf::ping_pong(bench).map(Some)
    }
}
