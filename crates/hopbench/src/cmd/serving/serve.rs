//! `hopbench serve`: the other end of every measurement by hand.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_agent::{Limits, Options, Server};
use hopbench_control::credentials::Credentials;
use hopbench_control::secret::Secret;
use hopbench_model::units::{BitRate, Span};
use hopbench_model::{Fault, MOST_SERVER_WORK, Nanos, SECOND};
use hopbench_wire::DEFAULT_PORT;

use crate::cmd::arguments::token::{self, VARIABLE};
use crate::cmd::subcommand::Subcommand;
use crate::output::say;

pub(in crate::cmd) struct Serve;

/// Its flags.
#[derive(Debug, Args)]
struct Flags {
    /// Address to listen on [default: all, IPv4 and IPv6]
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<IpAddr>,
    /// Port number, TCP and UDP; 0 takes a free one
    #[arg(short, long, default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Ports beside, for data only
    #[arg(long, value_name = "PORT,...", value_delimiter = ',', hide = true)]
    also: Vec<u16>,
    /// Answer HTTP requests on the same port: /?size=N, /?delay=5ms, echo, /healthz
    #[arg(long)]
    http: bool,
    /// A file that holds the token clients must have [default: that of HOPBENCH_TOKEN, or a new
    /// one, which is printed]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A file that a testbed made for this agent: its own key, and its conductor's public key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["token_file", "insecure"], hide = true)]
    credentials_file: Option<PathBuf>,
    /// Let anybody in who can reach the port, as iperf3 does
    #[arg(long, conflicts_with = "token_file")]
    insecure: bool,
    /// Let who has the token make this agent a client, too: it then sends load to wherever they say
    #[arg(long)]
    both_ends: bool,
    /// Flows at once, over all tests and the HTTP target [default: no limit; 10000 with --insecure]
    #[arg(long, value_name = "N")]
    max_flows: Option<u32>,
    /// Payload rate over all tests, like 1Gbit [default: no limit]
    #[arg(long, value_name = "RATE")]
    max_rate: Option<BitRate>,
    /// Length of a test with its warm-up, like 60s; also its longest timeout, or 10s where that is
    /// more [default: no limit; 1h with --insecure]
    #[arg(long, value_name = "TIME")]
    max_duration: Option<Span>,
    /// Worker threads at once, over all tests [default: 4 for each CPU that it may use]
    #[arg(long, value_name = "N")]
    max_threads: Option<u32>,
    /// Spin so long before each answer of rr and http, like 5us, at most 10ms: a difference of
    /// known size
    #[arg(long, value_name = "TIME", value_parser = work)]
    work: Option<Span>,
}

/// Reads `--work`.
pub(super) fn work(text: &str) -> Result<Span, String> {
    let work: Span = text.parse().map_err(|error| format!("{error}"))?;
    match work.0 {
        1..=MOST_SERVER_WORK => Ok(work),
        _ => Err("expected more than 0 and at most 10ms".to_owned()),
    }
}

/// Flows of an agent that lets anybody in: each takes memory, and what is asked of it by hand takes
/// far fewer.
const INSECURE_FLOWS: u32 = 10_000;
/// Its longest test: nobody would see that load goes on for days.
const INSECURE_DURATION: Nanos = 3600 * SECOND;

impl Flags {
    /// A rate has no default: whatever it were, it would be measured in place of the network. An
    /// agent of a run is bounded by the signed permit of its plan.
    fn limits(&self) -> Limits {
        let bounded_here = self.credentials_file.is_none();
        Limits {
            flows: self.max_flows.or_else(|| self.insecure.then_some(INSECURE_FLOWS)),
            bits_per_s: self.max_rate.map(|r| r.0),
            duration_ns: self
                .max_duration
                .map(|d| d.0)
                .or_else(|| self.insecure.then_some(INSECURE_DURATION)),
            threads: self.max_threads.or_else(|| bounded_here.then(Limits::usual_threads)),
            server_work_ns: self.work.map(|work| work.0),
        }
    }
}

