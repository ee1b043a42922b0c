//! A lab by hand: it stands in the background until somebody takes it down.
//!
//! ```text
//!   lab up ── spawns ──► holder: enters the sandbox, builds the lab, says where everything is
//!     ├─ keeps what it said in a state file ◄── lab ls, lab exec, lab down
//!     └─ says that it is kept ──► holder: waits to be ended
//! ```
//! The lab lives exactly as long as its holder, and a holder that does not hear that it is kept ends: there is no lab
//! that nobody finds. A state file without a living holder is stale, and is removed by whoever finds it.

mod enter;
mod folder;
mod holder;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::processes;
use folder::{Folder, Held};

pub use crate::processes::Process;
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

impl Standing {
    fn is_alive(&self) -> bool {
        self.holder.is_alive() && self.keeper.is_alive()
    }
}

/// Starts a lab in the background and returns when it stands. `holder` is a command that ends in [`hold`] inside the
/// lab's sandbox; its standard output is taken.
///
/// # Errors
/// A name that is taken or that cannot be a file's; a lab that cannot be built.
pub fn up(name: &str, mut holder: Command) -> Result<Standing, Fault> {
    check(name)?;
    let folder = Folder::lock()?;
    folder.look()?;
    if folder.has(name) {
        return Err(taken(&folder, name));
    }
    // Building takes its time; whoever else wants this name is told when the file is there.
    drop(folder);
    let failed = |what: &str, error: std::io::Error| Fault::environment(format!("lab `{name}`: {what}: {error}"));
    holder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = holder.spawn().map_err(|e| failed("cannot start its holder", e))?;
    let ours = child.stdin.take();
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
    let kept = keep(&standing).and_then(|()| {
        let told = ours.map_or(Ok(()), |mut ours| ours.write_all(b"kept\n"));
        told.map_err(|e| failed("its holder has ended", e))
    });
    if let Err(fault) = kept {
        let _ = child.kill();
        let _ = child.wait();
        return Err(fault);
    }
    Ok(standing)
}

/// Writes the state file of a lab; its name must be free.
fn keep(standing: &Standing) -> Result<(), Fault> {
    let folder = Folder::lock()?;
    folder.look()?;
    match folder.keep(standing)? {
        true => Ok(()),
        false => Err(taken(&folder, &standing.name)),
    }
}

fn taken(folder: &Folder, name: &str) -> Fault {
    match folder.read(name) {
        Held::Unreadable(why) => Fault::environment(why),
        _ => Fault::input(format!("a lab `{name}` stands already; `hopbench lab down --name {name}` removes it")),
    }
}

/// The process that has the lab: the last in the row of sandbox, init, and the one inside. What that one has started,
/// like proxies, has the lab's descriptors no more.
fn keeper_of(holder: u32) -> Option<Process> {
    let init = *processes::children(holder).first()?;
    Process::now(*processes::children(init).first()?)
}

/// The labs that stand, and what is wrong with state files that cannot be read, which stay. Removes what is left of labs
/// that do not stand any more.
///
/// # Errors
/// A folder that is not ours alone.
pub fn list() -> Result<(Vec<Standing>, Vec<Fault>), Fault> {
    let (mut standing, unreadable) = Folder::lock()?.look()?;
    standing.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((standing, unreadable))
}

/// The lab of this name.
///
/// # Errors
/// There is none, or its state file cannot be read.
pub fn find(name: &str) -> Result<Standing, Fault> {
    check(name)?;
    let folder = Folder::lock()?;
    let (labs, _) = folder.look()?;
    match folder.read(name) {
        Held::Lab(lab) => return Ok(lab),
        Held::Unreadable(why) => return Err(Fault::environment(why)),
        Held::Nothing => {}
    }
    let known: Vec<&str> = labs.iter().map(|lab| lab.name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Fault::input(format!("no lab `{name}` stands (standing: {known}); `hopbench lab up` makes one")))
}

/// Takes a lab down; it is gone when this returns.
///
/// # Errors
/// There is no such lab, or its holder cannot be ended.
pub fn down(name: &str) -> Result<(), Fault> {
    let lab = find(name)?;
    let pid = lab.holder.pid;
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        if lab.holder.is_alive() {
            send(pid, signal)
                .map_err(|e| Fault::environment(format!("cannot end lab `{name}` (process {pid}): {e}")))?;
        }
        let end = clock::now() + MOST_END_NS;
        while lab.holder.is_alive() || lab.keeper.is_alive() {
            if clock::now() > end {
                break;
            }
            clock::sleep_until(clock::now() + LOOK_NS);
        }
    }
    if lab.holder.is_alive() || lab.keeper.is_alive() {
        return Err(Fault::environment(format!("lab `{name}` (process {pid}) does not end")));
    }
    // It is stale now, like others may be.
    Folder::lock()?.look().map(drop)
}

/// Sends a signal; a process that has ended meanwhile needs none.
fn send(pid: u32, signal: Signal) -> nix::Result<()> {
    match kill(Pid::from_raw(pid as i32), signal) {
        Err(Errno::ESRCH) => Ok(()),
        sent => sent,
    }
}

fn check(name: &str) -> Result<(), Fault> {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if plain {
        return Ok(());
    }
    Err(Fault::input(format!("`{name}` cannot be the name of a lab: letters, digits, `-` and `_` can")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_meanwhile_is_no_error() {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(send(child.id(), Signal::SIGTERM), Ok(()));
        let mut living = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(send(living.id(), Signal::SIGKILL), Ok(()));
        assert!(!living.wait().unwrap().success());
    }
}
