//! Programs under test: started in the lab, watched and paid for from outside.

pub(crate) mod clock;
pub(crate) mod interrupt;
pub(crate) mod listening;
pub(crate) mod memory;
mod running;
mod usage;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

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
    words: Vec<String>,
    shown: String,
}

impl Invocation {
    /// A program with its arguments; `prompt` names the end in the printed command.
    pub(crate) fn new(
        prompt: &str,
        namespace: Option<&str>,
        cpu: Option<usize>,
        files: Option<u64>,
        words: &[String],
    ) -> Self {
        let mut all: Vec<String> = ["setpriv", "--pdeathsig", "KILL"].map(str::to_owned).to_vec();
        if let Some(file) = namespace {
            all.extend(["nsenter".to_owned(), format!("--net={file}")]);
        }
        let mut visible = Vec::new();
        if let Some(files) = files {
            visible.extend(["prlimit".to_owned(), format!("--nofile={files}")]);
        }
        if let Some(cpu) = cpu {
            visible.extend(["taskset".to_owned(), "-c".to_owned(), cpu.to_string()]);
        }
        visible.extend_from_slice(words);
        let shown = format!("{prompt}$ {}", shown(&visible));
        all.extend(visible);
        Self { words: all, shown }
    }

    /// The command as a reader can repeat it, without the way into the namespace.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Starts it; what it prints goes to files in `scratch`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(&self, scratch: &Path) -> Result<RunningProgram> {
        let out =
            tempfile::NamedTempFile::new_in(scratch).context("file for the output of a program")?;
        let err =
            tempfile::NamedTempFile::new_in(scratch).context("file for the output of a program")?;
        let writer = |file: &tempfile::NamedTempFile| -> Result<File> { Ok(file.reopen()?) };
        let child = Command::new(&self.words[0])
            .args(&self.words[1..])
            .current_dir(scratch)
            .stdin(Stdio::null())
            .stdout(writer(&out)?)
            .stderr(writer(&err)?)
            .spawn()
            .with_context(|| {
                format!("`{}` (package util-linux) cannot be started", self.words[0])
            })?;
        Ok(RunningProgram::new(self.shown.clone(), child, out, err))
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

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn the_shown_command_hides_the_plumbing() {
        let task = Invocation::new(
            "client",
            Some("/run/netns/x"),
            Some(0),
            None,
            &words(&["/usr/bin/wrk", "-t1", "http://10.71.0.2/"]),
        );
        assert_eq!(task.shown(), "client$ taskset -c 0 wrk -t1 http://10.71.0.2/");
        assert!(task.words.contains(&"--net=/run/netns/x".to_owned()));
    }

    #[test]
    fn a_word_the_shell_would_change_is_quoted() {
        assert_eq!(shown(&words(&["a", "b c", ""])), "a 'b c' ''");
        assert_eq!(shown(&words(&["/tmp/x/prog", "/requests"])), "prog /requests");
    }

    #[test]
    fn output_status_and_cpu_time_come_back() {
        let scratch = tempfile::tempdir().unwrap();
        // About 2e5 additions: some ms of CPU, far above the resolution of getrusage.
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done";
        let task = Invocation::new("client", None, None, None, &words(&["sh", "-c", busy]));
        let finished = task.run(scratch.path(), Duration::from_secs(60)).unwrap();
        assert_eq!(finished.stdout.trim(), "done");
        assert!(finished.usage.total_s() > 0.001, "{:?}", finished.usage);

        let task = Invocation::new(
            "client",
            None,
            None,
            None,
            &words(&["sh", "-c", "echo broken >&2; exit 3"]),
        );
        let error = task.run(scratch.path(), Duration::from_secs(60)).unwrap_err().to_string();
        assert!(error.contains("broken"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let scratch = tempfile::tempdir().unwrap();
        let task = Invocation::new("client", None, None, None, &words(&["sleep", "600"]));
        let error = task.run(scratch.path(), Duration::from_millis(100)).unwrap_err().to_string();
        assert!(error.contains("still ran"), "{error}");
    }
}
