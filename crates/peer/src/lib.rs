//! The tools of others that measure beside hopbench: what each measures, and its command lines.
//!
//! A testbed starts them, and the crate `import` reads what they print.
//!
//! - [`PEERS`]: every tool; [`PeerTool`]: one of them; [`Task`] and [`Commands`]: what it is to
//!   measure, and how it is told;
//! - [`of_point`]: the tool of a point; [`server_program`]: what it starts as its server;
//!   [`unsupported`]: the cells that it measures nowhere.

mod cell;
mod tool;
mod tools;

pub use cell::{PORT, brings_server, of_point, server_program, unsupported};
pub use tool::{Commands, PeerTool, Server, Task};
pub use tools::{PEERS, peer};
