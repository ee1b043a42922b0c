//! The commands of subjects, around their trials.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use hopbench_model::{Fault, Nanos, Plan, SECOND, SubjectCommand};
use nix::fcntl::OFlag;

use crate::lab::built::Built;
use crate::processes::tools::{end_of, kill_group};

/// A command that takes longer is killed.
const MOST_NS: Nanos = 10 * SECOND;
/// How often it is looked whether it has ended.
const LOOK_NS: Nanos = 1_000_000;
/// Bytes of its words that are told.
const MOST_WORDS: u64 = 2048;

/// The commands by subject, and the subject that the lab is set up for.
#[derive(Debug, Default)]
pub(in crate::lab) struct Commands {
    all: BTreeMap<String, SubjectCommand>,
    now: Option<String>,
}

impl Commands {
    pub(in crate::lab) fn of(plan: &Plan) -> Self {
        let one =
            |subject: &hopbench_model::Subject| (subject.name.clone(), subject.command.clone());
        Self { all: plan.subjects.iter().map(one).collect(), now: None }
    }

    /// Sets the lab up for trials of a subject; `None`: for none any more.
    pub(in crate::lab) fn turn_to(
        &mut self,
        built: &Built,
        subject: Option<&str>,
    ) -> Result<(), Fault> {
        if self.now.as_deref() == subject {
            return Ok(());
        }
        if let Some(last) = self.now.clone() {
            // Should it fail, the next trial tries again: what `before` did is still there.
            self.run(built, &last, "after", |command| command.after.as_ref())?;
            self.now = None;
        }
        if let Some(next) = subject {
            self.run(built, next, "before", |command| command.before.as_ref())?;
            self.now = Some(next.to_owned());
        }
        Ok(())
    }

    fn run(
        &self,
        built: &Built,
        subject: &str,
        when: &str,
        line: impl Fn(&SubjectCommand) -> Option<&String>,
    ) -> Result<(), Fault> {
        let Some(line) = self.all.get(subject).and_then(line) else { return Ok(()) };
        let mut command = Command::new("sh");
        command.args(["-c", line]).env("HOPBENCH_SUBJECT", subject);
        for node in &built.nodes {
            // For `nsenter --net=$HOPBENCH_NODE_a`. A subject's node has the name of the node that
            // it stands for.
            let own = match &node.spec.stands_for {
                Some(of) if node.spec.name == hopbench_model::Subject::node_name(of, subject) => of,
                Some(_) => continue,
                None => &node.spec.name,
            };
            let name = format!("HOPBENCH_NODE_{}", own.replace('-', "_"));
            let fd = node.stack.namespace.fd().as_raw_fd();
            command.env(name, format!("/proc/{}/fd/{fd}", std::process::id()));
        }
        let failed = |why: String| {
            Fault::environment(format!("subject {subject}: the command {when} its trials {why}"))
        };
        match ended(&mut command) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(failed(why)),
            Err(error) => Err(failed(format!("cannot be run: {error}"))),
        }
    }
}

/// Runs a command to its end; why it failed. Its words go to a file: what it leaves running may
/// keep them open.
fn ended(command: &mut Command) -> io::Result<Option<String>> {
    let mut words = File::options()
        .read(true)
        .write(true)
        .custom_flags(OFlag::O_TMPFILE.bits())
        .open(std::env::temp_dir())?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(words.try_clone()?);
    let mut child = command.process_group(0).spawn()?;
    let Some(status) = end_of(&mut child, MOST_NS, LOOK_NS)? else {
        kill_group(&child);
        child.wait()?;
        return Ok(Some("did not end within 10 s".to_owned()));
    };
    if status.success() {
        return Ok(None);
    }
    let mut said = String::new();
    words.rewind()?;
    let _ = words.take(MOST_WORDS).read_to_string(&mut said);
    Ok(Some(format!("failed ({status}): {}", said.trim())))
}
