//! The memory of an event's ring, which the kernel writes to.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages of records, if the kernel grants so many: a power of two.
const MOST_PAGES: usize = 64;
const FEWEST_PAGES: usize = 4;
/// `data_head` and `data_tail` in the first page, `struct perf_event_mmap_page`.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// A ring: one page that says how far the kernel has written, then the records.
#[derive(Debug)]
pub(super) struct Ring {
    start: NonNull<u8>,
    page_bytes: usize,
    /// Length of the records' part: a power of two.
    data_bytes: usize,
}

// SAFETY: the memory is the ring's own, and `read`, the only access to it, takes `&mut self`.
unsafe impl Send for Ring {}

impl Ring {
    /// The ring of an event that has none yet.
    ///
    /// # Errors
    /// `EPERM` where all rings of the user have more memory than `kernel.perf_event_mlock_kb`.
    pub(super) fn of(event: &OwnedFd) -> io::Result<Self> {
        // SAFETY: a plain question; it cannot fail for this name.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page_bytes = usize::try_from(page_bytes).unwrap_or(4096);
        let mut pages = MOST_PAGES;
        loop {
            match Self::map(event, page_bytes, pages) {
                Err(error) if pages > FEWEST_PAGES && error.raw_os_error() == Some(libc::EPERM) => {
                    pages /= 2;
                }
                mapped => return mapped,
            }
        }
    }

    fn map(event: &OwnedFd, page_bytes: usize, pages: usize) -> io::Result<Self> {
        let data_bytes = pages * page_bytes;
        // SAFETY: a new mapping at an address that the kernel chooses; no memory of ours is
        // touched. The descriptor is open.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page_bytes + data_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Self { start, page_bytes, data_bytes })
    }

    /// A counter of the first page.
    fn counter(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the offset is a multiple of 8 within the first page, which is mapped as long as
        // `self` lives. The kernel accesses it as one word, as this process does.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// Appends all that was written since the last call, and gives its room back to the kernel.
    pub(super) fn read(&mut self, into: &mut Vec<u8>) {
        let head = self.counter(HEAD).load(Ordering::Acquire);
        let tail = self.counter(TAIL).load(Ordering::Relaxed);
        let length = usize::try_from(head.wrapping_sub(tail)).unwrap_or(usize::MAX);
        // The kernel never writes more than there is room for.
        let length = length.min(self.data_bytes);
        let from = tail as usize & (self.data_bytes - 1);
        let first = length.min(self.data_bytes - from);
        into.reserve(length);
        for (from, length) in [(from, first), (0, length - first)] {
            // SAFETY: the range lies within the records' part of the mapping, and the kernel leaves
            // alone what lies between tail and head. Nobody else has `into`.
            into.extend_from_slice(unsafe {
                std::slice::from_raw_parts(self.start.as_ptr().add(self.page_bytes + from), length)
            });
        }
        self.counter(TAIL).store(head, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping of this length is ours, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.page_bytes + self.data_bytes) };
    }
}
