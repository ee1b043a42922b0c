//! The line that shows the current rate while a trial runs on a terminal.

use hopbench_model::units::Span;
use hopbench_model::{Job, Tick, Unit};
use hopbench_report::{Step, live_line};
use hopbench_run::Watcher;
use hopbench_wire::Role;

use crate::ctrl_c::CtrlC;
use crate::output::Bar;

/// Shows progress on standard error, when that is a terminal.
pub(super) struct Live {
    bar: Bar,
    ctrl_c: CtrlC,
    unit: Unit,
    last: [Option<Tick>; 2],
    current: [Option<Tick>; 2],
    of: String,
}

impl Live {
    pub(super) fn new(job: &Job, ctrl_c: CtrlC) -> Self {
        Self {
            bar: Bar::new(),
            ctrl_c,
            unit: job.kind().unit,
            last: [None, None],
            current: [None, None],
            of: format!("of {}", Span(job.timing.window_ns)),
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        self.bar.clear();
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
        let server = self.last[1]
            .as_ref()
            .zip(self.current[1].as_ref())
            .map(|(before, now)| Step { before, now });
        let line = live_line(self.unit, Step { before, now: tick }, server);
        self.bar
            .show(&format!("{line}\n{:>12}  Ctrl-C ends it and keeps what was measured", self.of));
    }

    fn interrupted(&self) -> bool {
        self.ctrl_c.wanted()
    }
}
