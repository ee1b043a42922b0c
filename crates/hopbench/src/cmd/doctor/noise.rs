//! `hopbench doctor --noise`: one path, measured twice in each round.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command};
use hopbench_agent::hello;
use hopbench_lab::sandbox::{self, Entered};
use hopbench_model::units::Span;
use hopbench_model::{Fault, Nanos, Plan, Record, RunFile, SECOND, TestbedSpec, Tick};
use hopbench_report::campaign::{Noise, noise_page};
use hopbench_run::results::{self, Folder};
use hopbench_run::{Campaign, Event, Finished, Observer, measurable, new_run};
use hopbench_scenario::{Overrides, Resolved, read};
use hopbench_wire::Role;

use crate::cmd::arguments::{FormatArgument, TestbedArguments, told};
use crate::cmd::run::hidden;
use crate::ctrl_c::CtrlC;
use crate::output::{Bar, refuse_stdout, say};
use crate::testbeds::{self, vocabularies};

/// The name of the second path, which is the first once more; named as scenarios name such paths.
const TWIN: &str = "once again";
/// The least time: in less there are too few rounds.
const SHORTEST: Nanos = 10 * SECOND;
/// The time of its trials where none is given: in a lab they take a fifth of a second each.
const IN_A_LAB: Nanos = 30 * SECOND;
/// Elsewhere they take longer: their windows do, and what the conductor says crosses a network.
const ELSEWHERE: Nanos = 180 * SECOND;

/// The flags of the noise floor.
#[derive(Debug, Args)]
pub(super) struct NoiseArguments {
    /// Measure how much one path differs from itself here, and what can be told apart in 1, 5 and
    /// 20 minutes
    #[arg(long)]
    noise: bool,
    /// How long the trials of --noise take together [default: 30s in a lab, 3m elsewhere]
    #[arg(short, long, alias = "duration", value_name = "TIME", requires = "noise")]
    time: Option<Span>,
    /// Folder that keeps what --noise measured, which must be empty [default: nothing is kept]
    #[arg(short, long, alias = "out", value_name = "DIR", requires = "noise")]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgument,
}

impl NoiseArguments {
    /// Adds the flags.
    pub(super) fn of_noise(command: Command) -> Command {
        let command = Self::augment_args(command).mut_arg("json", |arg| arg.requires("noise"));
        command.mut_arg("format", |arg| {
            arg.requires("noise").help("Text for people, or json: one object; with --noise")
        })
    }

    /// Whether it was asked for.
    pub(super) fn wanted(&self) -> bool {
        self.noise
    }

