//! A lab by hand, which stands in the background until it is taken down.
//!
//! ```text
//!   lab up ── spawns ──► holder: enters the sandbox, builds the lab, says where everything is
//!     ├─ keeps what it said in a state file ◄── lab ls, lab exec, lab down
//!     └─ says that it is kept ──► holder: waits to be ended
//! ```
//!
//! The lab lives exactly as long as its holder. A holder that does not hear that it is kept ends:
//! so every lab can be found. A state file without a living holder is stale. The next command that
//! finds it removes it.

mod enter;
mod folder;
mod holder;
mod standing;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_sys::process::Process;
use nix::errno::Errno;
use nix::sys::signal::Signal;

use crate::processes::process_table;
use folder::{Folder, Found};

pub use crate::processes::process_table::ProcessId;
pub use enter::run_in;
pub use holder::{detach, hold};
pub use standing::{StandingLab, StandingPlace};

/// The name of a lab if none is given.
pub const USUAL_NAME: &str = "lab";
/// A holder that is told to end and does not is killed after this time.
const MOST_END_NS: Nanos = 5 * SECOND;
/// How often it is looked whether it has ended.
const LOOK_NS: Nanos = 5_000_000;

/// Starts a lab in the background and returns when it stands. `holder` is a command that ends in
/// [`hold`] inside the lab's sandbox; its standard output is taken.
///
/// # Errors
/// A name that is taken or that cannot be a file's; a lab that cannot be built.
pub fn up(name: &str, mut holder: Command) -> Result<StandingLab, Fault> {
    check(name)?;
    let folder = Folder::lock()?;
    folder.look()?;
    if folder.has(name) {
        return Err(taken(&folder, name));
    }
    // Building takes its time; whoever else wants this name is told when the file is there.
    drop(folder);
    let failed = |what: &str, error: std::io::Error| {
        Fault::environment(format!("lab `{name}`: {what}: {error}"))
    };
    holder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = holder.spawn().map_err(|e| failed("cannot start its holder", e))?;
    let ours = child.stdin.take();
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output)
            .read_line(&mut line)
            .map_err(|e| failed("cannot hear its holder", e))?;
    }
    let places: Result<Vec<StandingPlace>, _> = serde_json::from_str(&line);
    let (Ok(places), Some(holder), Some(keeper)) =
        (places, ProcessId::now(child.id()), keeper_of(child.id()))
    else {
        let _ = child.kill();
        let output =
            child.wait_with_output().map_err(|e| failed("cannot wait for its holder", e))?;
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Fault::environment(format!(
            "lab `{name}` could not be built ({}): {}",
            output.status,
            said.trim()
        )));
    };
    let standing = StandingLab { name: name.to_owned(), holder, keeper, places };
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
fn keep(standing: &StandingLab) -> Result<(), Fault> {
    let folder = Folder::lock()?;
    folder.look()?;
    if folder.keep(standing)? { Ok(()) } else { Err(taken(&folder, &standing.name)) }
}

fn taken(folder: &Folder, name: &str) -> Fault {
    match folder.read(name) {
        Found::Unreadable(why) => Fault::environment(why),
        _ => Fault::input(format!(
            "a lab `{name}` stands already; `hopbench lab down --name {name}` removes it"
        )),
    }
}

/// The process that has the lab: the last in the row of sandbox, init, and the one inside. What
/// that one has started, like proxies, has the lab's descriptors no more.
fn keeper_of(holder: u32) -> Option<ProcessId> {
    let init = *process_table::children(holder).first()?;
    ProcessId::now(*process_table::children(init).first()?)
}

/// The labs that stand, and what is wrong with state files that cannot be read, which stay. Removes
/// what is left of labs that do not stand any more.
///
/// # Errors
/// A folder that is not ours alone.
pub fn list() -> Result<(Vec<StandingLab>, Vec<Fault>), Fault> {
    let (mut standing, unreadable) = Folder::lock()?.look()?;
    standing.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((standing, unreadable))
}

/// The lab of this name.
///
/// # Errors
/// There is none, or its state file cannot be read.
pub fn find(name: &str) -> Result<StandingLab, Fault> {
    check(name)?;
    let folder = Folder::lock()?;
    let (labs, _) = folder.look()?;
    match folder.read(name) {
        Found::Lab(lab) => return Ok(lab),
        Found::Unreadable(why) => return Err(Fault::environment(why)),
        Found::Nothing => {}
    }
    let known: Vec<&str> = labs.iter().map(|lab| lab.name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Fault::input(format!(
        "no lab `{name}` stands (standing: {known}); `hopbench lab up` makes one"
    )))
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
            send(lab.holder, signal).map_err(|e| {
                Fault::environment(format!("cannot end lab `{name}` (process {pid}): {e}"))
            })?;
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
fn send(process: ProcessId, signal: Signal) -> std::io::Result<()> {
    let is_over = |error: &std::io::Error| error.raw_os_error() == Some(Errno::ESRCH as i32);
    let held = match Process::open(process.pid) {
        Err(error) if is_over(&error) => return Ok(()),
        held => held?,
    };
    // Its number may have been given to another one before it was held.
    if !process.is_alive() {
        return Ok(());
    }
    match held.signal(signal as i32) {
        Err(error) if is_over(&error) => Ok(()),
        sent => sent,
    }
}

fn check(name: &str) -> Result<(), Fault> {
    let plain = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if plain {
        return Ok(());
    }
    Err(Fault::input(format!(
        "`{name}` cannot be the name of a lab: letters, digits, `-` and `_` can"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_meanwhile_is_no_error() {
        let mut child = Command::new("true").spawn().unwrap();
        let ended = ProcessId { pid: child.id(), started: 1 };
        child.wait().unwrap();
        send(ended, Signal::SIGTERM).unwrap();
        let mut living = Command::new("sleep").arg("60").spawn().unwrap();
        let now = ProcessId::now(living.id()).unwrap();
        // Another process that has the number by now is left alone.
        send(ProcessId { started: now.started - 1, ..now }, Signal::SIGKILL).unwrap();
        assert!(now.is_alive());
        send(now, Signal::SIGKILL).unwrap();
        assert!(!living.wait().unwrap().success());
    }

    /// A state file names a process of ours that is none of the lab's, or one that has another
    /// start.
    #[test]
    fn a_state_file_is_not_believed() {
        let mut living = Command::new("sleep").arg("60").spawn().unwrap();
        let (ours, child) =
            (ProcessId::now(std::process::id()).unwrap(), ProcessId::now(living.id()).unwrap());
        let lab = |holder, keeper| StandingLab {
            name: "x".to_owned(),
            holder,
            keeper,
            places: Vec::new(),
        };
        assert!(lab(ours, child).hold_keeper().is_ok());
        let stranger = lab(child, ours).hold_keeper().unwrap_err();
        assert!(stranger.text.contains("none of the lab's"), "{stranger}");
        let reused =
            lab(ours, ProcessId { started: child.started - 1, ..child }).hold_keeper().unwrap_err();
        assert!(reused.text.contains("has ended"), "{reused}");
        let place = [std::ffi::OsString::from("true")];
        let lab = lab(child, ours);
        let spot =
            StandingPlace { name: "a".to_owned(), address: std::net::Ipv4Addr::LOCALHOST, fd: 0 };
        let refused = run_in(&StandingLab { places: vec![spot], ..lab }, "a", &place).unwrap_err();
        assert!(refused.text.contains("none of the lab's"), "{refused}");
        living.kill().unwrap();
        living.wait().unwrap();
    }
}
