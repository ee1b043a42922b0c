//! `hopbench policy`: the policy service, which proxies ask about each request; a testbed starts
//! it.

use std::net::SocketAddr;

use clap::builder::RangedU64ValueParser;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_model::Fault;
use hopbench_policy::ServiceOptions;
use hopbench_sys::inherited;

use crate::cmd::subcommand::Subcommand;

pub(in crate::cmd) struct Policy;

/// Flags of a service that proxies talk to.
#[derive(Debug, Args)]
struct Flags {
    /// Address and port to listen on, gRPC over plaintext HTTP/2; the wildcard of IPv6 takes IPv4
    /// too
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Unix socket of the network namespace, or port of the loopback, that answers each connection
    /// with the totals
    #[arg(long, value_name = "@NAME|127.0.0.1:PORT")]
    admin: Option<String>,
    /// Threads that serve connections, 1 to 64
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads())]
    threads: usize,
}

impl Subcommand for Policy {
    fn command(&self) -> Command {
        command(
            "policy",
            "Runs the policy service that proxies of a testbed ask about each request",
        )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        hopbench_policy::policy(&options(matches)?)
    }
}

fn threads() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=64)
}

/// A command that is a testbed's to give.
pub(in crate::cmd) fn command(name: &'static str, about: &'static str) -> Command {
    Flags::augment_args(Command::new(name)).about(about).long_about(None).hide(true)
}

/// The options that the flags of such a command give. Ctrl-C is the conductor's to deal with: a
/// terminal sends it to both.
pub(in crate::cmd) fn options(matches: &ArgMatches) -> Result<ServiceOptions, Fault> {
    let Flags { listen, admin, threads } =
        Flags::from_arg_matches(matches).map_err(Fault::input)?;
    inherited::ignore_interrupt();
    Ok(ServiceOptions { listen, admin, threads })
}
