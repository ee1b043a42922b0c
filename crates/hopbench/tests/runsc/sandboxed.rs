//! A bench that has gVisor, and what its sandboxes are from outside.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::lab::namespace::{path, test_name};
use crate::lab::program::Running;
use crate::lab::{Bench, Turn, User};

/// The turn of a test that needs gVisor, as `outside` gives it; `None`: it is skipped. With
/// `HOPBENCH_REQUIRE_GVISOR=1` it fails instead.
pub(crate) fn turn(outside: fn() -> Option<Turn>) -> Option<Turn> {
    if runsc().is_none() {
        let required = std::env::var("HOPBENCH_REQUIRE_GVISOR").is_ok_and(|value| value == "1");
        assert!(!required, "{} needs gVisor (HOPBENCH_REQUIRE_GVISOR=1)", test_name());
        skip("no `runsc` here; scripts/install-runsc.sh builds it");
        return None;
    }
    outside()
}

/// Says that this test was not run; that is never a failure.
pub(crate) fn skip(why: &str) {
    // Not `println`: what that prints is kept back when the test passes, and a skip is to be seen.
    let _ = writeln!(std::io::stdout(), "\nSKIP {}: {why}", test_name());
}

/// Where gVisor is: in `PATH`, or where the project's script puts it.
fn runsc() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let folders = std::env::split_paths(&path()).collect::<Vec<_>>().into_iter();
    folders
        .chain(cache.map(|cache| cache.join("hopbench/bin")))
        .map(|folder| folder.join("runsc"))
        .find(|file| file.is_file())
}

/// A bench with gVisor in the user's reach.
#[derive(Debug)]
pub(crate) struct Sandboxed {
    bench: Bench,
    /// Holds the program.
    folder: tempfile::TempDir,
}

impl Sandboxed {
    /// With this scenario.
    pub(crate) fn new(user: User, scenario: &str) -> Self {
        let folder = user.folder();
        let copy = folder.path().join("runsc");
        // The cache of whoever runs the tests may be out of another user's reach.
        std::fs::copy(runsc().expect("gVisor"), &copy).expect("a copy of gVisor");
        std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755))
            .expect("permissions");
        Self { bench: Bench::new(user, scenario), folder }
    }

    /// The bench.
    pub(crate) fn bench(&self) -> &Bench {
        &self.bench
    }

    /// The binary with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(arguments);
        command.env("PATH", format!("{}:{}", self.folder.path().display(), path()));
        command
    }

    /// `hopbench run` on the scenario.
    pub(crate) fn start(&self) -> Running {
        let (scenario, out) = (self.bench.scenario(), self.bench.out());
        Running::start(&mut self.command(&["run", &scenario, "--out", &out.to_string_lossy()]))
    }
}

/// All processes that descend from `ancestor`, with their command lines.
pub(crate) fn beneath(ancestor: u32) -> Vec<(u32, String)> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let family: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(of) = found.get(next).copied() {
        next += 1;
        found.extend(family.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
    }
    found.iter().skip(1).map(|pid| (*pid, command_line(*pid))).collect()
}

/// The command line of a process; empty when it is gone.
pub(crate) fn command_line(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
