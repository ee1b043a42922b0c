//! A lab by hand: it stands in the background until somebody takes it down.
//!
//! ```text
//!   lab up ── spawns ──► holder: enters the sandbox, builds the lab, says where everything is, waits
//!        └─ keeps what it said in a state file ◄── lab ls, lab exec, lab down
//! ```
//! The lab lives exactly as long as its holder. A state file without a living holder is stale, and is removed by
//! whoever finds it.

mod enter;
mod folder;
mod holder;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

pub use enter::run_in;
pub use holder::{detach, hold};

/// What a user calls a lab when no name is given.
pub const USUAL_NAME: &str = "lab";
/// A holder that is told to end and does not is killed after this time.
const MOST_END_NS: Nanos = 5 * SECOND;
/// How often it is looked whether it has ended.
const LOOK_NS: Nanos = 5_000_000;

/// A lab that stands in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// The process that it lives and dies with.
    pub holder: Process,
    /// The process that has its namespaces open.
    pub keeper: Process,
    /// Nodes and pods.
    pub places: Vec<Spot>,
}

/// A process, also after its number was given to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, clock ticks since the machine did.
    pub started: u64,
}

/// A place in a lab that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// `a`, `bridge@a`, `bridge@a#2`.
    pub name: String,
    /// Its address.
    pub address: std::net::Ipv4Addr,
    /// The keeper's descriptor of its network namespace.
    pub fd: i32,
}

impl Process {
    /// The process that has this number now.
    fn now(pid: u32) -> Option<Self> {
        Some(Self { pid, started: stat(pid)?.1 })
    }

    fn is_alive(self) -> bool {
        Self::now(self.pid) == Some(self)
    }
}

/// Parent and start of a process; `None` when it is gone or waits to be collected.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything. State, parent and start are fields 3, 4 and 22.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some((parent, started))
}

/// Starts a lab in the background and returns when it stands. `holder` is a command that ends in [`hold`] inside the
/// lab's sandbox; its standard output is taken.
///
/// # Errors
/// A name that is taken or that cannot be a file's; a lab that cannot be built.
pub fn up(name: &str, mut holder: Command) -> Result<Standing, Fault> {
    state_file(name)?;
    if list()?.iter().any(|lab| lab.name == name) {
        return Err(Fault::input(format!(
            "a lab `{name}` stands already; `hopbench lab down --name {name}` removes it"
        )));
    }
    let failed = |what: &str, error: std::io::Error| Fault::environment(format!("lab `{name}`: {what}: {error}"));
    holder.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = holder.spawn().map_err(|e| failed("cannot start its holder", e))?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line).map_err(|e| failed("cannot hear its holder", e))?;
    }
    let places: Result<Vec<Spot>, _> = serde_json::from_str(&line);
    let (Ok(places), Some(holder), Some(keeper)) = (places, Process::now(child.id()), keeper_of(child.id())) else {
        let _ = child.kill();
        let output = child.wait_with_output().map_err(|e| failed("cannot wait for its holder", e))?;
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Fault::environment(format!(
            "lab `{name}` could not be built ({}): {}",
            output.status,
            said.trim()
        )));
    };
    let standing = Standing { name: name.to_owned(), holder, keeper, places };
    // Once more: a list of nothing takes the folder away.
    let file = state_file(name)?;
    let written = serde_json::to_vec_pretty(&standing).map_err(Into::into).and_then(|text| fs::write(&file, text));
    if let Err(error) = written {
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed(&format!("cannot write {}", file.display()), error));
    }
    Ok(standing)
}

/// The last in the row of processes that a holder started: sandbox, init, and the one inside.
fn keeper_of(holder: u32) -> Option<Process> {
    let processes: Vec<u32> =
        fs::read_dir("/proc").ok()?.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok()).collect();
    let child = |parent: u32| processes.iter().copied().find(|pid| stat(*pid).is_some_and(|(of, _)| of == parent));
    let mut last = holder;
    // A row of three; more cannot be, but a loop has a bound.
    for _ in 0..8 {
        match child(last) {
            Some(next) => last = next,
            None => break,
        }
    }
    Process::now(last)
}

/// The labs that stand. Removes what is left of those that do not.
///
/// # Errors
/// A folder that is not ours alone.
pub fn list() -> Result<Vec<Standing>, Fault> {
    let folder = folder::ours()?;
    let entries = fs::read_dir(&folder).map_err(|e| Fault::environment(format!("{}: {e}", folder.display())))?;
    let mut standing = Vec::new();
    for path in
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.extension() == Some("json".as_ref()))
    {
        let lab = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Standing>(&text).ok());
        match lab {
            Some(lab) if lab.holder.is_alive() && lab.keeper.is_alive() => standing.push(lab),
            _ => {
                let _ = fs::remove_file(&path);
            }
        }
    }
    // Where there is nothing to keep, nothing stays; one that is not empty cannot be removed so.
    let _ = fs::remove_dir(&folder);
    standing.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(standing)
}

/// The lab of this name.
///
/// # Errors
/// There is none.
pub fn find(name: &str) -> Result<Standing, Fault> {
    let labs = list()?;
    let known: Vec<&str> = labs.iter().map(|lab| lab.name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let found = labs.iter().find(|lab| lab.name == name).cloned();
    found
        .ok_or_else(|| Fault::input(format!("no lab `{name}` stands (standing: {known}); `hopbench lab up` makes one")))
}

/// Takes a lab down; it is gone when this returns.
///
/// # Errors
/// There is no such lab, or its holder cannot be ended.
pub fn down(name: &str) -> Result<(), Fault> {
    let lab = find(name)?;
    let pid = Pid::from_raw(lab.holder.pid as i32);
    let mut signal = Signal::SIGTERM;
    let mut end = clock::now() + MOST_END_NS;
    while lab.holder.is_alive() || lab.keeper.is_alive() {
        if lab.holder.is_alive() {
            kill(pid, signal)
                .map_err(|e| Fault::environment(format!("cannot end lab `{name}` (process {pid}): {e}")))?;
        }
        if clock::now() > end {
            if signal == Signal::SIGKILL {
                return Err(Fault::environment(format!("lab `{name}` (process {pid}) does not end")));
            }
            (signal, end) = (Signal::SIGKILL, clock::now() + MOST_END_NS);
        }
        clock::sleep_until(clock::now() + LOOK_NS);
    }
    let file = state_file(name)?;
    let _ = fs::remove_file(&file);
    if let Some(folder) = file.parent() {
        // Only when this was the last one.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

fn state_file(name: &str) -> Result<PathBuf, Fault> {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if !plain {
        return Err(Fault::input(format!("`{name}` cannot be the name of a lab: letters, digits, `-` and `_` can")));
    }
    Ok(folder::ours()?.join(format!("{name}.json")))
}
