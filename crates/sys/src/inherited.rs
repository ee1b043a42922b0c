//! Descriptors that a process got from the one that started it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::check;

/// The Unix stream socket that this process was started with as `file`, such as its standard input.
///
/// What comes back is a duplicate, closed on `exec` like the original from now on: whoever else in
/// this process holds the original keeps it. So the other end sees the end of the stream when the
/// process ends, not when this is dropped.
///
/// # Errors
/// `ENOTSOCK` when it is no socket, [`io::ErrorKind::InvalidInput`] when it is a socket of another
/// kind.
pub fn unix_stream(file: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let copy = file.try_clone_to_owned()?;
    let found = (option(&copy, libc::SO_DOMAIN)?, option(&copy, libc::SO_TYPE)?);
    if found != (libc::AF_UNIX, libc::SOCK_STREAM) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a socket, but no Unix stream socket",
        ));
    }
    // SAFETY: no memory is passed, and the descriptor is open while it is borrowed; the flag
    // changes nothing for this process.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) })?;
    Ok(UnixStream::from(copy))
}

fn option(socket: &OwnedFd, name: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` is writable for `length` bytes.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            (&raw mut value).cast(),
            &raw mut length,
        )
    })?;
    Ok(value)
}

/// Ignores `SIGINT`, for a process whose parent decides what Ctrl-C means: a terminal sends it to
/// both.
pub fn ignore_interrupt() {
    // SAFETY: SIG_IGN is a valid disposition for SIGINT, so the call cannot fail, and no handler
    // runs.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn a_stream_socket_is_taken_and_works() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut taken = unix_stream(theirs.as_fd()).unwrap();
        ours.write_all(b"x").unwrap();
        let mut byte = [0];
        taken.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
        drop((taken, theirs));
        assert_eq!(ours.read(&mut byte).unwrap(), 0, "nothing holds the other end any more");
    }

    #[test]
    fn anything_else_is_refused_and_left_alone() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let error = unix_stream(file.as_fd()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTSOCK), "{error}");
        file.metadata().unwrap();
        let (datagrams, _other) = UnixDatagram::pair().unwrap();
        assert_eq!(unix_stream(datagrams.as_fd()).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(unix_stream(tcp.as_fd()).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