impl Subcommand for Serve {
    fn command(&self) -> Command {
        Flags::augment_args(Command::new("serve"))
            .about("Runs an agent: the other end of a measurement")
            .long_about(None)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let flags = Flags::from_arg_matches(matches).map_err(Fault::input)?;
        if flags.max_rate.is_some_and(|r| r.0 == 0)
            || flags.max_flows == Some(0)
            || flags.max_duration.is_some_and(|d| d.0 == 0)
            || flags.max_threads == Some(0)
        {
            return Err(Fault::input(
                "--max-rate, --max-flows, --max-duration, --max-threads: found 0, expected more \
                 than 0 (leave it out for the default)",
            ));
        }
        if flags.both_ends && flags.insecure && !flags.bind.is_some_and(|bind| bind.is_loopback()) {
            return Err(Fault::input(
                "--both-ends --insecure: anybody who can reach the port could send load from here \
                 to wherever they like. Take --token-file instead of --insecure, or --bind \
                 127.0.0.1 for this machine only",
            ));
        }
        // No flag takes the token itself: everybody on this machine could read it in the list of
        // processes.
        let (credentials, hint) = if let Some(file) = &flags.credentials_file {
            let read = Credentials::from_file(file);
            (read.map_err(|e| Fault::input(format!("--credentials-file: {e}")))?, Hint::Run)
        } else if flags.insecure {
            (Credentials::of_token(&Secret::insecure()), Hint::Insecure)
        } else if let Some(file) = &flags.token_file {
            (Credentials::of_token(&token::from_file(file)?), Hint::File)
        } else if let Some(secret) = token::from_environment()? {
            (Credentials::of_token(&secret), Hint::Environment)
        } else {
            let secret = Secret::random().map_err(Fault::environment)?;
            (Credentials::of_token(&secret), Hint::Made(secret.to_text()))
        };
        let options = |bind: IpAddr| Options {
            listen: SocketAddr::new(bind, flags.port),
            credentials: credentials.clone(),
            limits: flags.limits(),
            http: flags.http,
            both_ends: flags.both_ends,
        };
        let server = match flags.bind {
            Some(bind) => Server::start_on(&options(bind), &flags.also)?,
            // A machine without IPv6 has no dual-stack wildcard.
            None => Server::start_on(&options(Ipv6Addr::UNSPECIFIED.into()), &flags.also).or_else(
                |fault| {
                    if std::path::Path::new("/proc/net/if_inet6").exists() {
                        return Err(fault);
                    }
                    Server::start_on(&options(std::net::Ipv4Addr::UNSPECIFIED.into()), &flags.also)
                },
            )?,
        };
        say(format_args!(
            "hopbench agent on {}, TCP and UDP{}{}",
            server.address(),
            if flags.http { ", HTTP too" } else { "" },
            if flags.both_ends { ", for both ends" } else { "" }
        ))?;
        let port = match server.address().port() {
            DEFAULT_PORT => String::new(),
            port => format!(":{port}"),
        };
        hint.lines(&format!("HOST{port}")).iter().try_for_each(say)?;
        server.wait()
    }
}

/// Where the token came from, which decides what a client is to run.
enum Hint {
    /// Its testbed alone knows how.
    Run,
    /// There is none.
    Insecure,
    File,
    Environment,
    /// It is new: nobody else knows it.
    Made(String),
}

impl Hint {
    /// The command that a client runs. The token is no argument in it: the environment of a process
    /// is its user's alone to read, its arguments are everybody's.
    fn lines(&self, target: &str) -> Vec<String> {
        let example = "a client runs, for example:".to_owned();
        match self {
            Self::Run => vec!["only the conductor of its run may drive it".to_owned()],
            Self::Insecure => vec![
                format!("anybody who can reach it may use it; {example}"),
                format!("  hopbench stream {target} --insecure"),
            ],
            Self::File => vec![example, format!("  hopbench stream {target} --token-file FILE")],
            Self::Environment => {
                vec![
                    format!("with the same {VARIABLE} {example}"),
                    format!("  hopbench stream {target}"),
                ]
            }
            Self::Made(token) => {
                vec![example, format!("  {VARIABLE}={token} hopbench stream {target}")]
            }
        }
    }
}
