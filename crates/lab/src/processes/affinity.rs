//! The CPUs of a thread, and of what it starts.

use std::io;

/// Runs `body` with the calling thread on these CPUs; what is started there stays on them.
pub(crate) fn on<T>(cpus: Option<&[usize]>, body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(cpus) = cpus else { return body() };
    let before = hopbench_sys::cpu::allowed()?;
    hopbench_sys::cpu::pin_thread(cpus)?;
    let result = body();
    hopbench_sys::cpu::pin_thread(&before)?;
    result
}
