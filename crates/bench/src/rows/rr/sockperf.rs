//! Round trips against sockperf, both waiting in the same way.

use crate::peer::sockperf::{self, Waiting};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// A way of waiting: one engine of ours, and sockperf in its place.
pub(crate) struct Wait {
    what: &'static str,
    against: &'static str,
    /// As `--engine` calls it.
    engine: &'static str,
    /// What the peer does in its place.
    waiting: Waiting,
    note: &'static str,
}

/// Both block in the call that receives.
pub(crate) const BLOCKING: Wait = Wait {
    what: "rr 1 B TCP, blocking",
    against: "sockperf --full-rtt",
    engine: "threads",
    waiting: Waiting::Receive,
    note: "Both block in recv, at both ends.",
};

/// Both block in epoll.
pub(crate) const EPOLL: Wait = Wait {
    what: "rr 1 B TCP, epoll",
    against: "sockperf --full-rtt -F epoll",
    engine: "epoll",
    waiting: Waiting::Epoll,
    note: "Both block in epoll_wait and then receive, at both ends. The file of sockperf has one \
           line, `T:10.71.0.2:11111`: it uses epoll only for a list of connections.",
};

/// Both spin.
pub(crate) const SPINNING: Wait = Wait {
    what: "rr 1 B TCP, spin",
    against: "sockperf --full-rtt --nonblocked",
    engine: "spin",
    waiting: Waiting::Spin,
    note: "Both call recv until something is there and never sleep, at both ends.",
};

const GOALS: &[Goal] = &[
    Goal::ratio("rtt_p50_ns", "round trip p50", "us", 1e-3, Reach::AtMost(1.03)),
    Goal::ratio("rtt_mean_ns", "round trip mean", "us", 1e-3, Reach::Shown),
];

/// Round trips of one engine of ours against sockperf.
pub(crate) fn row(wait: &'static Wait) -> Row {
    Row {
        name: format!("rr-sockperf-{}", wait.engine),
        what: wait.what.to_owned(),
        against: wait.against,
        needs: vec![&sockperf::PEER],
        goals: GOALS,
        note: format!(
            "sockperf sends 14 bytes, the smallest message it knows, ours 1 byte; both are one \
             segment. {}",
            wait.note
        ),
        ours: Box::new(|bench| super::ours(bench, wait.engine)),
        theirs: Some(Box::new(|bench| sockperf::ping_pong(bench, wait.waiting))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_wait_in_the_same_way() {
        let ways = [&BLOCKING, &EPOLL, &SPINNING].map(|row| (row.engine, row.waiting));
        let same =
            [("threads", Waiting::Receive), ("epoll", Waiting::Epoll), ("spin", Waiting::Spin)];
        assert_eq!(ways, same);
    }
}