    /// Measures and prints.
    pub(super) fn run(&self, testbed: &TestbedArguments) -> Result<ExitCode, Fault> {
        let (plan, text) = self.plan(testbed)?;
        let in_lab = matches!(plan.testbed, TestbedSpec::Lab(_));
        self.output
            .as_deref()
            .map_or(Ok(()), |dir| refuse_stdout(dir).and_then(|()| results::vacant(dir)))?;
        if in_lab {
            if let Some(out) = self.output.as_deref().filter(|_| !sandbox::is_inside()) {
                hidden::refuse(out, None)?;
            }
            if let Entered::Outside(code) = sandbox::enter()? {
                return Ok(code);
            }
        }
        let (run, records) = self.measured(plan, text, in_lab)?;
        let noise = Noise::of(&run, &records).ok_or_else(|| {
            Fault::measuring(
                "no round has a figure of both paths; `hopbench doctor` says what is missing",
            )
        })?;
        if self.format.is_json() {
            let json = serde_json::to_string(&noise).map_err(Fault::measuring)?;
            say(json)?;
        } else {
            say(noise_page(&noise).trim_end())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The path and its twin, in as many rounds as there is time for.
    fn plan(&self, testbed: &TestbedArguments) -> Result<(Plan, String), Fault> {
        let is_lab = matches!(testbed.spec()?, TestbedSpec::Lab(_));
        let time = self.time.unwrap_or(Span(if is_lab { IN_A_LAB } else { ELSEWHERE }));
        if !(SHORTEST..=24 * 3600 * SECOND).contains(&time.0) {
            return Err(Fault::input(format!("--time: found {time}, expected 10s to 24h")));
        }
        let text = format!(
            "name: noise\n\
             budget: {time}\n\
             paths: {{once: bridge@a -> bridge@b, again: bridge@a -> bridge@b}}\n\
             workloads:\n\
             \x20 stream: {{stream: {{connections: 4}}}}\n\
             \x20 rr:     {{rr: {{size: 64B}}}}\n\
             \x20 http:   {{http: {{connections: 16, rate: 2000, response: 1KiB}}}}\n"
        );
        let own = Overrides { new_seed: rand::random(), ..Overrides::default() };
        let resolved = read("noise", &text, &vocabularies(), &testbed.over(own)?);
        let Resolved { mut plan, .. } = resolved.map_err(|problems| told(&problems))?;
        twice(&mut plan);
        Ok((plan, text))
    }

    fn measured(
        &self,
        plan: Plan,
        text: String,
        in_lab: bool,
    ) -> Result<(RunFile, Vec<Record>), Fault> {
        let ctrl_c = CtrlC::watch()?;
        let ours = hello();
        let run = new_run(plan, text, &ours)?;
        measurable(&run.plan, &mut *testbeds::open(&run.plan.testbed, None, || false, |_| ()))?;
        // A lab's own /run goes with it, however it ends.
        let temporary = if in_lab { tempfile::tempdir_in("/run") } else { tempfile::tempdir() };
        let temporary = temporary
            .map_err(|e| Fault::environment(format!("no temporary folder can be made: {e}")))?;
        let folder =
            Folder::create(self.output.as_deref().unwrap_or_else(|| temporary.path()), run)?;
        let heard = ctrl_c.clone();
        let mut testbed = testbeds::open(
            &folder.run().plan.testbed,
            Some(folder.agents_log()?),
            move || heard.wanted(),
            |_| (),
        );
        let mut observer = Quiet { bar: Bar::new(), ctrl_c };
        let Finished { folder, fault, .. } =
            Campaign::new(folder, ours).run(&mut *testbed, &mut observer);
        drop(observer);
        if let Some(fault) = fault {
            return Err(fault);
        }
        let (run, records) = results::open(folder.path())?;
        Ok((run, records.collect::<Result<_, _>>()?))
    }
}

/// Makes the second path the first once more: a scenario has that only beside other paths.
fn twice(plan: &mut Plan) {
    TWIN.clone_into(&mut plan.paths[1].name);
    plan.baseline = Some(plan.paths[0].name.clone());
    plan.twin = Some(TWIN.to_owned());
}

/// Shows how far it is on a terminal, and says elsewhere only what went wrong.
struct Quiet {
    bar: Bar,
    ctrl_c: CtrlC,
}

impl Quiet {
    fn say(&self, line: &str) {
        self.bar.tell(line);
    }
}

impl Observer for Quiet {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::TrialStarted { trial, left_ns, .. } => {
                let left = left_ns.div_ceil(SECOND);
                self.bar.show(&format!("round {}, {left} s left: {}", trial.round, trial.workload));
            }
            Event::TrialFailed(failure) => {
                self.say(&format!(
                    "round {} {}: {}",
                    failure.round, failure.workload, failure.reason
                ));
            }
            Event::Note(note) => self.say(note),
            Event::CellSkipped(cell) => {
                self.say(&format!("{} is left out: {}", cell.workload, cell.reason));
            }
            Event::RunDone { .. } => self.bar.clear(),
            _ => {}
        }
    }

    fn tick(&mut self, _: Role, _: usize, _: &Tick) {}

    fn interrupted(&self) -> bool {
        self.ctrl_c.wanted()
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        self.bar.clear();
    }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;
    use hopbench_model::Path;

    use super::*;

    #[test]
    fn the_second_path_is_the_first_again() {
        let arguments = {
            let command = NoiseArguments::of_noise(Command::new("doctor"));
            NoiseArguments::from_arg_matches(&command.get_matches_from(["doctor", "--noise"]))
                .expect("flags")
        };
        let (plan, _) = arguments.plan(&TestbedArguments::lab()).expect("a plan");
        assert_eq!((plan.paths.len(), plan.points.len(), plan.cells.len()), (2, 3, 6));
        assert_eq!(plan.budget_ns, Some(IN_A_LAB));
        let [first, second] = &plan.paths[..] else { panic!("{:?}", plan.paths) };
        assert_eq!(*first, Path { name: first.name.clone(), ..second.clone() });
        assert_eq!(
            (plan.baseline.as_ref(), plan.twin.as_ref()),
            (Some(&first.name), Some(&second.name))
        );
        assert_eq!(plan.stop, None);
    }
}
