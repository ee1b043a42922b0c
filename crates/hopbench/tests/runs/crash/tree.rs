//! Processes, namespaces, mounts and files of a world in which nobody is but the test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::lab::namespace::shell;
use crate::lab::program::binary;

/// Where programs like to leave something; `/run` is the test's own already.
const FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// What there is besides processes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct World {
    networks: BTreeSet<String>,
    mounts: String,
    files: Vec<String>,
}

impl World {
    /// Covers the folders that everybody may write to with empty ones, for this mount namespace;
    /// where the binary is then, which may have been in one of them.
    pub(crate) fn make_own() -> PathBuf {
        let copy = PathBuf::from("/run/hopbench");
        fs::copy(binary(), &copy).expect("a copy of the binary");
        for folder in FOLDERS {
            shell(&format!("test ! -d {folder} || mount -t tmpfs -o mode=1777 tmpfs {folder}"));
        }
        copy
    }

    /// As it is now. Files below `except` do not count.
    pub(crate) fn now(except: &Path) -> Self {
        let mut files = Vec::new();
        for folder in FOLDERS.iter().chain(&["/run"]) {
            list(Path::new(folder), except, &mut files);
        }
        files.sort();
        Self {
            networks: networks(),
            mounts: fs::read_to_string("/proc/self/mountinfo").expect("mounts"),
            files,
        }
    }
}

/// Network namespaces that somebody is in or holds open.
pub(crate) fn networks() -> BTreeSet<String> {
    let held = |pid: u32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|file| file.path());
        files.chain([PathBuf::from(format!("/proc/{pid}/ns/net"))])
    };
    let links = processes().into_iter().flat_map(held).filter_map(|path| fs::read_link(path).ok());
    links
        .map(|link| link.to_string_lossy().into_owned())
        .filter(|link| link.starts_with("net:"))
        .collect()
}

/// Names of all files below a folder.
fn list(folder: &Path, except: &Path, out: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path == except {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            list(&path, except, out);
        }
        out.push(path.to_string_lossy().into_owned());
    }
}

/// The processes that live. The test, being process 1, gets the orphans of those that were killed
/// and never asks how they ended: what has ended is not counted.
pub(crate) fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| stat(*pid).is_some_and(|(state, _)| state != "Z" && state != "X")).collect()
}

/// The living children of a process, in the order of their numbers.
pub(crate) fn children(of: u32) -> Vec<u32> {
    let mut all: Vec<u32> = processes()
        .into_iter()
        .filter(|pid| stat(*pid).is_some_and(|(_, parent)| parent == of))
        .collect();
    all.sort_unstable();
    all
}

/// The agents of a run, in the order in which they were started.
pub(crate) fn agents(outer: u32) -> Vec<u32> {
    let inner = children(outer).first().and_then(|init| children(*init).first().copied());
    let is_agent = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"agent")
    };
    inner.map(children).unwrap_or_default().into_iter().filter(is_agent).collect()
}

/// State and parent (proc(5)).
fn stat(pid: u32) -> Option<(String, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}
