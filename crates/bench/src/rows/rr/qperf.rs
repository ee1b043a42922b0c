//! Blocking round trips against qperf.

use anyhow::Result;

use crate::bench::{Bench, Figures, Peer};
use crate::peer::qperf;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// Blocking round trips against qperf.
#[derive(Debug)]
pub(crate) struct RrQperf;

impl Row for RrQperf {
    fn name(&self) -> String {
        "rr-qperf".to_owned()
    }

    fn what(&self) -> String {
        "rr 1 B TCP, blocking".to_owned()
    }

    fn against(&self) -> &'static str {
        "qperf tcp_lat x 2"
    }

    fn needs(&self) -> Vec<&'static Peer> {
        vec![&qperf::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[
                Goal::ratio(
                    "rtt_p50_ns",
                    "round trip p50 (qperf: mean)",
                    "us",
                    1e-3,
                    Reach::AtMost(1.03),
                ),
                Goal::ratio("rtt_mean_ns", "round trip mean", "us", 1e-3, Reach::Shown),
            ]
        }
    }

    fn note(&self) -> String {
        "qperf prints only the mean of half a round trip; our p50 is judged against twice that. A mean is above the median where the tail is long, which favours ours, so mean against mean is shown below it."
        .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        super::ours(bench, "threads")
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        qperf::latency(bench).map(Some)
    }
}
