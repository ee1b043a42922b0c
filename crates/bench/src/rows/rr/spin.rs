//! Spinning round trips against sockperf, which sleeps.

use anyhow::Result;

use crate::bench::Bench;
use crate::peer::{Peer, sockperf};
use crate::row::Row;
use crate::row::figures::Figures;
use crate::row::goal::{Goal, Reach};

/// Spinning round trips against sockperf, which sleeps.
#[derive(Debug)]
pub(in crate::rows) struct RrSpin;

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

    fn needs(&self) -> Vec<&'static Peer> {
        vec![&sockperf::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[
                Goal::ratio("rtt_p50_ns", "round trip p50", "us", 1e-3, Reach::AtMost(0.25)),
                Goal::ratio("rtt_mean_ns", "round trip mean", "us", 1e-3, Reach::Shown),
            ]
        }
    }

    fn note(&self) -> String {
        "Ours polls at both ends and never sleeps; sockperf blocks. What is saved is the wake-up at each end."
            .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        super::ours(bench, "spin")
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        sockperf::ping_pong(bench).map(Some)
    }
}
