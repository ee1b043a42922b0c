//! What the conductor itself reads at the edges of the window: what no agent sees of its own process and machine.

use hopbench_model::{EndReport, Fault, Nanos, Timing};
use hopbench_sys::usage;

use super::Ends;
use super::outside::Outside;
use super::proxies::{Edges, Proxies};

/// All that is read, and when.
pub(super) struct Beside {
    outside: Outside,
    proxies: Proxies,
    /// Edges of the window that are still to come; the last is the next.
    edges: Vec<Nanos>,
    /// What this thread had spent when the window began.
    spent_before: Option<Nanos>,
    spent: Nanos,
}

/// What was read.
pub(super) struct Seen {
    /// Of each proxy what it had spent at both edges, or why that is not known.
    pub(super) proxies: Vec<Result<Edges, String>>,
    /// A proxy that ended.
    pub(super) fault: Option<Fault>,
    /// CPU time of this thread in the window, these readings included, ns.
    pub(super) conductor_cpu_ns: Nanos,
}

impl Beside {
    pub(super) fn of(ends: &Ends, proxies: Proxies, timing: &Timing, window_start: Nanos) -> Self {
        let edges = vec![window_start + timing.window_ns, window_start];
        Self { outside: Outside::of(ends), proxies, edges, spent_before: None, spent: 0 }
    }

    /// When it wants to look next.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.edges.last().copied()
    }

    /// Reads, when an edge of the window has come.
    pub(super) fn look(&mut self, now: Nanos) {
        while self.next().is_some_and(|edge| edge <= now) {
            self.edges.pop();
            self.read(true);
        }
    }

    fn read(&mut self, outside: bool) {
        let before = usage::thread().cpu_ns();
        if outside {
            self.outside.read();
        }
        self.proxies.read();
        match self.spent_before {
            None => self.spent_before = Some(before),
            Some(before) => self.spent = usage::thread().cpu_ns().saturating_sub(before),
        }
    }

    /// The traffic is over. A window that was cut short ends here; a sandbox' own agent says when it did.
    pub(super) fn end(&mut self) {
        if self.edges.len() == 1 {
            self.read(false);
        }
    }

    /// Puts what was read of a sandbox into the report of end `end`.
    pub(super) fn correct(&self, end: usize, report: &mut EndReport) {
        self.outside.correct(end, report);
    }

    pub(super) fn seen(self) -> Seen {
        let (proxies, fault) = self.proxies.seen();
        Seen { proxies, fault, conductor_cpu_ns: self.spent }
    }
}
