//! The differences between the nodes' clocks and this machine's.
//!
//! Readings have the times of their nodes, and trials those of this machine. A clock that is 5 s
//! ahead would put earlier readings into the traffic. Every answer of a kubelet says when it was
//! written, in whole seconds. This machine knows the moments of the question and of the answer. So
//! one answer leaves an uncertainty of a second and of the time that it took. All answers together
//! leave little more than the shortest of those times.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A difference that is told, ms.
const WORTH_MS: i64 = 1000;

/// The differences of the nodes' clocks, by the names of the cluster's nodes.
#[derive(Debug, Default)]
pub struct Clocks {
    ahead: Mutex<BTreeMap<String, Ahead>>,
}

/// The bounds of a clock's lead, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ahead {
    least: i64,
    most: i64,
    is_told: bool,
}

impl Ahead {
    /// The part of the lead that is sure. A lead that may be none counts as none.
    fn sure(self) -> i64 {
        0_i64.clamp(self.least, self.most)
    }
}

impl Clocks {
    /// Learns from an answer that was written in second `told` of the node's clock, between the
    /// moments `asked` and `answered` of this machine's; all since 1970 UTC.
    pub(super) fn see(&self, node: &str, told: i64, asked: Duration, answered: Duration) {
        let ms = |moment: Duration| i64::try_from(moment.as_millis()).unwrap_or(i64::MAX / 2);
        let now = Ahead {
            least: told * 1000 - ms(answered) - 1,
            most: told * 1000 + 1000 - ms(asked),
            is_told: false,
        };
        let mut all = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(node.to_owned()).or_insert(now);
        let both =
            Ahead { least: known.least.max(now.least), most: known.most.min(now.most), ..*known };
        // One of the two clocks was set.
        *known = if both.least <= both.most { both } else { now };
    }

    /// A moment of a node's clock by this machine's.
    pub(crate) fn here(&self, node: &str, at: Duration) -> Duration {
        let all = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = all.get(node).map_or(0, |ahead| ahead.sure());
        let off = Duration::from_millis(ahead.unsigned_abs());
        if ahead < 0 { at + off } else { at.saturating_sub(off) }
    }

    /// The clocks that differ by a second and more, and were not told yet: a sentence each.
    pub fn news(&self) -> Vec<String> {
        let mut all = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let new =
            all.iter_mut().filter(|(_, ahead)| !ahead.is_told && ahead.sure().abs() >= WORTH_MS);
        new.map(|(node, ahead)| {
            ahead.is_told = true;
            let (seconds, word) = (
                ahead.sure().abs() as f64 / 1e3,
                if ahead.sure() > 0 { "ahead of" } else { "behind" },
            );
            format!(
                "the clock of node {node} is {seconds:.1} s {word} this machine's: the times of \
                 its meters are corrected"
            )
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: u64 = 86_400_000;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(DAY_MS + ms)
    }

    /// Answers that take 30 ms, of a node whose clock is so far ahead.
    fn seen(ahead_ms: i64, moments_ms: &[u64]) -> Clocks {
        let clocks = Clocks::default();
        for ms in moments_ms {
            let written = (DAY_MS + ms + 10).checked_add_signed(ahead_ms).unwrap();
            clocks.see("n1", (written / 1000) as i64, at(*ms), at(ms + 30));
        }
        clocks
    }

    #[test]
    fn clocks_that_may_agree_are_left_alone() {
        let moments: Vec<u64> = (0..200).map(|n| n * 257).collect();
        let clocks = seen(0, &moments);
        assert_eq!(clocks.here("n1", at(5)), at(5));
        assert_eq!(clocks.here("unknown", at(5)), at(5));
        assert!(clocks.news().is_empty());
        assert_eq!(seen(900, &[50]).here("n1", at(5)), at(5), "one answer leaves a second");
    }

    #[test]
    fn a_clock_that_differs_is_corrected_the_better_the_more_is_seen() {
        let moments: Vec<u64> = (0..200).map(|n| n * 257).collect();
        for ahead in [-7_300_i64, -650, 650, 7_300] {
            let clocks = seen(ahead, &moments);
            let here =
                clocks.here("n1", at(100_000)).as_millis() as i64 - (DAY_MS + 100_000) as i64;
            assert!((here + ahead).abs() <= 31, "{ahead}: {here}");
        }
        let clocks = seen(-7_300, &moments);
        let news = clocks.news();
        assert!(
            news[0].starts_with("the clock of node n1 is 7.3 s behind this machine's"),
            "{news:?}"
        );
        assert!(clocks.news().is_empty(), "once");
    }

    #[test]
    fn a_clock_that_was_set_is_learned_anew() {
        let clocks = seen(5_000, &[0, 300, 700]);
        for ms in (1_000..60_000).step_by(257) {
            clocks.see("n1", ((DAY_MS + ms + 10) / 1000) as i64, at(ms), at(ms + 30));
        }
        assert_eq!(clocks.here("n1", at(5)), at(5));
    }
}
