//! The agent: the process at one end of a path, which takes orders from a conductor and carries
//! flows.
//!
//! Its control threads sleep while a trial runs, except at the ends of intervals:
//!
//! - one for its port (`port`);
//! - one for all handshakes of control sessions (`session::handshakes`);
//! - one for each session whose other end has the token (`session`).
//!
//! The workers of the trials that it takes part in have threads of their own (crate `load`).
//!
//! - [`Server`]: an agent behind a port, as `hopbench serve` runs it;
//! - [`Inherited`]: an agent that a testbed started, with its session and its port, as
//!   `hopbench agent` runs it;
//! - [`local`]: an agent inside this process, for the client's end of the commands by hand;
//! - [`Limits`]: the bounds on what anybody may ask of an agent.

mod http_acceptor;
mod inherited;
mod limits;
mod port;
mod server;
mod session;
mod shared;
mod trial;

pub use inherited::Inherited;
pub use limits::Limits;
pub use server::{Options, Server};
pub use session::hello::{COMMIT, hello};
pub use session::local;
