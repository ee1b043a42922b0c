//! Blocking round trips against sockperf.

use anyhow::Result;

use crate::bench::Bench;
use crate::peer::{Peer, sockperf};
use crate::row::Row;
use crate::row::figures::Figures;
use crate::row::goal::{Goal, Reach};

/// Blocking round trips against sockperf.
#[derive(Debug)]
pub(in crate::rows) struct RrSockperf;

impl Row for RrSockperf {
    fn name(&self) -> String {
        "rr-sockperf".to_owned()
    }

    fn what(&self) -> String {
        "rr 1 B TCP, blocking".to_owned()
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
                Goal::ratio("rtt_p50_ns", "round trip p50", "us", 1e-3, Reach::AtMost(1.03)),
                Goal::ratio("rtt_mean_ns", "round trip mean", "us", 1e-3, Reach::Shown),
            ]
        }
    }

    fn note(&self) -> String {
        "sockperf sends 14 bytes, the smallest message it knows, ours 1 byte; both are one segment. Both block in recv."
            .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        super::ours(bench, "threads")
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        sockperf::ping_pong(bench).map(Some)
    }
}
