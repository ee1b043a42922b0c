//! Programs under test: started in the lab, watched and paid for from outside.

pub(crate) mod clock;
pub(crate) mod interrupt;
pub(crate) mod listening;
pub(crate) mod memory;
mod running;
mod usage;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

pub(crate) use running::{Completed, RunningProgram};
pub(crate) use usage::Usage;

/// A program that is about to be started.
///
/// The same prefix goes before ours and before a peer: `setpriv` so that it dies with this program,
/// `nsenter` into its end of the lab, `taskset` onto its CPU. All of them replace themselves by the
/// next (they cost about a millisecond together), so the pid is the program's and nothing else is
/// counted.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// The name of the end in the printed command.
    pub(crate) prompt: &'static str,
    /// The file of its network namespace, if it has another than this program.
    pub(crate) namespace: Option<String>,
    /// The CPU that it is held to.
    pub(crate) cpu: Option<usize>,
    /// The files that it may open.
    pub(crate) files: Option<u64>,
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
}

impl Invocation {
    /// A program with its arguments, where and as this program runs.
    pub(crate) fn new(prompt: &'static str, program: &Path, arguments: &[impl AsRef<str>]) -> Self {
        let arguments = arguments.iter().map(|word| word.as_ref().to_owned());
        let words = std::iter::once(program.display().to_string()).chain(arguments).collect();
        Self { prompt, namespace: None, cpu: None, files: None, words }
    }

    /// The command as a reader can repeat it, without the way into the namespace.
    pub(crate) fn shown(&self) -> String {
        format!("{}$ {}", self.prompt, shown(&self.visible()))
    }

    fn visible(&self) -> Vec<String> {
        let files = self.files.map(|files| format!("prlimit --nofile={files}"));
        let cpu = self.cpu.map(|cpu| format!("taskset -c {cpu}"));
        let before = files.iter().chain(&cpu).flat_map(|words| words.split(' ').map(str::to_owned));
        before.chain(self.words.iter().cloned()).collect()
    }

    fn command(&self) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if let Some(file) = &self.namespace {
            command.arg("nsenter").arg(format!("--net={file}"));
        }
        command.args(self.visible());
        command
    }

    /// Starts it; what it prints goes to files in `scratch`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(&self, scratch: &Path) -> Result<RunningProgram> {
        let file = || NamedTempFile::new_in(scratch).context("file for the output of a program");
        let (out, err) = (file()?, file()?);
        let child = self
            .command()
            .current_dir(scratch)
            .stdin(Stdio::null())
            .stdout(out.reopen()?)
            .stderr(err.reopen()?)
            .spawn()
            .context("`setpriv` (package util-linux) cannot be started")?;
        Ok(RunningProgram::new(self.shown(), child, out, err))
    }

    /// Starts it and waits for its end.
    ///
    /// # Errors
    /// When it fails or takes longer than `limit`, with the end of what it printed.
    pub(crate) fn run(&self, scratch: &Path, limit: Duration) -> Result<Completed> {
        self.start(scratch)?.finish(limit)
    }
}

/// The words as a shell takes them, with programs and files deep in the tree by their last name.
fn shown(words: &[String]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| {
            let short = match word.rsplit_once('/') {
                Some((directory, last)) if word.starts_with('/') && !directory.is_empty() => last,
                _ => word,
            };
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,%+".contains(c);
            if !short.is_empty() && short.chars().all(plain) {
                short.to_owned()
            } else {
                format!("'{short}'")
            }
        })
        .collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(program: &str, arguments: &[&str]) -> Invocation {
        Invocation::new("client", Path::new(program), arguments)
    }

    #[test]
    fn the_shown_command_hides_the_plumbing() {
        let task = Invocation {
            namespace: Some("/run/netns/x".to_owned()),
            cpu: Some(0),
            ..invocation("/usr/bin/wrk", &["-t1", "http://10.71.0.2/"])
        };
        assert_eq!(task.shown(), "client$ taskset -c 0 wrk -t1 http://10.71.0.2/");
        assert!(task.command().get_args().any(|word| word == "--net=/run/netns/x"));
        let task = Invocation { files: Some(64), ..task };
        assert!(task.shown().starts_with("client$ prlimit --nofile=64 taskset -c 0 wrk "));
    }

    #[test]
    fn a_word_the_shell_would_change_is_quoted() {
        assert_eq!(shown(&["a", "b c", ""].map(str::to_owned)), "a 'b c' ''");
        assert_eq!(shown(&["/tmp/x/prog", "/requests"].map(str::to_owned)), "prog /requests");
    }

    #[test]
    fn output_status_and_cpu_time_come_back() {
        let scratch = tempfile::tempdir().unwrap();
        // About 2e5 additions: some ms of CPU, far above the resolution of getrusage.
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done";
        let task = invocation("sh", &["-c", busy]);
        let finished = task.run(scratch.path(), Duration::from_secs(60)).unwrap();
        assert_eq!(finished.stdout.trim(), "done");
        assert!(finished.usage.total_s() > 0.001, "{:?}", finished.usage);

        let task = invocation("sh", &["-c", "echo broken >&2; exit 3"]);
        let error = task.run(scratch.path(), Duration::from_secs(60)).unwrap_err().to_string();
        assert!(error.contains("broken"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let scratch = tempfile::tempdir().unwrap();
        let task = invocation("sleep", &["600"]);
        let error = task.run(scratch.path(), Duration::from_millis(100)).unwrap_err().to_string();
        assert!(error.contains("still ran"), "{error}");
    }
}
