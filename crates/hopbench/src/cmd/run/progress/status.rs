//! The place of a run: how far it is, how long it takes yet, and what is measured now.

use hopbench_model::{Nanos, SECOND};

/// Columns of the bar.
const BAR: u64 = 14;

/// Where a run is.
#[derive(Debug, Default)]
pub(super) struct Status {
    /// When the first trial of this session began.
    pub(super) began: Option<Nanos>,
    /// The time for the rounds of all sessions, and what those before have used of it, ns.
    pub(super) budget: Option<(Nanos, Nanos)>,
    /// Time that is left, ns; nobody knows how long searches take.
    pub(super) left_ns: Option<Nanos>,
    /// The round, or the pass of the searches.
    pub(super) stage: String,
    /// The trial that is measured.
    pub(super) trial: String,
}

impl Status {
    /// In one line: `1m10s of 2m30s, round 14, 12 of 24 decided`.
    pub(super) fn line(&self, decided: (usize, usize), now: Nanos) -> String {
        let spent = self.spent_ns(now);
        let time = match (self.left_ns, self.budget) {
            (None, _) => clock(spent),
            (Some(_), Some((budget, _))) => format!("{} of {}", clock(spent), clock(budget)),
            (Some(left), None) => {
                format!("{} of about {}", clock(spent), clock(spent.saturating_add(left)))
            }
        };
        self.joined(Some(time), decided)
    }

    /// For a terminal, with a bar and the time that is left; the trial below.
    pub(super) fn drawn(&self, decided: (usize, usize), now: Nanos) -> [String; 2] {
        let left = self.left_ns.map(|left| format!("{} left", clock(left)));
        let bar = self.left_ns.map_or(String::new(), |left| {
            let spent = self.spent_ns(now);
            let share = spent as f64 / spent.saturating_add(left).max(1) as f64;
            let full = (BAR as f64 * share).min(BAR as f64) as usize;
            format!("[{}{}] ", "#".repeat(full), "-".repeat(BAR as usize - full))
        });
        let trial = format!("measuring {}", self.trial);
        [format!("{bar}{}", self.joined(left, decided)), trial]
    }

    fn spent_ns(&self, now: Nanos) -> Nanos {
        let earlier = self.budget.map_or(0, |(_, used)| used);
        earlier.saturating_add(self.began.map_or(0, |began| now.saturating_sub(began)))
    }

    /// What there is of the parts.
    fn joined(&self, time: Option<String>, (decided, comparisons): (usize, usize)) -> String {
        let mut parts: Vec<String> = time.into_iter().collect();
        parts.extend(Some(self.stage.clone()).filter(|stage| !stage.is_empty()));
        if comparisons > 0 {
            parts.push(format!("{decided} of {comparisons} decided"));
        }
        parts.join(", ")
    }
}

/// A time in whole seconds, in its two largest units: `45s`, `2m30s`, `1h5m`.
pub(super) fn clock(ns: Nanos) -> String {
    let s = ns.saturating_add(SECOND / 2) / SECOND;
    let units = [("h", s / 3600), ("m", s / 60 % 60), ("s", s % 60)];
    let told = units.iter().filter(|(_, count)| *count > 0).take(2);
    let told: String = told.map(|(unit, count)| format!("{count}{unit}")).collect();
    if told.is_empty() { "0s".to_owned() } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_units() {
        for (ns, text) in [
            (0, "0s"),
            (499_999_999, "0s"),
            (45 * SECOND, "45s"),
            (69_600_000_000, "1m10s"),
            (150 * SECOND, "2m30s"),
            (120 * SECOND, "2m"),
            (3905 * SECOND, "1h5m"),
        ] {
            assert_eq!(clock(ns), text);
        }
    }

    #[test]
    fn the_line_says_how_far_it_is_and_how_much_is_decided() {
        let mut status = Status {
            began: Some(5 * SECOND),
            budget: Some((150 * SECOND, 30 * SECOND)),
            left_ns: Some(80 * SECOND),
            stage: "round 14".to_owned(),
            trial: "overlay web".to_owned(),
        };
        let now = 45 * SECOND;
        assert_eq!(status.line((12, 24), now), "1m10s of 2m30s, round 14, 12 of 24 decided");
        let drawn = status.drawn((12, 24), now);
        assert_eq!(drawn[0], "[######--------] 1m20s left, round 14, 12 of 24 decided");
        assert_eq!(drawn[1], "measuring overlay web");
        status.budget = None;
        assert_eq!(status.line((0, 0), now), "40s of about 2m, round 14");
        status.left_ns = None;
        status.stage = "searching, pass 3, 2 of 7".to_owned();
        assert_eq!(status.line((0, 0), now), "40s, searching, pass 3, 2 of 7");
        assert_eq!(status.drawn((0, 0), now)[0], "searching, pass 3, 2 of 7");
        status.budget = Some((u64::MAX, u64::MAX));
        status.left_ns = Some(u64::MAX);
        assert!(status.drawn((0, 0), now)[0].starts_with("[##############] "));
        let none = Status { left_ns: Some(0), ..Status::default() };
        assert_eq!(none.drawn((0, 0), now)[0], "[--------------] 0s left");
    }
}
