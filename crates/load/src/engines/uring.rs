//! io_uring completions.

pub use crate::engines::epoll::EpollEngine as UringEngine;
