//! The line that is drawn in place: how far the run is, how long it takes yet, and the latest
//! figure.

use hopbench_model::Nanos;

/// Columns of the line: a narrow terminal must not break it.
const WIDTH: usize = 76;
/// Columns of the bar.
const BAR: usize = 14;

/// Where a run is.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Trials that are over, and all of them; none while it searches.
    pub(super) trials: Option<(usize, usize)>,
    /// What takes the place of the trials: the pass of the searches, or how the rounds go.
    pub(super) stage: String,
    /// Time that is left, ns.
    pub(super) left_ns: Option<Nanos>,
    /// The trial that is measured.
    pub(super) trial: String,
    /// What was measured last: `bridge latency: 66.0 us`.
    pub(super) latest: String,
}

impl Live {
    /// How far it is, in one line: `34 of 102 trials (33 %), 1:05 left; bridge latency: 66.0 us`.
    pub(super) fn line(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some((done, all)) = self.trials {
            let share = (100 * done).checked_div(all).unwrap_or(0);
            parts.push(format!("{done} of {all} trials ({share} %)"));
        }
        if !self.stage.is_empty() {
            parts.push(self.stage.clone());
        }
        parts.extend(self.left_ns.map(|left| format!("{} left", clock(left))));
        let latest =
            if self.latest.is_empty() { String::new() } else { format!("; {}", self.latest) };
        format!("{}{latest}", parts.join(", "))
    }

    /// The same for a terminal, with a bar, and the trial that goes on below it. `rate`: what it
    /// moves now; empty: not known yet.
    pub(super) fn drawn(&self, rate: &str) -> String {
        let bar = self.trials.map_or(String::new(), |(done, all)| {
            let full = (BAR * done).checked_div(all).unwrap_or(0).min(BAR);
            format!("[{}{}] ", "#".repeat(full), "-".repeat(BAR - full))
        });
        let below =
            if rate.is_empty() { self.trial.clone() } else { format!("{}\n{rate}", self.trial) };
        let text = format!("{bar}{}\n{below}", self.line());
        text.lines().map(cut).collect::<Vec<_>>().join("\n")
    }
}

/// As much of a line as fits.
fn cut(line: &str) -> String {
    line.chars().take(WIDTH).collect()
}

/// `1:05` or `2:00:05`.
pub(super) fn clock(ns: u64) -> String {
    let s = ns.div_ceil(1_000_000_000);
    let (hours, minutes, seconds) = (s / 3600, s / 60 % 60, s % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_left_are_rounded_up() {
        assert_eq!(clock(0), "0:00");
        assert_eq!(clock(1), "0:01");
        assert_eq!(clock(65_000_000_000), "1:05");
        assert_eq!(clock(7_205_000_000_000), "2:00:05");
    }

    #[test]
    fn the_line_says_how_far_it_is_and_what_was_seen() {
        let mut live = Live {
            trials: Some((34, 102)),
            left_ns: Some(65_000_000_000),
            trial: "overlay web".to_owned(),
            latest: "bridge latency: 66.0 us".to_owned(),
            ..Live::default()
        };
        assert_eq!(live.line(), "34 of 102 trials (33 %), 1:05 left; bridge latency: 66.0 us");
        let drawn = "[####----------] 34 of 102 trials (33 %), 1:05 left; bridge latency: 66.0 us\noverlay web\n5/s";
        assert_eq!(live.drawn("5/s"), drawn);
        live = Live { stage: "searching, pass 3".to_owned(), ..Live::default() };
        assert_eq!(live.line(), "searching, pass 3");
    }
}
