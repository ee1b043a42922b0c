//! `hopbench run`: a scenario, measured, into a results folder.

mod events;
mod flags;
mod headline;
pub(super) mod hidden;
mod known;
mod narrowing;
pub(super) mod profiles;
mod progress;
mod searching;

use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_agent::hello;
use hopbench_lab::sandbox::{self, Entered};
use hopbench_model::{Fault, TestbedSpec};
use hopbench_report::campaign::{RunData, Summary, summary_format};
use hopbench_report::comparison::CaseState;
use hopbench_report::number::counted;
use hopbench_run::results::{self, Folder, Resumed};
use hopbench_run::{Campaign, Ended, Event, Finished, Observer, measurable, new_run};

pub(super) use self::events::EVENT_SCHEMA;
use self::events::Events;
use self::flags::{Flags, Wanted, has_bounds};
use self::known::Known;
use self::progress::{Log, Progress};
use super::arguments::in_unit;
use super::subcommand::Subcommand;
use crate::ctrl_c::CtrlC;
use crate::output::{Bar, print, screen, tell};
use crate::testbeds;

pub(super) struct Run;

/// What a user has to know who ends a run on a cluster before it has cleaned up.
const LEFT_BEHIND: &str =
    "ended at once; what is left on the cluster is removed by `hopbench kube clean`";

/// The formats that are left in the folder, with the names of their files.
const LEFT: &[(&str, &str)] = &[("html", "report.html"), ("csv", "summary.csv")];

impl Subcommand for Run {
    fn command(&self) -> Command {
        Flags::augment_args(Command::new("run"))
            .mut_arg("format", |arg| {
                arg.help("Text for people, or json: an object a line for everything that happens")
            })
            .about("Measures a scenario and reports on it")
            .long_about(None)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        self.exit_code(matches).map(drop)
    }

    fn exit_code(&self, matches: &ArgMatches) -> Result<ExitCode, Fault> {
        let flags = Flags::from_arg_matches(matches).map_err(Fault::input)?;
        // All that can be wrong with what was asked for, before anything is started.
        let wanted = flags.wanted()?;
        if let TestbedSpec::Lab(_) = wanted.testbed() {
            if !sandbox::is_inside() {
                hidden::refuse(wanted.dir(), flags.file())?;
            }
            if let Entered::Outside(code) = sandbox::enter()? {
                return Ok(code);
            }
        }
        run(&flags, wanted)
    }
}

fn run(flags: &Flags, wanted: Wanted) -> Result<ExitCode, Fault> {
    let is_cluster = matches!(wanted.testbed(), TestbedSpec::Kubernetes(_));
    let bar = Bar::new();
    let ctrl_c = CtrlC::clearing(bar.clone(), if is_cluster { LEFT_BEHIND } else { "" })?;
    let ours = hello();
    let (folder, resumed, secrets, profiling) = match wanted {
        Wanted::New { plan, notes, text, dir, secrets, profiling } => {
            notes.iter().chain(&super::plan::too_short(&plan)).for_each(tell);
            let run = new_run(*plan, text, &ours)?;
            // A folder in which no trial can ever be is only in the way.
            if let Err(fault) = measurable(
                &run.plan,
                &mut *testbeds::open(&run.plan.testbed, None, || false, |_| ()),
            ) {
                if flags.format.is_json() {
                    let done =
                        Event::RunDone { run: &run, ended: &Ended::default(), fault: Some(&fault) };
                    Events::new(ctrl_c).event(&done);
                }
                return Err(fault);
            }
            (Folder::create(&dir, run)?, Resumed::default(), secrets, profiling)
        }
        Wanted::Old { dir, secrets, more_ns, profiling, .. } => {
            let (mut folder, resumed) = Folder::resume(&dir)?;
            more_ns.map_or(Ok(()), |ns| folder.allow_more(ns))?;
            (folder, resumed, secrets, profiling)
        }
    };
    let heard = ctrl_c.clone();
    let shown = bar.clone();
    let mut testbed = testbeds::open(
        &folder.run().plan.testbed,
        Some(folder.agents_log()?),
        move || heard.wanted(),
        move |line| shown.tell(line),
    );
    let dir = folder.path().to_owned();
    let log = Log::new(folder.trials_log()?);
    let campaign = Campaign::resume(folder, resumed, ours);
    let campaign = campaign.with_secrets(secrets).with_profiles(profiling);
    let known = Known::new(&dir, flags.units.unit());
    let is_json = flags.format.is_json();
    let mut observer: Box<dyn Observer> = if is_json {
        Box::new(Events::new(ctrl_c).of_run(log, known))
    } else {
        Box::new(Progress::new(ctrl_c, bar, log, known, flags.verbose))
    };
    let Finished { folder, ended, fault } = campaign.run(&mut *testbed, &mut *observer);
    drop(observer);
    let reported = || report(&folder, flags);
    match fault {
        None => {
            let code = reported()?;
            verdict(&ended, &dir, is_cluster).map(|()| code)
        }
        Some(fault)
            if results::open(&dir)
                .is_ok_and(|(_, mut records)| records.any(|record| record.is_ok())) =>
        {
            // What ended the run is the worse news.
            if let Err(another) = reported() {
                tell(format_args!("no report: {another}"));
            }
            Err(kept(&fault, &dir, is_cluster))
        }
        Some(fault) => Err(fault),
    }
}

