//! The door to the kernel: clock, CPUs, sockets, epoll, io_uring, `TCP_INFO`.
//!
//! This is the only crate of hopbench with `unsafe` code. What it offers is safe: no call can read
//! or write memory that the caller does not own, and every file descriptor has one owner. It holds
//! no policy: what to send, when and for how long is decided above.
//!
//! - [`clock`]: the one clock of schedules, windows and records;
//! - [`Socket`]: TCP, UDP and ICMP sockets and their options, with the value that the kernel really
//!   set;
//! - [`Epoll`] and [`Waker`]: readiness; [`uring::Ring`]: completions;
//! - [`perf`]: samples of call stacks;
//! - [`tcp_info`]: what the kernel knows of a connection;
//! - [`cpu`], [`usage`], [`limits`]: placement, what was spent, what is allowed;
//! - [`offloads()`], [`switch_offload`]: what an interface does for the kernel;
//! - [`errno`]: errors that the standard library has no word for;
//! - [`inherited`]: what the process was started with; [`terminal`]: the size of its terminal;
//! - [`file`](mod@file): files that are made here, not where a link leads to; [`process`]: another
//!   process, held, and the end of a child;
//! - [`namespace`]: processes in namespaces of their own.
#![allow(unsafe_code)]

pub mod clock;
pub mod errno;
mod events;
pub mod file;
pub mod inherited;
pub mod namespace;
mod net;
pub mod process;
mod resources;
mod returned;
pub mod terminal;

pub use events::{Epoll, Events, Ready, Timer, Waker, perf, uring};
pub use net::{Datagram, DatagramPort, Icmp, Listener, MOST_SENDS, Offloads, Progress, Socket};
pub use net::{TcpInfo, interface_mtu, offloads, switch_offload, tcp_info};
pub use resources::{cpu, limits, usage};
use returned::{check, check_len};
