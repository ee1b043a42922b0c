//! The conductor: drives the agents at both ends of a path through trials and writes records.
//!
//! - [`Link`]: a conductor's end of a control session;
//! - [`conduct`]: one trial;
//! - [`record`]: what both ends saw, as a record.

mod assemble;
mod conduct;
mod limited;
mod link;
mod resolve;
mod warnings;

pub use assemble::{Setting, record};
pub use conduct::{Ends, Outcome, Watcher, conduct};
pub use link::Link;
pub use resolve::{Target, resolve};
