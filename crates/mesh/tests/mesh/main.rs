//! Bootstraps: as agreed, as Envoy takes them, and as Envoy then does.
#![allow(clippy::disallowed_methods, reason = "plain threads stand in for applications")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod answers;
mod descriptions;
mod difference;
mod envoy;
mod golden;
mod inside;
mod names;
mod peers;
mod real;
mod validate;
