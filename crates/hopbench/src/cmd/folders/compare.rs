//! `hopbench compare`: one results folder against another.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use hopbench_model::Fault;
use hopbench_report::comparison::{
    Asked, Bound, COMPARISON_FORMATS, Comparison, Values, compare, comparison_format, share_of,
};
use hopbench_run::results;

use crate::cmd::arguments::output::{Output, arguments};
use crate::cmd::subcommand::Subcommand;
use crate::output::tell;

pub(in crate::cmd) struct Compare;

impl Subcommand for Compare {
    fn command(&self) -> Command {
        Command::new("compare")
            .about("Compares two results folders, as a gate in CI if bounds are given")
            .after_help(
                "Cells with the same path, workload, point and job are compared, round against \
                 round.\n\
                 METRIC is throughput, or a percentile: p50, p90, p99, p999 or p9999. p99 is that\n\
                 of the latency that reports show, p99_response that of one by its name:\n\
                 response, service, delay, connect or rtt. Or it is cpu_per_request and whatever\n\
                 else reports show, or any metric in the records. found_load is the rate that a\n\
                 search found.\n\
                 METRIC>5% is broken where the metric is called worse by more than 5 %.\n\
                 METRIC>0% is broken where it is called worse at all.\n\
                 Worse is less of throughput and rates of work, more of everything else. A cell\n\
                 that A measured and in which every trial of B failed breaks its bounds, too; one\n\
                 that B leaves out is a warning. Where the rounds could not have seen a worsening\n\
                 of that size the bound is not broken, and that is said.\n\
                 Exit codes: 0 no bound is broken. 1 one is, or with --fail-unjudged or --strict\n\
                 one that no cell could judge. 2 the input is wrong: no cell in common, a bound\n\
                 on what no cell has, or a run that stands there twice. Or runs of one side have\n\
                 different plans, or --strict refuses a run.",
            )
            .arg(
                folder("a")
                    .required(true)
                    .value_name("A")
                    .help("The baseline: a folder that `hopbench run` left"),
            )
            .arg(folder("b").required(true).value_name("B").help("The candidate"))
            .arg(more(
                "more-a",
                "Another run of the baseline's scenario; with three runs on each side, runs are \
                 compared",
            ))
            .arg(more("more-b", "Another run of the candidate's"))
            .arg(
                Arg::new("fail-on")
                    .long("fail-on")
                    .value_name("BOUND")
                    .action(ArgAction::Append)
                    .value_delimiter(',')
                    .value_parser(value_parser!(Bound))
                    .help("What may not have become worse: METRIC>5%; several by commas"),
            )
            .arg(
                Arg::new("min-effect")
                    .long("min-effect")
                    .value_name("PERCENT")
                    .value_parser(|text: &str| {
                        share_of(text).ok_or("expected a percentage like 2%")
                    })
                    .help(
                        "Differences below this are of no interest [default: what the scenarios \
                           say]",
                    ),
            )
            .arg(
                flag("fail-unjudged", "Exit code 1 also for a bound that no cell could judge")
                    .requires("fail-on"),
            )
            .arg(flag(
                "strict",
                "Refuse runs whose environment or plan differ in what can change figures; with \
                 bounds also --fail-unjudged",
            ))
            .arg(flag("all", "Show the figures of which no difference is called, too"))
            .args(arguments(
                COMPARISON_FORMATS.iter().map(|format| format.name).collect(),
                "How [default: table]",
                "Where to write it; - is standard output [default: -]",
            ))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        self.exit_code(matches).map(drop)
    }

    fn exit_code(&self, matches: &ArgMatches) -> Result<ExitCode, Fault> {
        let output = Output::of(matches, "table")?;
        let format = comparison_format(output.format).ok_or_else(|| output.unknown())?;
        let asked = Asked {
            minimum_effect: matches.get_one::<f64>("min-effect").copied(),
            bounds: matches.get_many::<Bound>("fail-on").into_iter().flatten().cloned().collect(),
            strict: matches.get_flag("strict"),
        };
        if output.format == "junit" && asked.bounds.is_empty() {
            return Err(Fault::input(
                "--format junit: its test cases are bounds; expected --fail-on, like --fail-on \
                 'throughput>5%'",
            ));
        }
        let side = |first: &str, more: &str| -> Vec<&PathBuf> {
            let first = matches.get_one::<PathBuf>(first).into_iter();
            first.chain(matches.get_many::<PathBuf>(more).into_iter().flatten()).collect()
        };
        let (a, b) = read_both(&side("a", "more-a"), &side("b", "more-b"), &asked.bounds)?;
        let comparison = compare(&a, &b, &asked)?;
        let text = (format.render)(&comparison, matches.get_flag("all"));
        output.write(&text)?;
        // What people read on the standard output says it already.
        let is_told = output.file.is_none() && matches!(output.format, "table" | "markdown");
        let fail_unjudged =
            ["strict", "fail-unjudged"].into_iter().find(|name| matches.get_flag(name));
        Ok(gate(&comparison, is_told, fail_unjudged))
    }
}

fn folder(name: &'static str) -> Arg {
    Arg::new(name).value_parser(value_parser!(PathBuf))
}

fn more(name: &'static str, help: &'static str) -> Arg {
    folder(name).long(name).value_name("DIR").action(ArgAction::Append).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// 1 where a bound is broken, also by a cell that the candidate could not measure. With a flag that
/// asks for it also where no cell could judge one; its name is told.
fn gate(comparison: &Comparison, is_told: bool, fail_unjudged: Option<&str>) -> ExitCode {
    let broken: Vec<_> = comparison.broken().collect();
    if !is_told {
        comparison.unlike.iter().for_each(|unlike| tell(unlike.text()));
        comparison.warnings().iter().for_each(tell);
        for (bound, case) in &broken {
            tell(format_args!("{} is broken: {}: {}", bound.bound, case.cell, case.text));
        }
        comparison.headline().iter().for_each(tell);
    }
    let mut code = if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) };
    if let Some(flag) = fail_unjudged {
        for bound in comparison.blind() {
            tell(format_args!(
                "--{flag}: no cell could judge {}; more rounds or longer windows see more",
                bound.bound
            ));
            code = ExitCode::from(1);
        }
    }
    code
}

/// The runs of both sides. They are read at the same time: what takes time is to take records
/// apart.
fn read_both(
    a: &[&PathBuf],
    b: &[&PathBuf],
    bounds: &[Bound],
) -> Result<(Vec<Values>, Vec<Values>), Fault> {
    let all =
        |dirs: &[&PathBuf]| dirs.iter().map(|dir| read(dir, bounds)).collect::<Result<Vec<_>, _>>();
    let (a, b) = std::thread::scope(|scope| {
        let other = scope.spawn(|| all(b));
        (all(a), other.join())
    });
    let b = b.unwrap_or_else(|_| Err(Fault::measuring("reading the candidate failed")));
    Ok((a?, b?))
}

fn read(dir: &Path, bounds: &[Bound]) -> Result<Values, Fault> {
    let (run, mut records) = results::open(dir)?;
    let mut values = Values::new(dir.display().to_string(), run, bounds);
    for record in records.by_ref() {
        values.add(&record?);
    }
    records.notes().iter().for_each(tell);
    Ok(values)
}
