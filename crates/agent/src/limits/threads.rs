//! The bound on worker threads over all trials of an agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hopbench_model::{EngineKind, Fault, Job};

/// A bounded count of worker threads, over all trials of an agent.
#[derive(Debug)]
pub(crate) struct ThreadLimit {
    most: Option<u32>,
    taken: AtomicU32,
}

/// One trial's threads among them; dropping it gives them back.
#[derive(Debug)]
pub(crate) struct ThreadGuard {
    threads: Arc<ThreadLimit>,
    share: u32,
}

impl ThreadLimit {
    /// At most so many at once; `None`: they are only counted.
    pub(crate) fn new(most: Option<u32>) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicU32::new(0) })
    }

    /// Whether fewer are free than one end of a job takes.
    pub(crate) fn lacks(&self, job: &Job) -> bool {
        let free = self.most.unwrap_or(u32::MAX).saturating_sub(self.taken.load(Ordering::Acquire));
        free < share(job)
    }

    /// The threads of one end of a job; one where it only looks on, which is its session's.
    pub(crate) fn take(self: &Arc<Self>, job: &Job, looks_on: bool) -> Result<ThreadGuard, Fault> {
        let share = if looks_on { 1 } else { share(job) };
        let why = match job.engine {
            EngineKind::Threads if !looks_on => " (the engine `threads` takes one a connection)",
            _ => "",
        };
        let most = self.most.unwrap_or(u32::MAX);
        let with_share = |taken: u32| taken.checked_add(share).filter(|sum| *sum <= most);
        match self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, with_share) {
            Ok(_) => Ok(ThreadGuard { threads: Arc::clone(self), share }),
            Err(taken) => Err(Fault::environment(format!(
                "the agent allows {most} worker threads at once, {taken} are taken and {share} \
                 were asked for{why}; ask for fewer or raise its --max-threads"
            ))),
        }
    }
}

/// The threads that one end of a job takes.
fn share(job: &Job) -> u32 {
    if job.engine == EngineKind::Threads { job.connections } else { job.threads }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        self.threads.taken.fetch_sub(self.share, Ordering::AcqRel);
    }
}
