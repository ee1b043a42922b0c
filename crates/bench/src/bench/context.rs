//! The context of a row: the lab, the programs, and how long they run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::peer_program::Peer;
use super::tools::Tools;
use crate::lab::{End, Lab};
use crate::process::Invocation;

/// The warm-up of ours before its window. The figures of CPU per byte or request include it.
pub(crate) const WARMUP: Duration = Duration::from_millis(500);

/// A row prints this many different commands; a search would print dozens.
const COMMANDS: usize = 6;

/// The lab, the programs, and how long they run.
#[derive(Debug)]
pub(crate) struct Bench {
    lab: Lab,
    tools: Tools,
    scratch: tempfile::TempDir,
    seconds: u32,
    cpus: [usize; 2],
    /// The build of ours that runs instead of the usual one, if another does.
    build: RefCell<Option<PathBuf>>,
    commands: RefCell<Vec<String>>,
    memory: RefCell<BTreeMap<&'static str, f64>>,
}

impl Bench {
    /// Everything together; each run lasts `seconds`, the client on the first CPU, the server on
    /// the second.
    ///
    /// # Errors
    /// When there is no room for temporary files.
    pub(crate) fn new(lab: Lab, tools: Tools, seconds: u32, cpus: [usize; 2]) -> Result<Self> {
        let scratch = tempfile::tempdir().context("temporary directory")?;
        let (build, commands, memory) = Default::default();
        Ok(Self { lab, tools, scratch, seconds, cpus, build, commands, memory })
    }

    /// The programs.
    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// A directory for files that are not needed afterwards.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Length of a run, whole seconds: sockperf and wrk know no others.
    pub(crate) fn seconds(&self) -> u32 {
        self.seconds
    }

    /// Length of a run.
    pub(crate) fn window(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }

    /// A run that takes longer than this hangs.
    pub(crate) fn limit(&self) -> Duration {
        self.window() + WARMUP + Duration::from_secs(20)
    }

    /// The CPU of one end.
    pub(crate) fn cpu(&self, end: End) -> usize {
        match end {
            End::Client => self.cpus[0],
            End::Server => self.cpus[1],
        }
    }

    /// A peer at one end, on that end's CPU.
    ///
    /// # Errors
    /// When the peer is not installed.
    pub(crate) fn peer(&self, peer: &Peer, end: End, words: &[&str]) -> Result<Invocation> {
        Ok(self.task(end, Some(self.cpu(end)), None, self.tools.peer(peer)?, words))
    }

    /// As [`Self::peer`], allowed this many open files.
    ///
    /// # Errors
    /// When the peer is not installed.
    pub(crate) fn peer_with_files(
        &self,
        peer: &Peer,
        end: End,
        files: u64,
        words: &[&str],
    ) -> Result<Invocation> {
        Ok(self.task(end, Some(self.cpu(end)), Some(files), self.tools.peer(peer)?, words))
    }

    /// Ours at one end, the whole process on that end's CPU, as the peers are.
    pub(crate) fn ours(&self, end: End, words: &[impl AsRef<str>]) -> Invocation {
        self.task(end, Some(self.cpu(end)), None, &self.hopbench(), words)
    }

    /// As [`Self::ours`], allowed this many open files.
    pub(crate) fn ours_with_files(
        &self,
        end: End,
        files: u64,
        words: &[impl AsRef<str>],
    ) -> Invocation {
        self.task(end, Some(self.cpu(end)), Some(files), &self.hopbench(), words)
    }

    /// Ours outside the lab, on the machine's loopback.
    pub(crate) fn ours_outside(&self, words: &[impl AsRef<str>]) -> Invocation {
        self.log(Invocation::new("loopback", None, None, None, &command(&self.hopbench(), words)))
    }

    /// Has `run` use this build of ours.
    pub(crate) fn with_ours<T>(&self, build: &Path, run: impl FnOnce() -> T) -> T {
        self.build.replace(Some(build.to_owned()));
        let out = run();
        self.build.replace(None);
        out
    }

    fn hopbench(&self) -> PathBuf {
        self.build.borrow().clone().unwrap_or_else(|| self.tools.hopbench().to_owned())
    }

    /// A hidden subcommand of this program at one end, on that end's CPU.
    ///
    /// # Errors
    /// When this program does not find itself.
    pub(crate) fn own(&self, end: End, words: &[&str]) -> Result<Invocation> {
        let program = std::env::current_exe().context("path of this program")?;
        Ok(self.task(end, Some(self.cpu(end)), None, &program, words))
    }

    /// The different commands since the last call, in order, the first few of them.
    pub(crate) fn take_commands(&self) -> Vec<String> {
        let mut commands = self.commands.take();
        if commands.len() > COMMANDS {
            commands.truncate(COMMANDS);
            commands.push("... and the same with other numbers".to_owned());
        }
        commands
    }

    /// A figure that an earlier run of a row left for the next.
    pub(crate) fn remembered(&self, key: &'static str) -> Option<f64> {
        self.memory.borrow().get(key).copied()
    }

    /// Leaves a figure for the next run of a row.
    pub(crate) fn remember(&self, key: &'static str, value: f64) {
        self.memory.borrow_mut().insert(key, value);
    }

    fn task(
        &self,
        end: End,
        cpu: Option<usize>,
        files: Option<u64>,
        program: &Path,
        words: &[impl AsRef<str>],
    ) -> Invocation {
        let prompt = match end {
            End::Client => "client",
            End::Server => "server",
        };
        self.log(Invocation::new(
            prompt,
            Some(&self.lab.file(end)),
            cpu,
            files,
            &command(program, words),
        ))
    }

    fn log(&self, task: Invocation) -> Invocation {
        let mut commands = self.commands.borrow_mut();
        let shown = task.shown().to_owned();
        if !commands.contains(&shown) {
            commands.push(shown);
        }
        drop(commands);
        task
    }
}

fn command(program: &Path, words: &[impl AsRef<str>]) -> Vec<String> {
    let program = PathBuf::from(program).display().to_string();
    std::iter::once(program).chain(words.iter().map(|word| word.as_ref().to_owned())).collect()
}
