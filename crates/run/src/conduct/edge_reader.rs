//! The conductor's own readings at the edges of the window: processes and machines that no agent
//! sees.

use hopbench_model::{EndReport, Fault, Nanos, Timing};
use hopbench_sys::{clock, usage};

use super::ends::{Ends, Watcher};
use super::proxies::{Edges, Proxies};
use super::sandboxes::Sandboxes;

/// How long before the window ends the proxies are read, and whoever looks on is told: at its end
/// clients close their connections.
const AHEAD: Nanos = 20_000_000;
/// The same as a share of the window, where that is less.
const AHEAD_SHARE: Nanos = 50;

/// All that is read, and when.
pub(super) struct EdgeReader {
    outside: Sandboxes,
    proxies: Proxies,
    window_ns: Nanos,
    /// What is still to come, with when it is due; the last is the next.
    due: Vec<(Nanos, Moment)>,
    /// What this thread had spent when the window began.
    spent_before: Option<Nanos>,
    spent: Nanos,
}

/// What there is to do at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// In the middle of the warm-up: what is asked now is the state that a later answer tells of.
    Traffic,
    Start,
    /// Shortly before the end, while all connections are open.
    Proxies,
    End,
}

/// What was read.
pub(super) struct EdgeReadings {
    /// Of each proxy what it had spent at both edges, or why that is not known.
    pub(super) proxies: Vec<Result<Edges, String>>,
    /// A proxy that ended.
    pub(super) fault: Option<Fault>,
    /// CPU time of this thread in the window, these readings included, ns.
    pub(super) conductor_cpu_ns: Nanos,
}

impl EdgeReader {
    pub(super) fn of(ends: &Ends, proxies: Proxies, timing: &Timing, window_start: Nanos) -> Self {
        let end = window_start + timing.window_ns;
        let mut due = vec![
            (end, Moment::End),
            (end - AHEAD.min(timing.window_ns / AHEAD_SHARE), Moment::Proxies),
            (window_start.saturating_sub(timing.warmup_ns / 2), Moment::Traffic),
            (window_start, Moment::Start),
        ];
        // Without a warm-up the window's start goes first.
        due.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        Self {
            outside: Sandboxes::of(ends),
            proxies,
            window_ns: timing.window_ns,
            due,
            spent_before: None,
            spent: 0,
        }
    }

    /// When it wants to look next.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.due.last().map(|(at, _)| *at)
    }

    /// Reads what is due, and lets `watcher` ask while the traffic is on.
    pub(super) fn look(&mut self, watcher: &mut dyn Watcher) {
        while let Some((at, look)) = self.due.pop_if(|(at, _)| *at <= clock::now()) {
            self.take(at, look);
            if matches!(look, Moment::Traffic | Moment::Proxies) {
                watcher.in_traffic();
            }
        }
    }

    fn take(&mut self, due: Nanos, look: Moment) {
        match look {
            Moment::Traffic => {}
            Moment::Start => {
                self.spent_before = Some(usage::thread().cpu_ns());
                self.outside.read();
                self.proxies.read(due);
            }
            Moment::Proxies => self.proxies.read(due),
            Moment::End => {
                self.outside.read();
                self.spent();
            }
        }
    }

    fn spent(&mut self) {
        let before = self.spent_before.unwrap_or_default();
        self.spent = usage::thread().cpu_ns().saturating_sub(before);
    }

    /// The traffic is over. A window that was cut short ends here; a sandbox' own agent says when
    /// it did.
    pub(super) fn end(&mut self) {
        let left = |look| self.due.iter().any(|(_, other)| *other == look);
        if left(Moment::Start) || !left(Moment::End) {
            return;
        }
        if left(Moment::Proxies) {
            self.proxies.read(clock::now());
        }
        self.spent();
    }

    /// Puts what was read of a sandbox into the report of end `end`.
    pub(super) fn correct(&self, end: usize, report: &mut EndReport) {
        self.outside.correct(end, report);
    }

    pub(super) fn seen(self) -> EdgeReadings {
        let (proxies, fault) = self.proxies.seen(self.window_ns);
        EdgeReadings { proxies, fault, conductor_cpu_ns: self.spent }
    }
}
