//! A receiver that lets datagrams gather.
//!
//! A worker that waits for the next datagram makes its sender wake it up for each, and the sender
//! pays for that. So where datagrams follow each other fast, it sleeps for a while and then looks
//! for all that came.

use std::io;

use hopbench_model::Nanos;
use hopbench_sys::clock;

use crate::engine::Engine;

/// How long datagrams gather, and whether more are likely to come at once.
#[derive(Debug)]
pub(super) struct Gather {
    /// 0: not at all.
    for_ns: Nanos,
    is_due: bool,
}

impl Gather {
    pub(super) fn new(for_ns: Nanos) -> Self {
        Self { for_ns, is_due: false }
    }

    /// Waits for what is ready, as the engine does, and lets more of it gather before. `has_turns`:
    /// some slots have not read everything.
    pub(super) fn wait<E: Engine>(
        &mut self,
        engine: &mut E,
        until: Nanos,
        has_turns: bool,
        ready: &mut Vec<usize>,
    ) -> io::Result<()> {
        if self.for_ns == 0 {
            return engine.wait(until, ready);
        }
        let begun = clock::now();
        // There is nothing to do before `until`, which is 0 while a slot has more to read.
        if self.is_due && until > begun {
            clock::sleep_until(until.min(begun + self.for_ns));
        }
        let looked = clock::now();
        engine.wait(until, ready)?;
        let was_soon = clock::now() - looked < self.for_ns;
        self.is_due = has_turns || (!ready.is_empty() && was_soon);
        Ok(())
    }
}
