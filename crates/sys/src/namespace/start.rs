//! Starting a program in a process tree of its own.

use std::ffi::{CStr, CString, c_char};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;

use super::init;
use super::mark::{MARK, mark_of};
use super::prepared::{NamespaceStep, Prepared, fork};
use super::tree::{HeldSignals, Tree};
use crate::check;

/// Why a program could not be started in new namespaces.
#[derive(Debug)]
pub struct StartError {
    /// What was being done.
    pub step: NamespaceStep,
    /// What the kernel said.
    pub error: io::Error,
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self { step: NamespaceStep::Prepare, error }
    }
}

/// Starts `program` with these arguments, of which the first is its name. It gets new mount,
/// network and process namespaces. With `new_user` it gets a new user namespace, too, where the
/// caller is root.
///
/// ```text
///   caller ── init ── program     init is process 1: it takes over orphans, and passes SIGTERM
///                                 and SIGHUP on
/// ```
///
/// The tree dies as a whole. When the program ends, init ends. When init ends, the kernel kills all
/// that is left. When the calling *thread* dies, init is killed. The program gets the caller's
/// descriptors, directory and environment. From now on signals wait for [`Tree::wait`]: those that
/// a terminal sends reach the program by themselves.
///
/// # Errors
/// What could not be done, and what the kernel said to it. Nothing is left then.
pub fn start(program: &CStr, arguments: &[CString], new_user: bool) -> Result<Tree, StartError> {
    let (alive, report) = (pipe()?, pipe()?);
    let environment = environment(&mark_of(&alive[0])?)?;
    let watched = HeldSignals::new()?;
    let prepared = Prepared {
        program,
        arguments: pointers(arguments),
        environment: pointers(&environment),
        maps: new_user.then(maps),
        mask: watched.mask(),
        alive,
        report,
    };
    let user = if new_user { libc::CLONE_NEWUSER } else { 0 };
    let flags = user | libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWPID;
    // SAFETY: the child runs `init::run` only, which never returns and neither allocates nor takes
    // a lock.
    let pid = match unsafe { fork(flags) } {
        Ok(0) => init::run(&prepared),
        Ok(pid) => pid,
        Err(error) => return Err(StartError { step: NamespaceStep::Clone, error }),
    };
    let Prepared { alive: [_, alive], report: [report, theirs], .. } = prepared;
    drop(theirs);
    let tree = Tree::new(pid, alive, watched);
    let mut said = [0; 5];
    match File::from(report).read_exact(&mut said) {
        // It ended without a word: the program was started.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(tree),
        Err(error) => Err(error.into()),
        Ok(()) => {
            let code = i32::from_ne_bytes([said[1], said[2], said[3], said[4]]);
            // It is about to end: without this it would stay as a zombie.
            let _ = tree.wait();
            Err(StartError {
                step: NamespaceStep::of(said[0]),
                error: io::Error::from_raw_os_error(code),
            })
        }
    }
}

fn pipe() -> io::Result<[OwnedFd; 2]> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: both are new and have no other owner.
    Ok(ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// The environment of this process, with the mark instead of one that may be there.
fn environment(mark: &str) -> io::Result<Vec<CString>> {
    use std::os::unix::ffi::OsStrExt;
    let kept = std::env::vars_os().filter(|(name, _)| name != MARK);
    let lines = kept.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
    lines
        .chain([mark.as_bytes().to_vec()])
        .map(|line| CString::new(line).map_err(io::Error::other))
        .collect()
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect()
}

/// What makes the caller root in a new user namespace. Without more rights only the caller's own
/// ids can be mapped, and the group's only when nobody inside can drop groups.
fn maps() -> [(&'static CStr, Vec<u8>); 3] {
    // SAFETY: both calls always succeed and touch no memory.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    [
        (c"/proc/self/setgroups", b"deny".to_vec()),
        (c"/proc/self/uid_map", format!("0 {user} 1").into_bytes()),
        (c"/proc/self/gid_map", format!("0 {group} 1").into_bytes()),
    ]
}
