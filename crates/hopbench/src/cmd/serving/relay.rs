//! `hopbench relay`: standard input and output as a connection to the agent beside it.
//!
//! A sandbox with a network stack of its own keeps its ports to itself. What the API server
//! forwards to the pod's network does not reach them. What it starts in the container does.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_model::Fault;

use crate::cmd::subcommand::Subcommand;

pub(in crate::cmd) struct Relay;

/// Its flags.
#[derive(Debug, Args)]
struct Flags {
    /// The agent's port on this machine
    #[arg(long, value_name = "PORT", default_value_t = hopbench_wire::DEFAULT_PORT)]
    port: u16,
}

impl Subcommand for Relay {
    fn command(&self) -> Command {
        Flags::augment_args(Command::new("relay"))
            .about("Connects standard input and output with the agent in the same container")
            .long_about(None)
            .hide(true)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let flags = Flags::from_arg_matches(matches).map_err(Fault::input)?;
        let failed =
            |e: io::Error| Fault::environment(format!("the agent on port {}: {e}", flags.port));
        let agent = TcpStream::connect((Ipv4Addr::LOCALHOST, flags.port)).map_err(failed)?;
        agent.set_nodelay(true).map_err(failed)?;
        let to_agent = agent.try_clone().map_err(failed)?;
        std::thread::spawn(move || {
            // However it ends: who sends no more has gone.
            let _ = copy(io::stdin().lock(), &to_agent);
            let _ = to_agent.shutdown(Shutdown::Write);
        });
        copy(&agent, io::stdout().lock()).map_err(failed)
    }
}

/// Passes on what comes as it comes.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&bytes[..count]).and_then(|()| to.flush())?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
