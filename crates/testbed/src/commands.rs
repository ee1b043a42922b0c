//! The commands of subjects, around their trials.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use hopbench_model::units::Span;
use hopbench_model::{Fault, Nanos, Plan, Subject, SubjectCommand};
use hopbench_sys::file;
use hopbench_sys::process::{end_of, kill_group};

/// How often it is looked whether a command has ended.
const LOOK_NS: Nanos = 1_000_000;
/// Bytes of its words that are told.
const MOST_WORDS: u64 = 2048;

/// The commands by subject, and the subject that the testbed is set up for.
#[derive(Debug, Default)]
pub struct Commands {
    all: BTreeMap<String, SubjectCommand>,
    now: Option<String>,
    most_ns: Nanos,
}

impl Commands {
    /// Those of a plan. One that takes longer than `most_ns` is killed.
    pub fn of(plan: &Plan, most_ns: Nanos) -> Self {
        let one = |subject: &Subject| (subject.name.clone(), subject.command.clone());
        Self { all: plan.subjects.iter().map(one).collect(), now: None, most_ns }
    }

    /// The variable by which commands know a node of the scenario: `HOPBENCH_NODE_a`.
    pub fn node_variable(node: &str) -> String {
        format!("HOPBENCH_NODE_{}", node.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
    }

    /// Sets the testbed up for trials of a subject; `None`: for none any more. `variables` has the
    /// environment of a subject's commands, beside `HOPBENCH_SUBJECT`.
    ///
    /// # Errors
    /// A command that cannot be run, fails or does not end in time (environment).
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
            self.run(&last, "after", |command| command.after.as_ref(), &variables)?;
            self.now = None;
        }
        if let Some(next) = subject {
            if let Err(fault) =
                self.run(next, "before", |command| command.before.as_ref(), &variables)
            {
                // What it did by then is no other subject's. The first fault is the one to tell.
                let _ = self.run(next, "after", |command| command.after.as_ref(), &variables);
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
        match ended(&mut command, self.most_ns) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(failed(why)),
            Err(error) => Err(failed(format!("cannot be run: {error}"))),
        }
    }
}

/// Runs a command to its end; why it failed. Its words go to a file: what it leaves running may
/// keep them open.
fn ended(command: &mut Command, most_ns: Nanos) -> io::Result<Option<String>> {
    let mut words = file::unnamed(&std::env::temp_dir())?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(words.try_clone()?);
    let mut child = command.process_group(0).spawn()?;
    let Some(status) = end_of(&mut child, most_ns, LOOK_NS)? else {
        kill_group(&child);
        child.wait()?;
        return Ok(Some(format!("did not end within {}", Span(most_ns))));
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
    use hopbench_model::{SECOND, fixture};

    use super::*;

    fn commands(all: &[(&str, &str, &str)], most_ns: Nanos) -> Commands {
        let subject = |(name, before, after): &(&str, &str, &str)| Subject {
            name: (*name).to_owned(),
            command: SubjectCommand {
                before: Some((*before).to_owned()),
                after: Some((*after).to_owned()),
            },
            ..Subject::default()
        };
        let subjects = all.iter().map(subject).collect();
        Commands::of(&Plan { subjects, ..fixture::plan(vec![], vec![]) }, most_ns)
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
}
