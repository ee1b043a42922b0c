//! Ctrl-C: the first ends the trial and keeps what was measured, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hopbench_model::Fault;

use crate::output::{Bar, tell};

/// The watch for Ctrl-C: whether the user wants to stop.
#[derive(Debug, Clone)]
pub(crate) struct CtrlC(Arc<AtomicU32>);

impl CtrlC {
    /// Watches for SIGINT and SIGTERM from here on.
    pub(crate) fn watch() -> Result<Self, Fault> {
        Self::clearing(Bar::new(), "")
    }

    /// The same; the second one takes the bar away, and tells `last` unless it is empty.
    pub(crate) fn clearing(bar: Bar, last: &'static str) -> Result<Self, Fault> {
        let times = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&times);
        ctrlc::set_handler(move || {
            if seen.fetch_add(1, Ordering::Relaxed) > 0 {
                bar.clear();
                if !last.is_empty() {
                    tell(last);
                }
                #[allow(clippy::exit)]
                std::process::exit(130);
            }
        })
        .map_err(|e| Fault::environment(format!("cannot watch for Ctrl-C: {e}")))?;
        Ok(Self(times))
    }

    pub(crate) fn wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}
