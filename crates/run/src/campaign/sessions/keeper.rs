//! The thread that keeps sessions over networks alive while they rest.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use hopbench_model::Fault;
use hopbench_sys::clock;

use super::resting::Resting;

/// A thread that says a word to each of them now and then; dropping this ends it.
///
/// A word is a TLS record of some 30 bytes each way, about 50 us of CPU at the agent. Every 2 s,
/// that is 25 millionths of a core. The other way is to let sessions end and open them anew before
/// each trial. It costs a handshake of some ms at each agent and, where others forward the
/// connection, the work of setting that up: right before the warm-up.
#[derive(Debug)]
pub(super) struct Keeper {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Agents end sessions that are silent for 5 s; one word may come late.
const TURN: Duration = Duration::from_secs(2);

impl Keeper {
    /// Keeps whatever rests there.
    pub(super) fn of(resting: Arc<Resting>) -> Result<Self, Fault> {
        let (stop, stopped) = channel();
        let keep = move || {
            while stopped.recv_timeout(TURN) == Err(RecvTimeoutError::Timeout) {
                let now = clock::now();
                // One that broke is opened again when it is needed.
                resting.lock().retain(|_, agent| !agent.is_remote() || agent.rest(now).is_ok());
            }
        };
        let thread = std::thread::Builder::new().name("hb-keep".to_owned()).spawn(keep);
        let thread =
            thread.map_err(|e| Fault::environment(format!("cannot start a thread: {e}")))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
