//! Traffic: what is sent, when, and how.
//!
//! Three axes that know nothing of each other:
//!
//! - a [`Workload`](workload::Workload) says *what* is exchanged, as state machines ([`flow::Flow`]) that do no I/O;
//! - a schedule ([`schedule::Arrivals`]) says *when* exchanges should start;
//! - an engine ([`engine::Engine`]) says *how* bytes are moved: epoll, io_uring, busy polling, blocking calls.
//!
//! A worker thread runs a deck of flows over one engine (module `deck`); a [`crew::Crew`] is the workers of one
//! end. There is no lock, no allocation and no logging on the path of an exchange.

mod broken;
mod bystander;
pub mod crew;
mod deck;
mod dial;
pub mod engine;
pub mod engines;
mod figures;
pub mod flow;
mod greeting;
pub mod http;
mod inbox;
mod job_arguments;
mod metrics;
mod pool;
mod readiness;
mod recorder;
mod room;
pub mod schedule;
mod sockets;
mod target;
mod throttle;
mod tickets;
mod welcome;
mod window;
pub mod workload;
mod workloads;

pub use bystander::bystander;
pub use dial::{Dial, SocketOptions, Transport};
pub use greeting::{ACCEPTED_LEN, Greeted, Greeter};
pub use job_arguments::{JobArguments, ScheduleArguments};
pub use metrics::metrics;
pub use recorder::{Live, Reason, Recorder, Tallies};
pub use room::Room;
pub use sockets::SocketSet;
pub use target::{Patience, StrangerBounds, TargetAcceptor, TargetContext, door, target};
pub use throttle::Throttle;
pub use tickets::{REFUSED_FLOWS, Ticket, Tickets};
pub use welcome::Again;
pub use window::Window;
pub use workloads::{WORKLOADS, workload};
