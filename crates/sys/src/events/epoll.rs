//! Readiness: edge-triggered epoll, and a way to wake a thread that waits.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::check;
use crate::clock::timespec;

/// An epoll instance. Everything is registered once, edge-triggered: no call to change the interest
/// is made while traffic runs, but for datagrams whose socket was full. A file is in it until it is
/// removed or its last descriptor is closed.
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
    /// Whether there is `epoll_pwait2` (Linux 5.11), whose timeout is in ns.
    precise: AtomicBool,
}

/// One file's readiness.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    /// The number that was given at registration.
    pub token: u64,
    /// Something can be read, or the other end closed, or an error waits.
    pub readable: bool,
    /// Something can be written, or an error waits.
    pub writable: bool,
    /// The other end sends no more, or an error waits. A read that empties the queue is then not
    /// the last one, and no other edge will say so.
    pub closed: bool,
}

/// A buffer for the events of one wait.
pub struct Events {
    raw: Vec<libc::epoll_event>,
    len: usize,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("len", &self.len).finish_non_exhaustive()
    }
}

impl Events {
    /// Room for `capacity` events a wait; at least one.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { raw: vec![libc::epoll_event { events: 0, u64: 0 }; capacity.max(1)], len: 0 }
    }

    /// The sockets that the last wait found ready.
    pub fn iter(&self) -> impl Iterator<Item = Ready> {
        const READ: u32 =
            (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        const WRITE: u32 = (libc::EPOLLOUT | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        const CLOSED: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        self.raw[..self.len].iter().map(|event| {
            let (events, token) = (event.events, event.u64);
            Ready {
                token,
                readable: events & READ != 0,
                writable: events & WRITE != 0,
                closed: events & CLOSED != 0,
            }
        })
    }
}

impl Epoll {
    /// A new, empty instance.
    ///
    /// # Errors
    /// `EMFILE` and the like.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed; a non-negative result is a descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?) };
        Ok(Self { fd, precise: AtomicBool::new(true) })
    }

    /// Watches `file` for reading and writing, edge-triggered, under the number `token`.
    ///
    /// # Errors
    /// `EPERM` for files that cannot be polled, `EEXIST` when it is watched already.
    pub fn add(&self, file: &impl AsFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, file, libc::EPOLLIN | libc::EPOLLOUT, token)
    }

    /// Watches `file` for reading only. That it can be written to would be told of a new file at
    /// once, of an eventfd after each read, and of datagrams after each send.
    ///
    /// # Errors
    /// As [`Epoll::add`].
    pub fn add_for_reading(&self, file: &impl AsFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, file, libc::EPOLLIN, token)
    }

    /// Watches a socket only for its end: the other end sends no more, or an error waits.
    ///
    /// # Errors
    /// As [`Epoll::add`].
    pub fn add_for_end(&self, socket: &impl AsFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, socket, 0, token)
    }

    /// Watches a file that was added for reading for writing, too. Where it can be written to by
    /// now, the next wait says so.
    ///
    /// # Errors
    /// `ENOENT` when it is not watched.
    pub fn watch_writing(&self, file: &impl AsFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, file, libc::EPOLLIN | libc::EPOLLOUT, token)
    }

    fn control(
        &self,
        what: libc::c_int,
        file: &impl AsFd,
        what_for: libc::c_int,
        token: u64,
    ) -> io::Result<()> {
        let flags = libc::EPOLLRDHUP | libc::EPOLLET | what_for;
        let mut event = libc::epoll_event { events: flags as u32, u64: token };
        let (epoll, file) = (self.fd.as_raw_fd(), file.as_fd().as_raw_fd());
        // SAFETY: both descriptors are open for the length of the call and `event` is valid.
        check(unsafe { libc::epoll_ctl(epoll, what, file, &raw mut event) })?;
        Ok(())
    }

    /// Watches `file` no longer. A file that another thread goes on with must be taken out first.
    /// As long as its descriptor is open, each of its edges wakes whoever waits here.
    ///
    /// # Errors
    /// `ENOENT` when it is not watched.
    pub fn remove(&self, file: &impl AsFd) -> io::Result<()> {
        let (epoll, file) = (self.fd.as_raw_fd(), file.as_fd().as_raw_fd());
        // SAFETY: both descriptors are open for the length of the call; for a removal the event may
        // be null since Linux 2.6.9.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, file, std::ptr::null_mut()) })?;
        Ok(())
    }

    /// Whether a wait with a timeout is one call: it is two where the kernel has no `epoll_pwait2`.
    /// Not known before the first such wait.
    pub fn is_precise(&self) -> bool {
        self.precise.load(Ordering::Relaxed)
    }

    /// Waits until something is ready or `timeout_ns` has passed; 0 only looks, `None` waits for
    /// ever. It may end early with no events: a signal ends it, and a timeout may end 0.1 % of its
    /// length too soon.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn wait(&self, events: &mut Events, timeout_ns: Option<u64>) -> io::Result<()> {
        events.len = 0;
        let (fd, buffer, room) =
            (self.fd.as_raw_fd(), events.raw.as_mut_ptr(), events.raw.len() as libc::c_int);
        // The kernel may end a timeout 0.1 % of its length late (`select_estimate_accuracy`), and
        // mostly does: so much less is asked for.
        let timeout = timeout_ns.map(|ns| ns - ns / 1001);
        let precise = self.is_precise();
        let got = match timeout {
            Some(ns) if ns > 0 && precise => {
                let time = timespec(ns);
                // SAFETY: `buffer` has room for `room` events, `time` is valid, no signal mask is
                // passed.
                check(unsafe {
                    libc::syscall(
                        libc::SYS_epoll_pwait2,
                        fd,
                        buffer,
                        room,
                        &raw const time,
                        std::ptr::null::<u8>(),
                        8usize,
                    )
                } as libc::c_int)
            }
            other => {
                if let Some(ns) = other.filter(|ns| *ns > 0) {
                    self.sleep(ns);
                }
                let ms = if other.is_some() { 0 } else { -1 };
                // SAFETY: `buffer` has room for `room` events.
                check(unsafe { libc::epoll_wait(fd, buffer, room, ms) })
            }
        };
        match got {
            Ok(n) => events.len = n as usize,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Filters of system calls that are older than this one refuse it.
            Err(error)
                if precise && matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) =>
            {
                self.precise.store(false, Ordering::Relaxed);
                return self.wait(events, timeout_ns);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Waits until something is ready, or for `ns`. The timeouts of `epoll_wait` are whole
    /// milliseconds, those of `ppoll` are not.
    fn sleep(&self, ns: u64) {
        let mut watched =
            libc::pollfd { fd: self.fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let time = timespec(ns);
        // SAFETY: one valid pollfd and a valid timespec; no signal mask is passed. What comes of it
        // does not matter: who called looks what is ready.
        unsafe { libc::ppoll(&raw mut watched, 1, &raw const time, std::ptr::null()) };
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A timer that wakes a thread which waits in an [`Epoll`]: a timerfd. Setting it once costs less
/// than a timeout given to every wait, which starts and stops a timer of the kernel each time.
#[derive(Debug)]
pub struct Timer(OwnedFd);

impl Timer {
    /// A new timer, not set; register it like any file.
    ///
    /// # Errors
    /// `EMFILE` and the like.
    pub fn new() -> io::Result<Self> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: no memory is passed; a non-negative result is a descriptor that nobody else owns.
        Ok(Self(unsafe {
            OwnedFd::from_raw_fd(check(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))?)
        }))
    }

    /// Becomes readable when the monotonic clock reads `at` ns, at once if that has passed; no
    /// longer at any time that was set before.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set(&self, at: u64) -> io::Result<()> {
        // A time of zero would switch the timer off.
        let at = at.max(1);
        let time = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: timespec(at),
        };
        let (fd, flags) = (self.0.as_raw_fd(), libc::TFD_TIMER_ABSTIME);
        // SAFETY: `time` is a valid itimerspec; the old setting is not asked for (null is allowed).
        check(unsafe { libc::timerfd_settime(fd, flags, &raw const time, std::ptr::null_mut()) })?;
        Ok(())
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Wakes a thread that waits in an [`Epoll`]: an eventfd.
#[derive(Debug)]
pub struct Waker(OwnedFd);

impl Waker {
    /// A new waker; register it like any file.
    ///
    /// # Errors
    /// `EMFILE` and the like.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed; a non-negative result is a descriptor that nobody else owns.
        Ok(Self(unsafe {
            OwnedFd::from_raw_fd(check(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?)
        }))
    }

    /// Makes the waker readable. A waker that is readable already stays so.
    pub fn wake(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight readable bytes. The only failure, a full counter, means that it is
        // readable.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Makes it unreadable again.
    pub fn reset(&self) {
        let mut count = [0u8; 8];
        // SAFETY: eight writable bytes. The only failure, an empty counter, is the wanted state.
        unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::{UnixDatagram, UnixStream};

    use super::*;
    use crate::clock;

    #[test]
    fn what_was_removed_wakes_nobody_while_it_is_open() {
        let (epoll, mut events) = (Epoll::new().unwrap(), Events::with_capacity(4));
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        epoll.add(&theirs, 7).unwrap();
        ours.write_all(b"a").unwrap();
        epoll.wait(&mut events, Some(1_000_000_000)).unwrap();
        assert_eq!(events.iter().map(|ready| ready.token).collect::<Vec<_>>(), [7]);
        epoll.remove(&theirs).unwrap();
        ours.write_all(b"b").unwrap();
        epoll.wait(&mut events, Some(0)).unwrap();
        assert_eq!(events.iter().count(), 0);
        assert_eq!(epoll.remove(&theirs).unwrap_err().raw_os_error(), Some(libc::ENOENT));
        // Whoever has it now watches it anew.
        epoll.add(&theirs, 8).unwrap();
        epoll.wait(&mut events, Some(1_000_000_000)).unwrap();
        assert_eq!(events.iter().map(|ready| ready.token).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn without_the_precise_call_a_wait_is_no_longer_and_hears_as_much() {
        let (epoll, mut events) = (Epoll::new().unwrap(), Events::with_capacity(4));
        epoll.precise.store(false, Ordering::Relaxed);
        let waker = Waker::new().unwrap();
        epoll.add_for_reading(&waker, 7).unwrap();
        // No wait that was rounded up to a millisecond is ever shorter than that.
        let mut shortest = u64::MAX;
        for _ in 0..100 {
            let begun = clock::now();
            epoll.wait(&mut events, Some(100_000)).unwrap();
            shortest = shortest.min(clock::now() - begun);
            assert_eq!(events.iter().count(), 0);
        }
        assert!((90_000..1_000_000).contains(&shortest), "{shortest} ns");
        waker.wake();
        epoll.wait(&mut events, Some(3_600_000_000_000)).unwrap();
        assert_eq!(events.iter().map(|ready| ready.token).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn who_only_reads_hears_nothing_of_room_until_it_asks_for_it() {
        let (epoll, mut events) = (Epoll::new().unwrap(), Events::with_capacity(4));
        let mut told = |epoll: &Epoll| {
            epoll.wait(&mut events, Some(0)).unwrap();
            events
                .iter()
                .map(|ready| (ready.token, ready.readable, ready.writable))
                .collect::<Vec<_>>()
        };
        let waker = Waker::new().unwrap();
        epoll.add_for_reading(&waker, 1).unwrap();
        waker.wake();
        assert_eq!(told(&epoll), [(1, true, false)]);
        waker.reset();
        assert_eq!(told(&epoll), [], "a reset is no news");
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        epoll.add_for_reading(&ours, 2).unwrap();
        assert_eq!(told(&epoll), []);
        ours.send(b"a").unwrap();
        theirs.recv(&mut [0; 8]).unwrap();
        assert_eq!(told(&epoll), [], "there has always been room");
        epoll.watch_writing(&ours, 2).unwrap();
        assert_eq!(told(&epoll), [(2, false, true)]);
    }
}
