//! Readiness by epoll, completions by io_uring, and samples of call stacks.

mod epoll;
pub mod perf;
pub mod uring;

pub use epoll::{Epoll, Events, Ready, Timer, Waker};
