//! A network namespace that a file descriptor holds.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::panic::resume_unwind;
use std::process::Command;

use nix::sched::{CloneFlags, setns, unshare};

/// The calling thread's network namespace.
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace.
///
/// Nothing but descriptors and processes holds it: it is gone, with all its links, when the last of
/// them is, however they end. Making and entering one takes the rights that a
/// [sandbox](crate::sandbox) gives.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    fd: OwnedFd,
    inode: u64,
}

impl Namespace {
    /// A new one, with nothing in it but `lo`, which is down.
    pub(super) fn create_bare(name: &str) -> io::Result<Self> {
        let made = on_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(io::Error::from).and_then(|()| own())
        });
        let file = made
            .flatten()
            .map_err(|e| told(&format!("cannot make network namespace {name}"), &e))?;
        Self::of(name, file)
    }

    /// The one that the calling thread is in.
    ///
    /// # Errors
    /// No `/proc`.
    pub fn current(name: &str) -> io::Result<Self> {
        Self::of(name, own()?)
    }

    fn of(name: &str, file: File) -> io::Result<Self> {
        let inode = file.metadata()?.ino();
        Ok(Self { name: name.to_owned(), fd: file.into(), inode })
    }

    /// The same one, held once more.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { name: self.name.clone(), fd: self.fd.try_clone()?, inode: self.inode })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its number, as `/proc/PID/ns/net` shows it for every process inside: `net:[4026531840]`.
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// The descriptor that holds it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Runs `work` inside, on a thread that lives as long as `work`; sockets that it opens stay
    /// inside.
    ///
    /// A process must not be started here: one that is to end with the thread that started it would
    /// end at once.
    ///
    /// # Errors
    /// No right to enter, no thread to be had. A panic of `work` goes on in the caller.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        let fd = self.fd.as_fd();
        let done = on_thread(move || {
            setns(fd, CloneFlags::CLONE_NEWNET).map(|()| work()).map_err(io::Error::from)
        });
        done.flatten()
            .map_err(|e| told(&format!("cannot enter network namespace {}", self.name), &e))
    }

    /// A command whose process will run inside, with a mount namespace of its own in which `/sys`
    /// shows this namespace. It is killed when the thread that starts it ends: start it from a
    /// thread that stays.
    ///
    /// # Errors
    /// No descriptor to be had. What fails on the way in is the error of `spawn`.
    pub fn command(&self, program: impl AsRef<OsStr>) -> io::Result<Command> {
        let mut command = Command::new(program);
        hopbench_sys::namespace::enter_on_exec(&mut command, self.fd.try_clone()?);
        command.env_remove(hopbench_sys::namespace::MARK);
        Ok(command)
    }

    /// Sets a kernel parameter of this namespace, `net.ipv4.ip_forward`, and checks that the kernel
    /// took it. A name with a dot in a part of it is written with slashes: `net/ipv4/ip_forward`.
    ///
    /// # Errors
    /// A parameter that is not there or belongs to the whole machine, a value that it does not
    /// take.
    pub fn set_sysctl(&self, key: &str, value: &str) -> io::Result<()> {
        let path = sysctl_path(key);
        let read = self
            .run(|| std::fs::write(&path, value).and_then(|()| std::fs::read_to_string(&path)))?;
        let failed = |reason: &io::Error| {
            told(&format!("cannot set {key} = {value} in {}", self.name), reason)
        };
        let read = read.map_err(|e| failed(&e))?;
        if read.split_whitespace().eq(value.split_whitespace()) {
            return Ok(());
        }
        Err(failed(&io::Error::other(format!("the kernel made it {}", read.trim()))))
    }

    /// Reads a kernel parameter of this namespace.
    ///
    /// # Errors
    /// A parameter that is not there.
    pub fn sysctl(&self, key: &str) -> io::Result<String> {
        let read = self.run(|| std::fs::read_to_string(sysctl_path(key)))?;
        let read = read.map_err(|e| told(&format!("cannot read {key} in {}", self.name), &e))?;
        Ok(read.trim_end().to_owned())
    }
}

fn sysctl_path(key: &str) -> String {
    let path = if key.contains('/') { key.to_owned() } else { key.replace('.', "/") };
    format!("/proc/sys/{path}")
}

fn own() -> io::Result<File> {
    File::open(OWN)
}

/// Runs `work` on a thread of its own, because a thread that changed its namespace is of no other
/// use.
fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().name("namespace".to_owned()).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// An error with what was being done in front.
fn told(what: &str, reason: &io::Error) -> io::Error {
    io::Error::new(reason.kind(), format!("{what}: {reason}"))
}
