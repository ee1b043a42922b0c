//! `make bench-verdicts`: how long hopbench takes to decide differences of known size.
//!
//! - [`effect`]: two paths that differ by a known share, as a scenario;
//! - [`folder`]: a run of hopbench, and the verdict that each of its first rounds would have given;
//! - [`measured`]: the runs of one effect; [`quickstart`]: those of the shipped scenario;
//! - [`table`]: the figures as markdown.

mod effect;
mod folder;
mod measured;
mod quickstart;
mod table;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use time::OffsetDateTime;

use crate::bench::tools;
use crate::cli::say;
use crate::cli::verdicts::VerdictOptions;
use crate::lab::machine::{Machine, two_cpus};
use crate::process::{Invocation, RunningProgram, interrupt};
use crate::report::Section;
use effect::effects;
use folder::Runner;
use measured::EffectRuns;
use quickstart::Quickstart;
use table::VerdictResults;

/// The name of this benchmark between the marks of a page.
const MAKER: &str = "make bench-verdicts";

/// About how long all of it takes.
fn length(options: &VerdictOptions) -> Duration {
    let effects = effects()
        .filter(|effect| options.has_effect(effect.part, effect.percent))
        .map(|effect| effect.budget * options.runs + effect::PRACTICE * 9 * options.practice());
    let quickstart = quickstart::BUDGETS
        .into_iter()
        .filter(|budget| options.has_quickstart(*budget))
        .map(|budget| budget * quickstart::runs(options, budget));
    options.scaled(effects.chain(quickstart).sum())
}

/// Measures, and returns the table. Files are written after each row.
///
/// # Errors
/// When a run fails, a file cannot be written, or a signal came.
pub(crate) fn run(options: &VerdictOptions) -> Result<String> {
    anyhow::ensure!(
        options.scale > 0.0 && options.scale <= 1.0,
        "--scale: found {}, expected more than 0 and at most 1",
        options.scale
    );
    anyhow::ensure!(
        options.scale == 1.0 || options.into.is_empty(),
        "--into: found with --scale {}, expected whole budgets: a try is in no page",
        options.scale
    );
    let sections = Section::of(&options.into, MAKER)?;
    let kept = table::kept(options.markdown.as_deref(), options.scale == 1.0)?;
    let hopbench = options.hopbench.clone().map_or_else(tools::default_hopbench, Ok)?;
    let hopbench =
        hopbench.canonicalize().with_context(|| format!("--hopbench {}", hopbench.display()))?;
    interrupt::install()?;
    say(&format!("this takes about {} minutes", length(options).as_secs().div_ceil(60)));
    let runner = Runner::new(hopbench)?;
    let _busy = if options.busy { Some(busy(&runner)?) } else { None };
    let mut report = VerdictResults {
        measured: measured_when_and_where(),
        busy: options.busy,
        scale: options.scale,
        effects: effects().map(|effect| (effect, None)).collect(),
        quickstart: quickstart::BUDGETS.map(|budget| (budget, None)).into(),
    };
    let save = |report: &VerdictResults| -> Result<()> {
        if let Some(file) = &options.markdown {
            let text = table::markdown(report, &kept);
            std::fs::write(file, text).with_context(|| file.display().to_string())?;
        }
        sections
            .iter()
            .try_for_each(|section| section.write(&table::markdown(report, section.text())))
    };
    for index in 0..report.effects.len() {
        let effect = report.effects[index].0;
        if options.has_effect(effect.part, effect.percent) {
            say(&format!("{}, {} % apart", effect.what(), effect.percent));
            let found = EffectRuns::of(&runner, options, &effect)?;
            report.effects[index].1 = Some(found);
            save(&report)?;
        }
    }
    for index in 0..report.quickstart.len() {
        let budget = report.quickstart[index].0;
        if options.has_quickstart(budget) {
            say(&format!("quickstart, {} s", options.scaled(budget).as_secs_f64()));
            report.quickstart[index].1 = Some(Quickstart::of(&runner, options, budget)?);
            save(&report)?;
        }
    }
    Ok(table::markdown(&report, &kept))
}

/// `2026-11-25, AMD EPYC, 2 CPUs, 23.5 GiB, Linux 6.18.44`.
fn measured_when_and_where() -> String {
    format!("{}, {}", OffsetDateTime::now_utc().date(), Machine::this())
}

/// A process that keeps the first CPU busy; it ends when this is dropped.
fn busy(runner: &Runner) -> Result<RunningProgram> {
    let shell = Invocation::new("machine", Path::new("sh"), &["-c", "while :; do :; done"]);
    Invocation { cpu: Some(two_cpus()?[0]), ..shell }.start(runner.scratch())
}