/// A fault that ended a run in the middle, with what there is of it.
fn kept(fault: &Fault, dir: &Path, is_cluster: bool) -> Fault {
    let (at, same) = (dir.display(), same_testbed(is_cluster));
    let text = format!(
        "{}\nwhat was measured is in {at}; go on with `hopbench run --resume {at}`{same}",
        fault.text
    );
    Fault { kind: fault.kind, text }
}

/// What `--resume` does not mend, where that may be what is wrong.
fn same_testbed(is_cluster: bool) -> &'static str {
    if is_cluster {
        ", on the same testbed as it was described; if that is to change, start a new run"
    } else {
        ""
    }
}

/// Writes the reports into the folder, and prints the answer. Flame graphs are written in any case.
/// 1 where a bound is broken; with `--fail-unjudged` also where no cell could judge one.
fn report(folder: &Folder, flags: &Flags) -> Result<ExitCode, Fault> {
    let profiles = profiles::of(folder.path());
    let (run, mut records) = results::open(folder.path())?;
    if flags.no_report && profiles.is_none() && !has_bounds(&run.plan) {
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = RunData::new(&run).with_profiles(profiles.clone());
    for record in records.by_ref() {
        report.add(&record?);
    }
    records.notes().iter().for_each(tell);
    let summary = in_unit(report.into_summary(), flags.units.unit());
    profiles.map_or(Ok(()), |profiles| profiles::write(folder, &profiles, &summary))?;
    // Otherwise the answer says it.
    let tells = flags.no_report || flags.format.is_json();
    let code = bounds(&summary, tells, flags.fail_unjudged);
    if flags.no_report {
        return Ok(code);
    }
    for (format, name) in LEFT {
        let known = summary_format(format)
            .ok_or_else(|| Fault::input(format!("there is no format `{format}`")))?;
        folder.add(name, (known.render)(&summary).as_bytes())?;
    }
    if !flags.format.is_json() {
        let named = folder.path().to_string_lossy();
        print(screen(&named, true).text(&summary))?;
        profiles::say(&named, &summary)?;
    }
    Ok(code)
}

/// 1 where a bound of a subject is broken; with `fail_unjudged` also where no cell could judge one.
/// Each of them is told where nothing else does.
fn bounds(summary: &Summary, tells: bool, fail_unjudged: bool) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for subject in &summary.run.subjects {
        for bound in &subject.bounds {
            for case in bound.cases_of(CaseState::Broken) {
                if tells {
                    tell(format_args!(
                        "bound {} of {} is broken: {}: {}",
                        bound.bound, subject.name, case.cell, case.text
                    ));
                }
                code = ExitCode::from(1);
            }
            if bound.judged() > 0 {
                continue;
            }
            if tells || fail_unjudged {
                let flag = if fail_unjudged { "--fail-unjudged: " } else { "" };
                tell(format_args!(
                    "{flag}no cell could judge bound {} of {}; give the run more time",
                    bound.bound, subject.name
                ));
            }
            if fail_unjudged {
                code = ExitCode::from(1);
            }
        }
    }
    code
}

/// Whether all that was to be measured was, and makes sense.
fn verdict(ended: &Ended, dir: &Path, is_cluster: bool) -> Result<(), Fault> {
    let mut wrong = Vec::new();
    if ended.interrupted {
        wrong.push("interrupted".to_owned());
    }
    if ended.failures > 0 {
        wrong.push(format!("{} failed", counted(ended.failures as u64, "trial", "trials")));
    }
    if ended.errors > 0 {
        wrong.push(format!(
            "the figures of {} cannot be used",
            counted(ended.errors as u64, "trial", "trials")
        ));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Fault::measuring(format!(
        "{}; measure what is missing with `hopbench run --resume {}`{}",
        wrong.join(", "),
        dir.display(),
        same_testbed(is_cluster)
    )))
}
