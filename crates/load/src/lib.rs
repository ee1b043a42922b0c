//! The data plane: what is sent, when, and how.
//!
//! Three axes know nothing of each other:
//!
//! - a [`Workload`](workload::Workload) says *what* is exchanged, as state machines
//!   ([`flow::Flow`]) that do no I/O;
//! - a schedule ([`schedule::Arrivals`]) says *when* exchanges should start;
//! - an engine ([`engine::Engine`]) says *how* bytes are moved: epoll, io_uring, busy polling,
//!   blocking calls.
//!
//! A worker is one thread. It runs an event loop (`worker::event_loop`): flows, their timers and
//! one engine. [`Workers`] are the workers of one end. There is no lock, no allocation and no
//! logging on the path of an exchange.

mod admission;
pub mod engine;
pub mod engines;
pub mod flow;
pub mod http;
mod measure;
pub mod schedule;
mod target;
mod worker;
pub mod workload;
mod workloads;

pub use admission::flow_limit::{FlowGuard, FlowLimit, REFUSED_FLOWS};
pub use admission::memory::MemoryLimit;
pub use admission::throttle::Throttle;
pub use flow::handshake::{ACCEPTED_LEN, HandshakeAnswer, HandshakeCodec};
pub use flow::udp_registration::UdpRegistration;
pub use measure::recorder::{Live, Reason, Recorder, Tallies};
pub use measure::socket_set::SocketSet;
pub use measure::window::Window;
pub use target::{StrangerBounds, TargetAcceptor, TargetContext, Timeouts, admit, target};
pub use worker::accepted::{Accepted, Acceptor, Encryption};
pub use worker::dial::{Dial, SocketOptions, Transport};
pub use worker::passive_end::passive_end;
pub use worker::workers::{Context, Workers, WorkersSetup};
pub use workload::arguments::{JobArguments, ScheduleArguments};
pub use workload::stays;
pub use workloads::{OPEN_LOOP, WORKLOADS, metrics, workload};
