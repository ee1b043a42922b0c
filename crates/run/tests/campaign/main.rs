//! Campaigns on a testbed of real agents inside this process, over loopback.

#![allow(clippy::unwrap_used, reason = "all of this is test")]

mod bed;
mod disk;
mod failures;
mod far;
mod follower;
mod hangs;
mod housekeeping;
mod onlookers;
mod plans;
mod profiles;
mod proxies;
mod relay;
mod remote;
mod resume;
mod rounds;
mod secrets;
mod several;
mod stops;
mod visits;
