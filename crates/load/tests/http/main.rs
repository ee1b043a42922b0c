//! The `http` workload and our HTTP target, over 127.0.0.1.
//!
//! Times are only asserted where arithmetic gives them and with room for a machine that does other
//! things too; counts are asserted exactly.
#![allow(clippy::unwrap_used, reason = "all of this is test code, its helpers too")]

mod counts;
mod errors;
mod lifetimes;
mod ours;
mod peers;
mod refusals;
mod rig;
mod strangers;
mod target;
mod timing;
