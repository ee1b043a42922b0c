//! The commands of subjects, around their trials.

mod interrupt;

use std::collections::BTreeMap;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use hopbench_model::units::Span;
use hopbench_model::{Fault, Nanos, Plan, SECOND, Subject, SubjectCommand};
use hopbench_sys::process::{end_group, kill_group};
use hopbench_sys::{clock, file};

pub use interrupt::Interrupt;

/// How often it is looked whether a command has ended.
const LOOK_NS: Nanos = 1_000_000;
/// A command that was told to end and has not by then is killed.
const MOST_END_NS: Nanos = SECOND;
/// Bytes of its words that are told.
const MOST_WORDS: u64 = 2048;
/// When commands run.
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// The commands by subject, and the subject that the testbed is set up for.
#[derive(Debug, Default)]
pub struct Commands {
    all: BTreeMap<String, SubjectCommand>,
    now: Option<String>,
    most_ns: Nanos,
    interrupt: Interrupt,
}

impl Commands {
    /// Those of a plan. One that takes longer than `most_ns` is killed. A command before trials is
    /// told to end when the user wants to stop. One after them undoes something, and goes on.
    pub fn of(plan: &Plan, most_ns: Nanos, interrupt: Interrupt) -> Self {
        let one = |subject: &Subject| (subject.name.clone(), subject.command.clone());
        Self { all: plan.subjects.iter().map(one).collect(), now: None, most_ns, interrupt }
    }

    /// The variable by which commands know a node of the scenario: `HOPBENCH_NODE_a`.
    pub fn node_variable(node: &str) -> String {
        format!("HOPBENCH_NODE_{}", node.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
    }

    /// Sets the testbed up for trials of a subject; `None`: for none any more. `variables` has the
    /// environment of a subject's commands, beside `HOPBENCH_SUBJECT`.
    ///
    /// # Errors
    /// A command that cannot be run, fails, does not end in time or was interrupted (environment).
    pub fn turn_to(
        &mut self,
        subject: Option<&str>,
        variables: impl Fn(&str) -> Vec<(String, String)>,
    ) -> Result<(), Fault> {
        if self.now.as_deref() == subject {
            return Ok(());
        }
        if let Some(last) = self.now.clone() {
            // Should it fail, the next trial tries again: what `before` did is still there.
            self.run(&last, AFTER, |command| command.after.as_ref(), &variables)?;
            self.now = None;
        }
        if let Some(next) = subject {
            if self.interrupt.wanted() {
                return Err(Fault::environment(format!("subject {next}: interrupted")));
            }
            if let Err(fault) =
                self.run(next, BEFORE, |command| command.before.as_ref(), &variables)
            {
                // What it did by then is no other subject's. The first fault is the one to tell.
                let _ = self.run(next, AFTER, |command| command.after.as_ref(), &variables);
                return Err(fault);
            }
            self.now = Some(next.to_owned());
        }
        Ok(())
    }

    fn run(
        &self,
        subject: &str,
        when: &str,
        line: impl Fn(&SubjectCommand) -> Option<&String>,
        variables: &impl Fn(&str) -> Vec<(String, String)>,
    ) -> Result<(), Fault> {
        let Some(line) = self.all.get(subject).and_then(line) else { return Ok(()) };
        let mut command = Command::new("sh");
        command.args(["-c", line]).envs(variables(subject)).env("HOPBENCH_SUBJECT", subject);
        let failed = |why: String| {
            Fault::environment(format!("subject {subject}: the command {when} its trials {why}"))
        };
        let never = Interrupt::default();
        let interrupt = if when == BEFORE { &self.interrupt } else { &never };
        match ended(&mut command, self.most_ns, interrupt) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(failed(why)),
            Err(error) => Err(failed(format!("cannot be run: {error}"))),
        }
    }
}

