//! The door to the kernel: clock, CPUs, sockets, epoll, io_uring, `TCP_INFO`.
//!
//! This is the only crate of hopbench with `unsafe` code. What it offers is safe: no call can read or
//! write memory that the caller does not own, and every file descriptor has one owner. It holds no
//! policy: what to send, when and for how long is decided above.
//!
//! - [`clock`]: the one clock of schedules, windows and records;
//! - [`Socket`]: TCP, UDP and ICMP sockets and their options, with the value that the kernel really set;
//! - [`Epoll`] and [`Waker`]: readiness; [`uring::Ring`]: completions;
//! - [`tcp_info`]: what the kernel knows of a connection;
//! - [`cpu`], [`usage`], [`limits`]: placement, what was spent, what is allowed;
//! - [`offloads()`]: what an interface does for the kernel;
//! - [`errno`]: errors that the standard library has no word for;
//! - [`inherited`]: what the process was started with; [`terminal`]: the size of its terminal;
//! - [`file`](mod@file): files that are made here, not where a link leads to; [`process`]: another
//!   process, held;
//! - [`namespace`]: processes in namespaces of their own.
#![allow(unsafe_code)]

pub mod clock;
pub mod cpu;
mod datagram;
mod epoll;
pub mod errno;
pub mod file;
mod icmp;
pub mod inherited;
pub mod limits;
pub mod namespace;
mod offload;
pub mod process;
mod socket;
mod sockopt;
pub mod tcp_info;
pub mod terminal;
pub mod uring;
pub mod usage;

pub use datagram::{Arrival, DatagramPort};
pub use epoll::{Epoll, Events, Ready, Timer, Waker};
pub use icmp::Icmp;
pub use offload::{Offloads, offloads};
pub use socket::{Listener, Progress, Socket};
pub use tcp_info::TcpInfo;

/// Turns a C return value into a result: negative means `errno` says why.
fn check(value: libc::c_int) -> std::io::Result<libc::c_int> {
    if value < 0 { Err(std::io::Error::last_os_error()) } else { Ok(value) }
}

/// Like [`check`] for calls that return a count.
fn check_len(value: isize) -> std::io::Result<usize> {
    usize::try_from(value).map_err(|_| std::io::Error::last_os_error())
}
