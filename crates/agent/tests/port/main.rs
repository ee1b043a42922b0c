//! Agents behind a port: whom they obey, within which bounds, and what strangers get of them.

#![allow(clippy::unwrap_used, reason = "all of this is test")]

mod both_ends;
mod conductor;
mod encrypted;
#[path = "../common/flows.rs"]
mod flows;
mod limits;
mod run;
#[path = "../common/session.rs"]
mod session;
mod strangers;
