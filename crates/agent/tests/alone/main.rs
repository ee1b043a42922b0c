//! Agents whose tests want this process for themselves: they need most of its files, or count the
//! wake-ups of its threads.

#![allow(clippy::unwrap_used, reason = "all of this is test")]

mod admission;
#[path = "../common/flows.rs"]
mod flows;
mod port_thread;
#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../inherited/rig.rs"]
mod rig;
#[path = "../common/session.rs"]
mod session;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hopbench_sys::limits;

/// Files for both ends of all connections, which are in this process.
const FILES: u64 = 20_000;

static PROCESS: RwLock<()> = RwLock::new(());

/// The turn of a test that needs most of the files and the time. Or it counts wake-ups of threads
/// by name, and all tests use the same names.
fn alone() -> RwLockWriteGuard<'static, ()> {
    limits::raise_open_files(FILES).unwrap();
    // One that failed leaves nothing behind.
    PROCESS.write().unwrap_or_else(PoisonError::into_inner)
}

/// The turn of a test that needs little, beside others of its sort.
fn shared() -> RwLockReadGuard<'static, ()> {
    PROCESS.read().unwrap_or_else(PoisonError::into_inner)
}
