//! The `http` workload and our HTTP target, over 127.0.0.1.
//!
//! Times are only asserted where arithmetic gives them and with room for a machine that does other
//! things too; counts are asserted exactly.
#![allow(clippy::unwrap_used, reason = "all of this is test code, its helpers too")]

mod counts;
mod errors;
mod grpc;
mod grpc_peers;
mod http2;
mod http2_target;
mod lifetimes;
mod ours;
mod peers;
mod receive_time;
mod refusals;
#[path = "../common/rig.rs"]
mod rig;
mod strangers;
mod target;
mod timing;
mod tls;

use std::net::SocketAddr;

use hopbench_model::{EngineKind, Job, Params};

use rig::Measured;

/// A closed loop of 4 connections for 150 ms.
fn job(params: impl Into<Params>) -> Job {
    Job { connections: 4, ..rig::job("http", EngineKind::Epoll, params) }
}

/// The same once with every engine.
fn engines(job: &Job) -> impl Iterator<Item = Job> + '_ {
    EngineKind::ALL.iter().map(|engine| Job { engine: *engine, ..job.clone() })
}

/// Runs a job against a server that is there.
fn run(job: &Job, target: SocketAddr) -> Measured {
    rig::run_client(job, target).unwrap()
}
