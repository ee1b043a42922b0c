//! `make bench`: what hopbench reaches against iperf3, qperf, sockperf, wrk and fortio on this machine.
//!
//! A developer's tool, not shipped. [`rows`] has the comparisons (one file and one line each), [`peer`] the
//! programs ours is compared with, [`lab`] the two namespaces, [`process`] how programs are started and paid
//! for, [`pairs`] the order of runs and the verdicts, [`report`] the table.

mod bench;
mod cli;
mod clock;
mod figures;
mod get;
mod goal;
mod interrupt;
mod lab;
mod listening;
mod machine;
mod memory;
mod ours;
mod pairs;
mod peer;
mod plain;
mod process;
mod report;
mod round_trip;
mod row;
mod rows;
mod search;
mod session;
mod tools;

use std::io::{IsTerminal, Write};
use std::net::TcpListener;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;

use cli::{Cli, Options, Part};
use tools::Tools;

const INPUT: u8 = 2;
const ENVIRONMENT: u8 = 3;
const MEASURING: u8 = 4;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.part {
        Some(part) => run_part(part).map(|()| 0).map_err(|error| (MEASURING, error)),
        None => run(&cli.options),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err((code, error)) => {
            say(&format!("error: {error:#}"));
            ExitCode::from(code)
        }
    }
}

fn run(options: &Options) -> Result<u8, (u8, anyhow::Error)> {
    let input = |error| (INPUT, error);
    let environment = |error| (ENVIRONMENT, error);
    let rows = session::chosen(&options.only).map_err(input)?;
    let hopbench = options.hopbench.clone().map_or_else(tools::default_hopbench, Ok).map_err(environment)?;
    let hopbench =
        hopbench.canonicalize().with_context(|| format!("--hopbench {}", hopbench.display())).map_err(input)?;
    let tools = Tools::find(hopbench, &options.peer).map_err(input)?;
    if options.list {
        for row in rows {
            let state = session::obstacle(row, &tools).unwrap_or_else(|| "can run".to_owned());
            print(&format!("{:<24} {:<60} {state}", row.name(), row.what())).map_err(environment)?;
        }
        return Ok(0);
    }
    session::try_files(options).map_err(input)?;
    let cpus = machine::two_cpus().map_err(environment)?;
    lab::become_root_somewhere().map_err(environment)?;
    if cfg!(debug_assertions) {
        say("warning: a debug build of this program makes the plain epoll loop slower than it is; use --profile dist");
    }
    interrupt::install().map_err(environment)?;
    let lab = lab::Lab::build()
        .context("network namespaces (in a container they need CAP_NET_ADMIN and CAP_SYS_ADMIN)")
        .map_err(environment)?;
    let bench = bench::Bench::new(lab, tools, options.time, cpus).map_err(environment)?;
    let begun = clock::Moment::now();
    let live = std::io::stderr().is_terminal();
    let progress = |what: &str| {
        // One line that is overwritten on a terminal, a line each in a log.
        let (start, end) = if live { ("\r\x1b[K", "") } else { ("", "\n") };
        let _ = write!(std::io::stderr(), "{start}[{:>4} s] {what}{end}", begun.elapsed().as_secs());
    };
    let report = session::measure(&bench, &rows, options, progress).map_err(|error| (MEASURING, error))?;
    if live {
        say("");
    }
    print(&report::terminal(&report)).map_err(|error| (MEASURING, error))?;
    Ok(if report.failed() || interrupt::asked() { MEASURING } else { 0 })
}

fn run_part(part: Part) -> Result<()> {
    match part {
        Part::PlainSend { target, connections, size } => plain::send(target, connections, size),
        Part::PlainReceive { port, connections, size, warmup_ms, window_ms } => {
            let (warmup, window) = (Duration::from_millis(warmup_ms), Duration::from_millis(window_ms));
            let listener = TcpListener::bind(("0.0.0.0", port)).with_context(|| format!("TCP port {port}"))?;
            let received = plain::receive(&listener, connections, size, warmup, window)?;
            print(&serde_json::to_string(&received)?)
        }
        Part::Get { target, path } => print(&get::get(target, &path)?),
    }
}

fn print(text: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{text}").context("standard output")
}

/// For people; that nobody reads it is no failure.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
