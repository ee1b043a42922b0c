//! The agent: the process at one end of a path, which takes orders from a conductor and carries
//! flows.
//!
//! An agent has one thread for its port (module `port`), one for all handshakes of control sessions
//! (`session::handshakes`), one for each session whose other end has the token (`session`), and the
//! workers of the trials it takes part in (crate `load`). The control threads sleep while a trial
//! runs, except at the ends of intervals.
//!
//! - [`Server`]: an agent behind a port, as `hopbench serve` runs it;
//! - [`Inherited`]: an agent that a testbed started, with its session and its port, as `hopbench agent` runs it;
//! - [`local`]: an agent inside this process, for the client's end of the commands by hand;
//! - [`Limits`]: what an agent lets anybody ask of it.

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
