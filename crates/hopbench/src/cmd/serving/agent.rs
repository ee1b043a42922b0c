//! `hopbench agent`: an agent that a testbed starts, for both ends of a path.

use std::net::SocketAddr;
use std::os::fd::AsFd;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_agent::{Inherited, Limits};
use hopbench_control::conductor::RunKey;
use hopbench_model::Fault;
use hopbench_model::units::Span;
use hopbench_sys::inherited;

use crate::cmd::subcommand::Subcommand;

pub(in crate::cmd) struct Agent;

/// Its flags.
#[derive(Debug, Args)]
struct Flags {
    /// The open Unix stream socket over which its conductor drives it: 0, the standard input
    #[arg(long, value_name = "FD")]
    control_fd: i32,
    /// Address and port to listen on, TCP and UDP; the wildcard of IPv6 takes IPv4 too
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:7474")]
    listen: SocketAddr,
    /// Worker threads at once [default: no limit: whoever started it drives it]
    #[arg(long, value_name = "N")]
    max_threads: Option<std::num::NonZeroU32>,
    /// Time that its servers of rr and http spin before each answer, like 5us, at most 10ms
    #[arg(long, value_name = "TIME", value_parser = super::serve::work)]
    work: Option<Span>,
    /// The run that it belongs to: it does nothing without a permit which that run's conductor
    /// signed
    #[arg(long, value_name = "RUN:KEY")]
    run_key: Option<RunKey>,
}

impl Subcommand for Agent {
    fn command(&self) -> Command {
        Flags::augment_args(Command::new("agent"))
            .about("Runs an agent for a testbed, which hands it its control session")
            .long_about(None)
    }

    /// Ctrl-C is the conductor's to deal with: a terminal sends it to both. An agent ends with its
    /// session.
    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let flags = Flags::from_arg_matches(matches).map_err(Fault::input)?;
        inherited::ignore_interrupt();
        let fd = flags.control_fd;
        let refused = |why: &dyn std::fmt::Display| {
            Fault::input(format!(
                "--control-fd: file descriptor {fd} cannot be the control session ({why}), \
                 expected an open Unix stream socket as standard input. A conductor holds its \
                 other end. For an agent by hand see `hopbench serve`"
            ))
        };
        // The one descriptor that a process is started with and that nothing else in it may own.
        if fd != 0 {
            return Err(refused(&"only 0 is taken"));
        }
        let stream =
            inherited::unix_stream(std::io::stdin().as_fd()).map_err(|error| refused(&error))?;
        let limits = Limits {
            threads: flags.max_threads.map(std::num::NonZeroU32::get),
            server_work_ns: flags.work.map(|work| work.0),
            ..Limits::default()
        };
        Inherited::serve(stream, Some(flags.listen), limits, flags.run_key)
    }
}
