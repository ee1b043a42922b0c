//! The line that shows the current rate while a trial runs on a terminal.

use std::io::IsTerminal;

use hopbench_model::units::Span;
use hopbench_model::{Job, Tick};
use hopbench_report::{Step, live_line};
use hopbench_run::Watcher;
use hopbench_wire::Role;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt::Interrupt;

/// A line on standard error that is drawn over, where that is a terminal; elsewhere nothing is drawn.
pub(super) fn bar() -> ProgressBar {
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        bar.set_style(style);
    }
    bar
}

/// Shows progress on standard error, when that is a terminal.
pub(super) struct Live {
    bar: ProgressBar,
    interrupt: Interrupt,
    workload: String,
    last: [Option<Tick>; 2],
    current: [Option<Tick>; 2],
    of: String,
}

impl Live {
    pub(super) fn new(job: &Job, interrupt: Interrupt) -> Self {
        Self {
            bar: bar(),
            interrupt,
            workload: job.workload.clone(),
            last: [None, None],
            current: [None, None],
            of: format!("of {}", Span(job.timing.window_ns)),
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Live {
    fn tick(&mut self, role: Role, _end: usize, tick: &Tick) {
        let index = usize::from(role == Role::Server);
        self.last[index] = self.current[index].replace(tick.clone());
        if role == Role::Server {
            return;
        }
        let empty = Tick { t_ns: tick.t_ns.min(0), ..Tick::default() };
        let before = self.last[0].as_ref().unwrap_or(&empty);
        let server = self.last[1].as_ref().zip(self.current[1].as_ref()).map(|(before, now)| Step { before, now });
        let line = live_line(&self.workload, Step { before, now: tick }, server);
        self.bar.set_message(format!("{line}\n{:>12}  Ctrl-C ends it and keeps what was measured", self.of));
    }

    fn interrupted(&self) -> bool {
        self.interrupt.wanted()
    }
}
