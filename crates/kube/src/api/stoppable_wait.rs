//! Waiting that can be stopped: the caller is asked meanwhile whether it wants to.

use std::future::Future;
use std::time::Duration;

use hopbench_model::Fault;
use hopbench_testbed::Interrupt;
use tokio::time::sleep;

/// Polling interval.
const LOOK: Duration = Duration::from_millis(100);

/// Waits for answers until the caller wants to stop; by default it does not.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoppableWait(Interrupt);

impl StoppableWait {
    pub(crate) fn by(wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Interrupt::by(wanted))
    }

    /// The question whether the caller wants to stop, for who does not wait here.
    pub(crate) fn interrupt(&self) -> Interrupt {
        self.0.clone()
    }

    /// Waits for an answer, unless the caller wants to stop.
    pub(crate) async fn for_answer<T>(
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
        let wait = StoppableWait::by(move || seen.load(Ordering::Relaxed));
        assert_eq!(runtime.block_on(wait.for_answer("it", ready(1))), Ok(1));
        wanted.store(true, Ordering::Relaxed);
        let stopped = runtime.block_on(wait.for_answer("the pods", pending::<()>()));
        assert_eq!(stopped, Err(Fault::measuring("interrupted while waiting for the pods")));
    }
}
