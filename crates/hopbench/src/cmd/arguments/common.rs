//! The flags that every workload has by hand: those of its job, and those of the connection.

use std::net::IpAddr;

use clap::Args;
use hopbench_load::JobArguments;
use hopbench_model::{CpuSet, Problem};

use super::format::FormatArgument;
use super::token::TokenArgs;

/// Flags of every workload.
#[derive(Debug, Args)]
pub(in crate::cmd) struct Common {
    #[command(flatten)]
    pub(in crate::cmd) job: JobArguments,
    #[command(flatten)]
    pub(in crate::cmd) format: FormatArgument,
    /// Only IPv4 addresses
    #[arg(short = '4', long, help_heading = "Connection", conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6 addresses
    #[arg(short = '6', long, help_heading = "Connection")]
    ipv6: bool,
    /// Addresses of this machine that the -c connections have in turn: each address has its own
    /// ports, so more than 64000 connections can be opened
    #[arg(long, value_name = "ADDRESS", help_heading = "Connection", value_delimiter = ',')]
    pub(in crate::cmd) local_address: Vec<IpAddr>,
    #[command(flatten)]
    pub(in crate::cmd) token: TokenArgs,
}

impl Common {
    /// The address family that was asked for.
    pub(in crate::cmd) fn family(&self) -> Option<u8> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(4),
            (_, true) => Some(6),
            _ => None,
        }
    }
}

/// The problem with CPUs that this process may not use; those of the server are the agent's to
/// check.
pub(in crate::cmd) fn absent(asked: &CpuSet) -> Option<Problem> {
    let allowed = hopbench_sys::cpu::allowed().ok()?;
    let missing: Vec<_> = asked.0.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect();
    let expected = format!("CPUs of the client, which may use {}", CpuSet(allowed));
    if missing.is_empty() { None } else { Some(Problem::new("--cpu", CpuSet(missing), expected)) }
}