/// Runs a command to its end; why it failed. Its words go to a file: what it leaves running may
/// keep them open.
fn ended(
    command: &mut Command,
    most_ns: Nanos,
    interrupt: &Interrupt,
) -> io::Result<Option<String>> {
    let mut words = file::unnamed(&std::env::temp_dir())?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(words.try_clone()?);
    let mut child = command.process_group(0).spawn()?;
    let end = clock::now() + most_ns;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if interrupt.wanted() {
            end_group(&mut child, MOST_END_NS, LOOK_NS)?;
            return Ok(Some("was interrupted".to_owned()));
        }
        if clock::now() > end {
            kill_group(&child);
            child.wait()?;
            return Ok(Some(format!("did not end within {}", Span(most_ns))));
        }
        clock::sleep_until(clock::now() + LOOK_NS);
    };
    if status.success() {
        return Ok(None);
    }
    let mut said = Vec::new();
    words.rewind()?;
    words.take(MOST_WORDS).read_to_end(&mut said)?;
    Ok(Some(format!("failed ({status}): {}", String::from_utf8_lossy(&said).trim())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use hopbench_model::fixture;

    use super::*;

    fn commands(all: &[(&str, &str, &str)], most_ns: Nanos) -> Commands {
        interruptible(all, most_ns, Interrupt::default())
    }

    fn interruptible(all: &[(&str, &str, &str)], most_ns: Nanos, interrupt: Interrupt) -> Commands {
        let subject = |(name, before, after): &(&str, &str, &str)| Subject {
            name: (*name).to_owned(),
            command: SubjectCommand {
                before: Some((*before).to_owned()),
                after: Some((*after).to_owned()),
            },
            ..Subject::default()
        };
        let subjects = all.iter().map(subject).collect();
        Commands::of(&Plan { subjects, ..fixture::plan(vec![], vec![]) }, most_ns, interrupt)
    }

    #[test]
    fn the_command_after_comes_before_that_of_the_next_subject_and_is_tried_again() {
        let is = "test $HOPBENCH_SUBJECT = old && test $HOPBENCH_NODE_worker_1 = n1";
        let mut commands = commands(
            &[("old", is, "echo left >&2; exit 3"), ("new", "exit 4", "true")],
            60 * SECOND,
        );
        let mut turn = |subject: Option<&str>| {
            let nodes = |_: &str| vec![(Commands::node_variable("worker-1"), "n1".to_owned())];
            commands.turn_to(subject, nodes).map_err(|fault| fault.text)
        };
        assert_eq!(turn(None), Ok(()));
        let told = "subject new: the command before its trials failed (exit status: 4): ";
        assert_eq!(turn(Some("new")), Err(told.to_owned()));
        assert_eq!((turn(Some("old")), turn(Some("old"))), (Ok(()), Ok(())));
        for next in [Some("new"), None] {
            let told = turn(next).unwrap_err();
            assert_eq!(
                told,
                "subject old: the command after its trials failed (exit status: 3): left"
            );
        }
    }

    #[test]
    fn what_failed_half_way_is_undone_and_all_words_are_told() {
        let folder = std::env::temp_dir().join(format!("hopbench-half-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("half");
        let name = file.display().to_string();
        let before = format!("touch {name}; printf 'no \\377 more' >&2; exit 1");
        let after = format!("mv {name} {name}.undone");
        let mut commands = commands(&[("new", &before, &after)], 60 * SECOND);
        for _ in 0..2 {
            let told = commands.turn_to(Some("new"), |_| Vec::new()).unwrap_err().text;
            assert!(told.ends_with("(exit status: 1): no \u{fffd} more"), "{told}");
            let undone = folder.join("half.undone");
            assert!(!file.exists() && undone.exists());
            std::fs::remove_file(undone).unwrap();
        }
        std::fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let mut commands = commands(&[("old", "sleep 60", "true")], SECOND / 10);
        let told = commands.turn_to(Some("old"), |_| Vec::new()).unwrap_err().text;
        assert_eq!(told, "subject old: the command before its trials did not end within 100ms");
    }

    #[test]
    fn an_interrupt_ends_a_command_before_trials_and_none_after_them() {
        let folder = std::env::temp_dir().join(format!("hopbench-cut-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("said");
        let name = file.display().to_string();
        // What it started is of its group.
        let before = format!("echo begin >> {name}; sleep 60 & wait");
        let slow = format!("sleep 0.3; echo end >> {name}");
        let (wanted, said) = (Arc::new(AtomicBool::new(false)), file.clone());
        let asked = Arc::clone(&wanted);
        let interrupt = Interrupt::by(move || asked.load(Ordering::Relaxed));
        let all = [("old", "true", slow.as_str()), ("new", before.as_str(), slow.as_str())];
        let mut commands = interruptible(&all, 60 * SECOND, interrupt);
        let none = |_: &str| Vec::new();
        commands.turn_to(Some("old"), none).unwrap();
        let watch = std::thread::spawn(move || {
            while !std::fs::read_to_string(&said).is_ok_and(|said| said.contains("begin")) {
                clock::sleep_until(clock::now() + LOOK_NS);
            }
            wanted.store(true, Ordering::Relaxed);
        });
        let start = clock::now();
        let told = commands.turn_to(Some("new"), none).unwrap_err().text;
        assert_eq!(told, "subject new: the command before its trials was interrupted");
        assert!(clock::now() - start < 20 * SECOND);
        watch.join().unwrap();
        // No other begins any more.
        let told = commands.turn_to(Some("old"), none).unwrap_err().text;
        assert_eq!(told, "subject old: interrupted");
        commands.turn_to(None, none).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "end\nbegin\nend\n");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
