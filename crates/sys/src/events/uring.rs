//! Completions: io_uring behind a safe face.
//!
//! A [`Ring`] numbers its sockets by *slots*. Each slot has at most one operation under way, a
//! receive buffer and a send buffer of its own. While an operation is under way the kernel may read
//! or write the slot's buffers. So the ring owns them and lends them only when the slot rests:
//!
//! ```text
//!          send, recv, ...            completion                 result
//!  at rest ───────────────► under way ───────────► done, waiting ───────► at rest
//!                               │                        ▲
//!                               └──────── cancel ────────┘
//! ```
//!
//! A slot's receive buffer is as long as the longest receive that was asked for, its send buffer as
//! the longest [`Ring::send`]. Both are made at first use and kept for the next user of the slot.
//! Discards and filler need neither.

mod kept;
mod setup;
#[cfg(test)]
mod tests;

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use crate::{Socket, Waker, clock};
use kept::{Slot, State};

/// `user_data` of what belongs to no slot; slots are numbered with 32 bits and stay below.
const CANCELLATION: u64 = u64::MAX;
const WAKER: u64 = u64::MAX - 1;
/// `IORING_ENTER_GETEVENTS` of linux/io_uring.h.
const GET_EVENTS: u32 = 1;
/// How long a cancelled operation may take to come back, ns. Operations on sockets come back at
/// once.
const CANCEL_PATIENCE: u64 = 1_000_000_000;

/// An io_uring and everything that its operations use. It works only on the thread that made it.
///
/// Submissions are batched: an operation starts with the next [`Ring::wait`], all of them with one
/// system call.
pub struct Ring {
    ring: IoUring,
    slots: Vec<Slot>,
    /// What operations use that were cancelled and did not come back in time, under their number.
    orphans: Vec<(u64, kept::Kept)>,
    /// Operations of slots and orphans that the kernel may still carry out.
    under_way: usize,
    /// Slots that are done and were not named yet.
    done: Vec<usize>,
    filler: Arc<[u8]>,
    waker: Arc<Waker>,
    waker_watched: bool,
    /// The kernel refuses every other thread.
    one_thread: PhantomData<*const ()>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (slots, under_way) = (self.slots.len(), self.under_way);
        f.debug_struct("Ring")
            .field("slots", &slots)
            .field("under_way", &under_way)
            .finish_non_exhaustive()
    }
}

impl Ring {
    /// A ring for about `slots` sockets (more may come) that sends filler from `filler` and whose
    /// [`Ring::wait`] ends when `waker` is woken.
    ///
    /// # Errors
    /// In words, when io_uring is forbidden or the kernel is older than Linux 5.11.
    pub fn new(slots: usize, filler: Arc<[u8]>, waker: Arc<Waker>) -> io::Result<Self> {
        Ok(Self::over(setup::open(slots)?, slots, filler, waker))
    }

    fn over(ring: IoUring, slots: usize, filler: Arc<[u8]>, waker: Arc<Waker>) -> Self {
        Self {
            ring,
            slots: Vec::with_capacity(slots),
            orphans: Vec::new(),
            under_way: 0,
            done: Vec::new(),
            filler,
            waker,
            waker_watched: false,
            one_thread: PhantomData,
        }
    }

    /// Gives a socket to a slot, whose earlier socket is released.
    pub fn adopt(&mut self, slot: usize, socket: &Arc<Socket>) {
        self.release(slot);
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        self.slots[slot].kept.socket = Some(Arc::clone(socket));
    }

