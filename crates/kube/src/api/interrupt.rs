//! Interruption of waiting: the caller is asked meanwhile whether it wants to stop.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::Fault;
use tokio::time::sleep;

/// Polling interval.
const LOOK: Duration = Duration::from_millis(100);

/// Knows whether the caller wants to stop; by default it does not.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    pub(crate) fn by(wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(wanted)))
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
        while !self.0.as_ref().is_some_and(|wanted| wanted()) {
            sleep(LOOK).await;
        }
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt").field("is_heeded", &self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
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
