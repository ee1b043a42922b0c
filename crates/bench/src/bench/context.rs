//! The context of a row: the lab, the programs, and how long they run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::peer_program::Peer;
use super::text::split;
use super::tools::Tools;
use crate::lab::{End, Lab};
use crate::process::{Completed, Invocation, RunningProgram, listening};

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

    /// The same as ours takes it: `3s`.
    pub(crate) fn time(&self) -> String {
        format!("{}s", self.seconds)
    }

    /// Length of a run.
    pub(crate) fn window(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }

    /// A run that takes longer than this hangs.
    pub(crate) fn limit(&self) -> Duration {
        self.window() + WARMUP + Duration::from_secs(20)
    }

    /// A peer at one end, on that end's CPU.
    ///
    /// # Errors
    /// When the peer is not installed.
    pub(crate) fn peer(
        &self,
        peer: &Peer,
        end: End,
        words: &[impl AsRef<str>],
    ) -> Result<Invocation> {
        Ok(self.at(end, self.tools.peer(peer)?, words))
    }

    /// Ours at one end, the whole process on that end's CPU, as the peers are.
    pub(crate) fn ours(&self, end: End, words: &[impl AsRef<str>]) -> Invocation {
        self.at(end, &self.hopbench(), words)
    }

    /// Ours outside the lab, on the machine's loopback.
    pub(crate) fn ours_outside(&self, words: &[impl AsRef<str>]) -> Invocation {
        Invocation::new("loopback", &self.hopbench(), words)
    }

    /// A hidden subcommand of this program at one end, on that end's CPU.
    ///
    /// # Errors
    /// When this program does not find itself.
    pub(crate) fn own(&self, end: End, command: &str) -> Result<Invocation> {
        let program = std::env::current_exe().context("path of this program")?;
        Ok(self.at(end, &program, &split(command)))
    }

    /// Starts a program, and remembers its command.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(&self, program: &Invocation) -> Result<RunningProgram> {
        self.remember_command(program.shown());
        program.start(self.scratch())
    }

    /// Starts programs whose commands differ in numbers only. The first command is remembered, and
    /// how many more there are.
    ///
    /// # Errors
    /// When one cannot be started; those before it are ended.
    pub(crate) fn start_all(&self, programs: &[Invocation]) -> Result<Vec<RunningProgram>> {
        if let [first, more @ ..] = programs {
            self.remember_command(first.shown());
            if !more.is_empty() {
                let (prompt, more) = (first.prompt, more.len());
                self.remember_command(format!("{prompt}$ ... and {more} more, with other numbers"));
            }
        }
        programs.iter().map(|program| program.start(self.scratch())).collect()
    }

    /// Starts a server and waits until it listens on this TCP port.
    ///
    /// # Errors
    /// When it does not come up.
    pub(crate) fn serve(&self, program: &Invocation, port: u16) -> Result<RunningProgram> {
        let mut server = self.start(program)?;
        listening::wait(&mut server, port)?;
        Ok(server)
    }

    /// Starts a program and waits for its end.
    ///
    /// # Errors
    /// When it fails or hangs.
    pub(crate) fn run(&self, program: &Invocation) -> Result<Completed> {
        self.start(program)?.finish(self.limit())
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

    fn remember_command(&self, shown: String) {
        let mut commands = self.commands.borrow_mut();
        if !commands.contains(&shown) {
            commands.push(shown);
        }
    }

    fn at(&self, end: End, program: &Path, words: &[impl AsRef<str>]) -> Invocation {
        let (prompt, cpu) = match end {
            End::Client => ("client", self.cpus[0]),
            End::Server => ("server", self.cpus[1]),
        };
        let namespace = Some(self.lab.file(end));
        Invocation { namespace, cpu: Some(cpu), ..Invocation::new(prompt, program, words) }
    }
}