    /// Lets go of a slot's socket; what is under way is cancelled. The buffers stay for the next
    /// socket.
    pub fn release(&mut self, slot: usize) {
        self.cancel(slot);
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.state = State::Rest;
            slot.kept.socket = None;
        }
    }

    /// A slot's socket.
    pub fn socket(&self, slot: usize) -> Option<&Arc<Socket>> {
        self.slots.get(slot)?.kept.socket.as_ref()
    }

    /// Whether an operation of the slot is under way or its result was not taken yet.
    pub fn busy(&self, slot: usize) -> bool {
        self.slots.get(slot).is_some_and(|slot| slot.state != State::Rest)
    }

    /// The result of a slot's operation once it is done: bytes that were moved (for a connection
    /// attempt, nothing of meaning). The slot is at rest after that.
    pub fn result(&mut self, slot: usize) -> Option<io::Result<usize>> {
        let slot = self.slots.get_mut(slot)?;
        let State::Done(result) = slot.state else {
            return None;
        };
        slot.state = State::Rest;
        Some(usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result)))
    }

    /// The first `len` bytes of what a slot received; empty while an operation is under way.
    pub fn received(&self, slot: usize, len: usize) -> &[u8] {
        match self.slots.get(slot) {
            Some(slot) if slot.state != State::UnderWay => {
                slot.kept.receive.get(..len).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// Waits for a connection attempt to be decided; how is told by [`Socket::connected`].
    ///
    /// # Errors
    /// `ResourceBusy` for a slot that is not at rest, `NotConnected` for one without a socket, and
    /// what the kernel says when submissions are full.
    pub fn connected(&mut self, slot: usize) -> io::Result<()> {
        self.begin(slot, |fd, _, _| opcode::PollAdd::new(fd, libc::POLLOUT as u32).build())
    }

    /// Sends a part of `bytes`, which are copied.
    ///
    /// # Errors
    /// As [`Ring::connected`].
    pub fn send(&mut self, slot: usize, bytes: &[u8]) -> io::Result<()> {
        self.begin(slot, |fd, kept, _| {
            kept.send.clear();
            kept.send.extend_from_slice(bytes);
            let (from, len) = (kept.send.as_ptr(), op_len(kept.send.len()));
            opcode::Send::new(fd, from, len).flags(libc::MSG_NOSIGNAL).build()
        })
    }

    /// Sends up to `most` bytes of filler, at most as much as there is.
    ///
    /// # Errors
    /// As [`Ring::connected`].
    pub fn send_filler(&mut self, slot: usize, most: usize) -> io::Result<()> {
        self.begin(slot, |fd, _, filler| {
            let len = op_len(most.min(filler.len()));
            opcode::Send::new(fd, filler.as_ptr(), len).flags(libc::MSG_NOSIGNAL).build()
        })
    }

    /// Receives up to `most` bytes; see [`Ring::received`].
    ///
    /// # Errors
    /// As [`Ring::connected`].
    pub fn recv(&mut self, slot: usize, most: usize) -> io::Result<()> {
        self.begin(slot, |fd, kept, _| {
            if kept.receive.len() < most {
                kept.receive = vec![0; most];
            }
            opcode::Recv::new(fd, kept.receive.as_mut_ptr(), op_len(most)).build()
        })
    }

    /// Takes up to `most` bytes of a TCP stream and drops them in the kernel (`MSG_TRUNC`).
    ///
    /// # Errors
    /// As [`Ring::connected`].
    pub fn discard(&mut self, slot: usize, most: usize) -> io::Result<()> {
        self.begin(slot, |fd, _, _| {
            // A TCP socket writes nothing with MSG_TRUNC (tcp(7)); to any other, null is EFAULT,
            // which is safe.
            opcode::Recv::new(fd, std::ptr::null_mut(), op_len(most)).flags(libc::MSG_TRUNC).build()
        })
    }

    /// Takes back a slot's operation and waits until the kernel no longer uses its buffers. Returns
    /// whether it was taken back (or there was none): if not, it was done, and [`Ring::result`]
    /// says how.
    pub fn cancel(&mut self, slot: usize) -> bool {
        let state = |ring: &Self| ring.slots.get(slot).map_or(State::Rest, |slot| slot.state);
        match state(self) {
            State::Rest => return true,
            State::Done(_) => {}
            State::UnderWay => {
                let number = self.slots[slot].number(slot);
                let asked = self.ask_back(number);
                let give_up = clock::now() + CANCEL_PATIENCE;
                while asked.is_ok() && state(self) == State::UnderWay && clock::now() < give_up {
                    if self.enter(Some(give_up.saturating_sub(clock::now()))).is_err() {
                        break;
                    }
                }
            }
        }
        let taken_back = match state(self) {
            State::Done(result) => result == -libc::ECANCELED || result == -libc::EINTR,
            _ => {
                // The kernel keeps it: so does the ring, out of the slot's way.
                let number = self.slots[slot].number(slot);
                let kept = self.slots[slot].abandon();
                self.orphans.push((number, kept));
                true
            }
        };
        if taken_back {
            self.slots[slot].state = State::Rest;
        }
        self.done.retain(|named| *named != slot);
        taken_back
    }

    /// Starts what was asked for, waits until something is done, the waker is woken, or
    /// `timeout_ns` has passed (0: only looks; `None`: for ever), and appends the slots that are
    /// done to `done`.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn wait(&mut self, timeout_ns: Option<u64>, done: &mut Vec<usize>) -> io::Result<()> {
        if !self.waker_watched {
            let fd = Fd(self.waker.as_fd().as_raw_fd());
            let watch = opcode::PollAdd::new(fd, libc::POLLIN as u32).build().user_data(WAKER);
            // SAFETY: it points to no memory, and the ring owns the waker.
            unsafe { self.push(&watch) }?;
            self.waker_watched = true;
        }
        self.enter(if self.done.is_empty() { timeout_ns } else { Some(0) })?;
        done.append(&mut self.done);
        Ok(())
    }

    /// Queues the operation that `make` describes.
    fn begin(
        &mut self,
        slot: usize,
        make: impl FnOnce(Fd, &mut kept::Kept, &[u8]) -> squeue::Entry,
    ) -> io::Result<()> {
        let entry = self.slots.get_mut(slot).ok_or(io::ErrorKind::NotConnected)?;
        if entry.state != State::Rest {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let socket = entry.kept.socket.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let fd = Fd(socket.as_raw_fd());
        let operation = make(fd, &mut entry.kept, &self.filler);
        entry.serial = entry.serial.wrapping_add(1);
        let operation = operation.user_data(entry.number(slot));
        // SAFETY: it points into the slot's buffers or the filler. The slot is under way from here
        // on, and until its completion nothing reads, writes, moves or frees the bytes of its
        // buffers, nor drops its socket; an abandoned operation takes them along. The ring keeps
        // the filler as long as itself.
        unsafe { self.push(&operation) }?;
        self.slots[slot].state = State::UnderWay;
        self.under_way += 1;
        Ok(())
    }

    /// Asks the kernel to give up the operation of this number.
    fn ask_back(&mut self, number: u64) -> io::Result<()> {
        let entry = opcode::AsyncCancel::new(number).build().user_data(CANCELLATION);
        // SAFETY: it points to no memory.
        unsafe { self.push(&entry) }
    }

    /// Queues an entry, and makes room first where there is none.
    ///
    /// # Safety
    /// What the entry points to must stay as it is until its completion was reaped or the ring is
    /// gone and everything is leaked.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller vouches for what it points to.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.enter(Some(0))?;
        }
        Ok(())
    }

    /// Submits everything, waits for one completion as [`Ring::wait`] does, and reaps all that
    /// there are.
    fn enter(&mut self, timeout_ns: Option<u64>) -> io::Result<()> {
        let entered = match timeout_ns {
            Some(0) => {
                let queued = self.ring.submission().len() as u32;
                // SAFETY: no argument is passed, and what the entries point to was vouched for in
                // `push`.
                unsafe {
                    self.ring.submitter().enter::<libc::sigset_t>(queued, 0, GET_EVENTS, None)
                }
            }
            Some(ns) => {
                let time =
                    Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32);
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
            None => self.ring.submit_and_wait(1),
        };
        self.reap();
        match entered {
            Err(error)
                if !matches!(
                    error.raw_os_error(),
                    Some(libc::ETIME | libc::EINTR | libc::EBUSY)
                ) =>
            {
                Err(error)
            }
            // The time has passed, a signal came, or completions had to be reaped before anything
            // else.
            _ => Ok(()),
        }
    }

    fn reap(&mut self) {
        for completion in self.ring.completion() {
            let number = completion.user_data();
            match number {
                CANCELLATION => continue,
                WAKER => {
                    // Watched anew with the next wait: a wake-up between here and there is found
                    // then.
                    self.waker.reset();
                    self.waker_watched = false;
                    continue;
                }
                _ => self.under_way -= 1,
            }
            let index = number as u32 as usize;
            match self.slots.get_mut(index) {
                Some(slot) if slot.state == State::UnderWay && slot.number(index) == number => {
                    slot.state = State::Done(completion.result());
                    self.done.push(index);
                }
                _ => self.orphans.retain(|(orphan, _)| *orphan != number),
            }
        }
    }
}

/// A length as an operation has it: what is longer is done in parts.
fn op_len(len: usize) -> u32 {
    len.min(i32::MAX as usize) as u32
}

impl Drop for Ring {
    /// Takes everything back. What does not come back in time is leaked: the kernel may still write
    /// to it.
    fn drop(&mut self) {
        let numbers: Vec<u64> = (self.slots.iter().enumerate())
            .filter(|(_, slot)| slot.state == State::UnderWay)
            .map(|(index, slot)| slot.number(index))
            .collect();
        let asked = numbers.into_iter().try_for_each(|number| self.ask_back(number));
        let give_up = clock::now() + CANCEL_PATIENCE;
        while asked.is_ok() && self.under_way > 0 && clock::now() < give_up {
            if self.enter(Some(give_up.saturating_sub(clock::now()))).is_err() {
                break;
            }
        }
        if self.under_way > 0 {
            std::mem::forget(std::mem::take(&mut self.slots));
            std::mem::forget(std::mem::take(&mut self.orphans));
            std::mem::forget(Arc::clone(&self.filler));
        }
    }
}
