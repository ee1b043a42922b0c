//! The worker threads of one end: how they start, take in flows, and turn over them; TLS around
//! flows.

pub(crate) mod accepted;
pub(crate) mod dial;
mod event_loop;
pub(crate) mod filler;
mod hand_over;
mod inbox;
pub(crate) mod passive_end;
mod readiness;
pub(crate) mod secured;
mod thread_pool;
pub(crate) mod workers;
