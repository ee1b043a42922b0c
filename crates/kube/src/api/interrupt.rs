//! Interruption of waiting: the caller is asked meanwhile whether it wants to stop.

use std::future::Future;
use std::time::Duration;

use hopbench_model::Fault;
use tokio::time::sleep;

/// Polling interval.
const LOOK: Duration = Duration::from_millis(100);

/// Knows whether the caller wants to stop; by default it does not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(hopbench_testbed::Interrupt);

impl Interrupt {
    pub(crate) fn by(wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(hopbench_testbed::Interrupt::by(wanted))
    }

    /// The same for who does not wait here.
    pub(crate) fn shared(&self) -> hopbench_testbed::Interrupt {
        self.0.clone()
    }

    /// Waits for an answer, unless the caller wants to stop.
    pub(crate) async fn unless<T>(
        &self,
        what: &str,
        waiting: impl Future<Output = T>,
    ) -> Result<T, Fault> {
        tokio::select! {
            answer = waiting => Ok(answer),
            () = self.wanted() => {
                Err(Fault::measuring(format!("interrupted while waiting for {what}")))
            }
        }
    }

    async fn wanted(&self) {
        while !self.0.wanted() {
            sleep(LOOK).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn who_wants_to_stop_waits_no_longer() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let wanted = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&wanted);
        let interrupt = Interrupt::by(move || seen.load(Ordering::Relaxed));
        assert_eq!(runtime.block_on(interrupt.unless("it", ready(1))), Ok(1));
        wanted.store(true, Ordering::Relaxed);
        let stopped = runtime.block_on(interrupt.unless("the pods", pending::<()>()));
        assert_eq!(stopped, Err(Fault::measuring("interrupted while waiting for the pods")));
    }
}
