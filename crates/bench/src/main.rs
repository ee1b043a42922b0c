//! `make bench`: what hopbench reaches against the tools that it replaces, on this machine.
//!
//! A developer's tool, not shipped.
//!
//! - [`rows`]: the comparisons, one file and one line each; [`peer`]: the programs that ours is
//!   compared with;
//! - [`mod@bench`]: what a run needs, with ours and the HTTP servers; [`lab`]: the two namespaces;
//! - [`process`]: how programs are started and paid for;
//! - [`verdicts`]: `make bench-verdicts`, the time until differences of known size are decided;
//! - [`row`]: the order of runs and the verdicts; [`report`]: the table.

mod bench;
mod cli;
mod lab;
mod part;
mod peer;
mod process;
mod report;
mod row;
mod rows;
mod session;
mod verdicts;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use bench::tools::{self, Tools};
use cli::{Cli, Options, Other, say};
use process::interrupt;

const MISSED: u8 = 1;
const INPUT: u8 = 2;
const ENVIRONMENT: u8 = 3;
const MEASURING: u8 = 4;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let other = cli.other.map(|other| match other {
        Other::Verdicts(options) => verdicts::run(&options),
        Other::Helper(part) => part::run(part),
    });
    let done = match other {
        Some(done) => {
            done.and_then(|text| print(&text)).map(|()| 0).map_err(|error| (MEASURING, error))
        }
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
    let hopbench =
        options.hopbench.clone().map_or_else(tools::default_hopbench, Ok).map_err(environment)?;
    let hopbench = hopbench
        .canonicalize()
        .with_context(|| format!("--hopbench {}", hopbench.display()))
        .map_err(input)?;
    let tools = Tools::find(hopbench, peer::PEERS, &options.peer).map_err(input)?;
    if options.list {
        for row in rows {
            let state = session::obstacle(&row, &tools).unwrap_or_else(|| "can run".to_owned());
            print(&format!("{:<30} {:<66} {state}", row.name, row.what)).map_err(environment)?;
        }
        return Ok(0);
    }
    let files = session::Files::open(options).map_err(input)?;
    let cpus = lab::machine::two_cpus().map_err(environment)?;
    lab::become_root_somewhere().map_err(environment)?;
    if cfg!(debug_assertions) {
        say("warning: a debug build of this program makes the plain loops slower than they are; \
             use --release");
    }
    interrupt::install().map_err(environment)?;
    let lab = lab::Lab::build()
        .context("network namespaces (in a container they need CAP_NET_ADMIN and CAP_SYS_ADMIN)")
        .map_err(environment)?;
    let bench = bench::Bench::new(lab, tools, options.time, cpus).map_err(environment)?;
    let begun = process::clock::Moment::now();
    let live = std::io::stderr().is_terminal();
    let progress = |what: &str| {
        // One line that is overwritten on a terminal, a line each in a log.
        let (start, end) = if live { ("\r\x1b[K", "") } else { ("", "\n") };
        let _ =
            write!(std::io::stderr(), "{start}[{:>4} s] {what}{end}", begun.elapsed().as_secs());
    };
    let report =
        session::measure(&bench, rows, &files, progress).map_err(|error| (MEASURING, error))?;
    if live {
        say("");
    }
    print(&report::terminal(&report)).map_err(|error| (MEASURING, error))?;
    Ok(exit_code(&report, interrupt::asked()))
}

/// That of a session whose rows were run.
fn exit_code(report: &report::SessionResults, interrupted: bool) -> u8 {
    match report.failed() || interrupted {
        true => MEASURING,
        false if report.score().missed > 0 => MISSED,
        false => 0,
    }
}

fn print(text: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{text}").context("standard output")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{RowStatus, sample};
    use crate::row::goal::GoalState;

    #[test]
    fn a_missed_goal_a_failure_and_a_missing_peer_end_differently() {
        let mut report = sample();
        assert_eq!(exit_code(&report, false), 0, "the row whose peer is missing changes nothing");
        assert_eq!(exit_code(&report, true), MEASURING);
        report.rows[0].judgements[0].verdict = Some(GoalState::NotDecided);
        assert_eq!(exit_code(&report, false), 0, "what is not decided is not missed");
        report.rows[0].judgements[0].verdict = Some(GoalState::NotMet);
        assert_eq!(exit_code(&report, false), MISSED);
        report.rows[1].outcome = RowStatus::Failed("connection lost".to_owned());
        assert_eq!(exit_code(&report, false), MEASURING);
    }
}
