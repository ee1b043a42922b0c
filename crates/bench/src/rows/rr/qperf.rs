//! Blocking round trips against qperf.

use crate::peer::qperf;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const GOALS: &[Goal] = &[
    Goal::ratio("rtt_p50_ns", "round trip p50 (qperf: mean)", "us", 1e-3, Reach::AtMost(1.03)),
    Goal::ratio("rtt_mean_ns", "round trip mean", "us", 1e-3, Reach::Shown),
];

/// Blocking round trips against qperf.
pub(crate) fn row() -> Row {
    Row {
        name: "rr-qperf".to_owned(),
        what: "rr 1 B TCP, blocking".to_owned(),
        against: "qperf tcp_lat x 2",
        needs: vec![&qperf::PEER],
        goals: GOALS,
        note: "qperf prints only the mean of half a round trip; our p50 is judged against twice \
               that. A mean is above the median where the tail is long, which favours ours, so \
               mean against mean is shown below it."
            .to_owned(),
        ours: Box::new(|bench| super::ours(bench, "threads")),
        theirs: Some(Box::new(qperf::latency)),
    }
}
