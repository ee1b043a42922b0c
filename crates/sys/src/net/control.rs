//! Messages with control data: what goes beside the bytes of a send or of a receive.

use std::mem::MaybeUninit;

/// Room for control data, aligned for its headers: enough for one of every kind that is used here.
pub(super) type Control = [u64; 16];

/// A message without an address that has these bytes and this room for control data. Both must
/// outlive it.
pub(super) fn message(part: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: an all-zero msghdr is valid (every pointer null, every length 0).
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(control) as _;
    message
}

/// The first control data of this level and kind in a received message.
///
/// # Safety
/// `message` must have been filled by `recvmsg`, and its control buffer must be alive. The data of
/// this kind must begin with a `T`, for which every bit pattern is valid.
pub(super) unsafe fn find<T>(
    message: &libc::msghdr,
    level: libc::c_int,
    kind: libc::c_int,
) -> Option<T> {
    // SAFETY: the caller vouches for the message and the type. The macros walk only the received
    // control data, and a read that is unaligned needs no alignment.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            if ((*header).cmsg_level, (*header).cmsg_type) == (level, kind) {
                return Some(libc::CMSG_DATA(header).cast::<T>().read_unaligned());
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}
