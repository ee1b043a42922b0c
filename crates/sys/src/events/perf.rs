//! Samples of call stacks: `perf_event_open` with a software clock.
//!
//! A [`Sampler`] looks at what runs so many times a second of CPU time, and the kernel notes the
//! call stack. It needs no hardware counter, so it works in virtual machines.
//!
//! ```text
//!   event of a CPU, or of a thread on a CPU ─► ring of the CPU ─► Sampler::read ─► Records
//! ```
//!
//! All events of a CPU write to one ring, whose memory the kernel shares with this process. Only
//! copies of what the kernel wrote leave this module. Times are those of [`clock`](crate::clock).

mod attributes;
mod records;
mod ring;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::check;
use attributes::Attributes;
pub use attributes::Sampling;
pub use records::{Chain, Frame, Record, Records, Sample};
use ring::Ring;

/// `PERF_FLAG_FD_CLOEXEC` of linux/perf_event.h.
const CLOSE_ON_EXEC: libc::c_ulong = 8;
/// `PERF_EVENT_IOC_SET_OUTPUT`: the event writes to the ring of another.
const SET_OUTPUT: libc::c_ulong = 0x2405;
/// The number of no thread: any.
const ANY: libc::pid_t = -1;

/// Events that are open, with the rings that they write to. They end when it is dropped.
#[derive(Debug)]
pub struct Sampler {
    // The rings go before the events whose pages they are.
    rings: Vec<Ring>,
    events: Vec<OwnedFd>,
}

impl Sampler {
    /// Looks at whatever runs on these CPUs, also in interrupts and while they are idle.
    ///
    /// # Errors
    /// `EACCES` or `EPERM` where the kernel forbids it, `ENOSYS` where it has no such call.
    pub fn of_cpus(cpus: &[usize], sampling: Sampling) -> io::Result<Self> {
        let attributes = Attributes::of_cpus(sampling);
        let mut sampler = Self { rings: Vec::new(), events: Vec::new() };
        for cpu in cpus {
            let event = open(&attributes, ANY, *cpu)?;
            sampler.rings.push(Ring::of(&event)?);
            sampler.events.push(event);
        }
        Ok(sampler)
    }

    /// Looks at these threads and at those that they start from now on, on these CPUs. A thread
    /// that has ended is left out.
    ///
    /// # Errors
    /// As [`Sampler::of_cpus`]; `ESRCH` where all threads have ended, `EMFILE` where there are more
    /// threads and CPUs than this process may have open files.
    pub fn of_threads(threads: &[u32], cpus: &[usize], sampling: Sampling) -> io::Result<Self> {
        let attributes = Attributes::of_threads(sampling);
        let mut sampler = Self { rings: Vec::new(), events: Vec::new() };
        for cpu in cpus {
            let mut first: Option<libc::c_int> = None;
            for thread in threads.iter().filter_map(|thread| libc::pid_t::try_from(*thread).ok()) {
                let event = match open(&attributes, thread, *cpu) {
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => continue,
                    opened => opened?,
                };
                match first {
                    None => {
                        sampler.rings.push(Ring::of(&event)?);
                        first = Some(event.as_raw_fd());
                    }
                    Some(ring) => {
                        // SAFETY: both descriptors are open, and no memory is passed.
                        check(unsafe { libc::ioctl(event.as_raw_fd(), SET_OUTPUT as _, ring) })?;
                    }
                }
                sampler.events.push(event);
            }
        }
        if sampler.events.is_empty() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        Ok(sampler)
    }

    /// Passes on all that was noted since the last call. Rings that are not read in time overflow;
    /// [`Record::Lost`] stands before what was noted when there was room again.
    pub fn read(&mut self, mut each: impl FnMut(Record<'_>)) {
        let mut bytes = Vec::new();
        for ring in &mut self.rings {
            bytes.clear();
            ring.read(&mut bytes);
            Records::of(&bytes).for_each(&mut each);
        }
    }
}

/// An event of a thread on a CPU.
fn open(attributes: &Attributes, thread: libc::pid_t, cpu: usize) -> io::Result<OwnedFd> {
    let cpu = libc::c_int::try_from(cpu).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let no_group: libc::c_int = -1;
    // SAFETY: `attributes` is valid for the call and says its own size; the rest are integers. A
    // new descriptor or an error comes back.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            thread,
            cpu,
            no_group,
            CLOSE_ON_EXEC,
        )
    };
    let fd = check(fd as libc::c_int)?;
    // SAFETY: the kernel just made this descriptor for us; nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
