//! The commands of subjects, around their trials.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::process::Command;

use hopbench_model::{Fault, Nanos, Plan, SECOND, SubjectCommand};

use crate::lab::built::Built;
use crate::processes::tools::bounded;

/// A command that takes longer is killed.
const MOST_NS: Nanos = 10 * SECOND;

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
        if let Some(last) = self.now.take() {
            self.run(built, &last, "after", |command| command.after.as_ref())?;
        }
        if let Some(next) = subject {
            // Should it fail, the next trial tries again.
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
        let done = bounded(&mut command, MOST_NS)
            .map_err(|error| failed(format!("cannot be run: {error}")))?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(failed(format!("failed ({}): {}", done.status, said.trim())))
    }
}
