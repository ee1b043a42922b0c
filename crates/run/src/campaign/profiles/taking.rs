//! A profiler that is read while a trial runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use hopbench_meter::profile::{Access, Profiler, Watched};
use hopbench_model::{Nanos, Tick};
use hopbench_sys::clock;
use hopbench_wire::Role;

use crate::campaign::event::Observer;
use crate::conduct::Watcher;

/// How often the samples are taken from the kernel, ns.
const READ_EVERY: Nanos = 50_000_000;

/// A profiler with the thread that reads it.
pub(super) struct Taking {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Profiler>>,
}

impl Taking {
    /// Begins.
    ///
    /// # Errors
    /// What the kernel refuses, in words.
    pub(super) fn start(watched: Vec<Watched>, access: Access) -> Result<Self, String> {
        let mut profiler = Profiler::open(watched, access)?;
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let read = move || {
            while !ended.load(Ordering::Relaxed) {
                profiler.read();
                clock::sleep_until(clock::now() + READ_EVERY);
            }
            profiler
        };
        let thread = std::thread::Builder::new().name("hb-profile".to_owned()).spawn(read);
        let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Self { over, thread: Some(thread) })
    }

    /// The profiler, which no thread reads any more; `None` where the thread panicked.
    pub(super) fn end(mut self) -> Option<Profiler> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Watches a trial for its window.
pub(super) struct ForWindow<'a> {
    pub(super) observer: &'a mut dyn Observer,
    /// Its start by the monotonic clock, and its length, ns; absent: it has none yet.
    pub(super) window: Option<(Nanos, Nanos)>,
}

impl Watcher for ForWindow<'_> {
    fn tick(&mut self, role: Role, end: usize, tick: &Tick) {
        self.observer.tick(role, end, tick);
    }

    fn interrupted(&self) -> bool {
        self.observer.interrupted()
    }

    fn window(&mut self, start: Nanos, window_ns: Nanos) {
        self.window = Some((start, window_ns));
    }
}
