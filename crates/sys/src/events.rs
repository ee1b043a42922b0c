//! Readiness by epoll, and completions by io_uring.

mod epoll;
pub mod uring;

pub use epoll::{Epoll, Events, Ready, Timer, Waker};
