//! The command line.

pub(crate) mod verdicts;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use hopbench_model::Pacing;

/// Measures hopbench against the tools it replaces, in a veth-bridge-veth pair of network
/// namespaces.
///
/// Ours and the peer run in turn; what is printed are ratios of figures of the same pair. Needs
/// root, or a kernel that lets this user make user namespaces. Exit codes: 0 no goal was missed, 1
/// a goal was missed, 2 the input is wrong, 3 the environment cannot do it, 4 a row failed or a
/// signal came. With 0, some goals may be undecided. Rows whose peer is missing are left out and
/// named; they change no exit code.
#[derive(Debug, Parser)]
#[command(name = "hopbench-bench", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) other: Option<Other>,

    #[command(flatten)]
    pub(crate) options: Options,
}

/// What is measured, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The binary of hopbench [default: the workspace's release build]
    #[arg(long, value_name = "PATH")]
    pub(crate) hopbench: Option<PathBuf>,

    /// The binary of a peer, as NAME=PATH; may be given several times
    #[arg(long, value_name = "NAME=PATH", value_parser = named_path)]
    pub(crate) peer: Vec<(String, PathBuf)>,

    /// Only the rows whose name is or starts with NAME; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// Pairs of runs in each row; up to twice as many while a goal of it is not decided
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(crate) pairs: u32,

    /// Length of each run in whole seconds
    #[arg(
        long,
        value_name = "S",
        default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=3600)
    )]
    pub(crate) time: u32,

    /// Also writes the table as markdown to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Also writes every figure of every pair as JSON to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Also replaces what FILE has between the lines `<!-- make bench: begin -->` and
    /// `<!-- make bench: end -->` by the table; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Vec<PathBuf>,

    /// Prints the rows and which of them can run here, and measures nothing
    #[arg(long)]
    pub(crate) list: bool,
}

/// What else this program does.
#[derive(Debug, Subcommand)]
pub(crate) enum Other {
    /// Measures how long hopbench takes to decide differences of known size
    Verdicts(verdicts::VerdictOptions),
    #[command(flatten)]
    Helper(Helper),
}

/// Helpers that this program starts in the lab.
#[derive(Debug, Subcommand)]
pub(crate) enum Helper {
    /// The sending half of the plain epoll loop
    #[command(hide = true)]
    PlainSend {
        /// Where to
        target: SocketAddr,
        /// Connections
        connections: usize,
        /// Bytes of a write
        size: usize,
    },
    /// The receiving half of the plain epoll loop
    #[command(hide = true)]
    PlainReceive {
        /// TCP port
        port: u16,
        /// Connections to wait for
        connections: usize,
        /// Bytes of a read
        size: usize,
        /// Warm-up, ms
        warmup_ms: u64,
        /// Window, ms
        window_ms: u64,
    },
    /// The plain pacing loop
    #[command(hide = true)]
    PlainPace {
        /// Intended times a second
        per_s: u64,
        /// The way to wait for them: sleep or spin
        pacing: Pacing,
        /// Warm-up, ms
        warmup_ms: u64,
        /// Window, ms
        window_ms: u64,
    },
    /// The plain HTTP server
    #[command(hide = true)]
    Answer {
        /// TCP port
        port: u16,
    },
    /// Prints the answer to one HTTP request
    #[command(hide = true)]
    Get {
        /// Where to
        target: SocketAddr,
        /// The path that is asked for
        path: String,
    },
}

/// Prints a line for people. It is no failure if it cannot be read.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn named_path(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=PATH"))?;
    // Peers run in a folder of their own.
    let path = std::path::absolute(path).map_err(|error| format!("`{path}`: {error}"))?;
    Ok((name.to_owned(), path))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
        let cli = Cli::try_parse_from([
            "hopbench-bench",
            "--only",
            "udp",
            "--peer",
            "wrk=/x/wrk",
            "--time",
            "1",
        ])
        .unwrap();
        assert_eq!(cli.options.only, ["udp"]);
        assert_eq!(cli.options.peer, [("wrk".to_owned(), PathBuf::from("/x/wrk"))]);
        assert_eq!((cli.options.pairs, cli.options.time), (5, 1));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let (_, path) = named_path("wrk=x/wrk").expect("a path");
        assert!(path.is_absolute() && path.ends_with("x/wrk"), "{}", path.display());
        for bad in [["--pairs", "0"], ["--time", "0"], ["--time", "0.5"], ["--peer", "wrk"]] {
            assert!(Cli::try_parse_from(["hopbench-bench", bad[0], bad[1]]).is_err(), "{bad:?}");
        }
    }
}
