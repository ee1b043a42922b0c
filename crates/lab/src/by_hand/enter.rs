//! The run of a command in a place of a lab that stands.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, ExitStatus};

use hopbench_model::Fault;
use nix::sched::{CloneFlags, setns};

use super::standing::StandingLab;

/// Runs a command in a place of a lab, as root of the lab, and waits for it.
///
/// The calling process itself goes there: it must have one thread only, and can do nothing else
/// afterwards.
///
/// # Errors
/// No such place; namespaces that cannot be entered; a command that cannot be started.
pub fn run_in(lab: &StandingLab, place: &str, command: &[OsString]) -> Result<ExitStatus, Fault> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Fault::input("no command was given"));
    };
    let Some(spot) = lab.places.iter().find(|spot| spot.name == place) else {
        let known: Vec<&str> = lab.places.iter().map(|spot| spot.name.as_str()).collect();
        return Err(Fault::input(format!(
            "lab `{}` has no place `{place}`; it has {}",
            lab.name,
            known.join(", ")
        )));
    };
    let (held, keeper) = (lab.hold_keeper()?, lab.keeper.pid);
    let refused = |what: &str, error: std::io::Error| {
        Fault::environment(format!("cannot enter {place}: {what}: {error}"))
    };
    let open = |path: String| File::open(&path).map_err(|e| refused(&path, e));
    // All are opened before the first is entered: afterwards the same paths mean something else.
    let mut ways = Vec::new();
    for (name, kind) in [
        ("user", CloneFlags::CLONE_NEWUSER),
        ("mnt", CloneFlags::CLONE_NEWNS),
        ("pid", CloneFlags::CLONE_NEWPID),
    ] {
        let there = open(format!("/proc/{keeper}/ns/{name}"))?;
        let here = open(format!("/proc/self/ns/{name}"))?;
        let inode = |file: &File| file.metadata().map(|m| m.ino()).map_err(|e| refused(name, e));
        // Root's lab has no user namespace of its own, and nobody can enter the one where they are.
        if inode(&there)? != inode(&here)? {
            ways.push((name, there, kind));
        }
    }
    ways.push(("net", open(format!("/proc/{keeper}/fd/{}", spot.fd))?, CloneFlags::CLONE_NEWNET));
    // What was opened by its number was its own if it has not ended yet.
    if held.has_ended().map_err(|e| refused("its process", e))? {
        return Err(Fault::environment(format!(
            "lab `{}` has ended; `hopbench lab up` makes a new one",
            lab.name
        )));
    }
    for (name, way, kind) in ways {
        setns(way, kind).map_err(|e| refused(name, e.into()))?;
    }
    let status = Command::new(program).args(arguments).status();
    status.map_err(|e| Fault::input(format!("cannot run {}: {e}", program.display())))
}
