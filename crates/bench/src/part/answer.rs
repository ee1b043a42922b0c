//! The plain HTTP server: one thread, level-triggered epoll, the same small answer to every
//! request.
//!
//! It does less for a request than nginx, so that the client is the limit of a closed loop.

use std::convert::Infallible;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use anyhow::{Context, Result, bail};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use crate::bench::target::STATUS_PATH;

const EVENTS: usize = 256;
const LISTENER: u64 = u64::MAX;
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 16\r\n\r\n0123456789abcde\n";

/// The end of the head of a request. Requests with a body are not expected here.
const END: &[u8; 4] = b"\r\n\r\n";

/// Answers until the process is ended; returns only with an error.
///
/// # Errors
/// When the kernel refuses to watch or accept.
pub(crate) fn serve(listener: &TcpListener) -> Result<Infallible> {
    listener.set_nonblocking(true).context("non-blocking listener")?;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).context("epoll_create")?;
    epoll.add(listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER)).context("epoll_ctl")?;
    let mut server =
        Server { epoll, slots: Vec::new(), free: Vec::new(), accepted: 0, requests: 0 };
    let mut events = vec![EpollEvent::empty(); EVENTS];
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        let count = match server.epoll.wait(&mut events, EpollTimeout::NONE) {
            Err(nix::errno::Errno::EINTR) => 0,
            waited => waited.context("epoll_wait")?,
        };
        for event in &events[..count] {
            match event.data() {
                LISTENER => server.accept(listener)?,
                slot => server.answer(slot as usize, &mut buffer),
            }
        }
    }
}

struct Server {
    epoll: Epoll,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    accepted: u64,
    requests: u64,
}

struct Connection {
    stream: TcpStream,
    /// Bytes of [`END`] that came last.
    matched: usize,
}

impl Server {
    fn accept(&mut self, listener: &TcpListener) -> Result<()> {
        loop {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::ConnectionAborted => continue,
                Err(e) => bail!("accept: {e}"),
            };
            stream.set_nonblocking(true).context("non-blocking socket")?;
            stream.set_nodelay(true).context("TCP_NODELAY")?;
            let slot = self.free.pop().unwrap_or_else(|| {
                self.slots.push(None);
                self.slots.len() - 1
            });
            self.epoll
                .add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, slot as u64))
                .context("epoll_ctl")?;
            self.slots[slot] = Some(Connection { stream, matched: 0 });
            self.accepted += 1;
        }
    }

    /// Answers what came on a connection; one that breaks or does not read its answers is closed.
    fn answer(&mut self, slot: usize, buffer: &mut [u8]) {
        let Some(connection) = self.slots[slot].as_mut() else { return };
        let kept = match connection.stream.read(buffer) {
            Ok(0) => false,
            Ok(read) => {
                let ended = ends(&mut connection.matched, &buffer[..read]);
                self.requests += ended;
                if ended > 0 && asks_for_status(&buffer[..read]) {
                    let status = status(self.accepted, self.requests);
                    // Whoever asked sees a cut answer where this fails.
                    let _ = connection.stream.write_all(status.as_bytes());
                    false
                } else {
                    (0..ended).all(
                        |_| matches!(connection.stream.write(ANSWER), Ok(n) if n == ANSWER.len()),
                    )
                }
            }
            Err(e) => e.kind() == ErrorKind::WouldBlock,
        };
        if !kept {
            self.slots[slot] = None;
            self.free.push(slot);
        }
    }
}

/// Requests that end in `bytes`; `matched` goes on where the bytes before them stopped.
fn ends(matched: &mut usize, bytes: &[u8]) -> u64 {
    let mut count = 0;
    for byte in bytes {
        *matched = if *byte == END[*matched] { *matched + 1 } else { usize::from(*byte == END[0]) };
        if *matched == END.len() {
            *matched = 0;
            count += 1;
        }
    }
    count
}

/// Looks at the start of what came: who asks for the status sends the request in one piece.
fn asks_for_status(request: &[u8]) -> bool {
    let path =
        request.strip_prefix(b"GET ").and_then(|rest| rest.strip_prefix(STATUS_PATH.as_bytes()));
    path.is_some_and(|rest| rest.starts_with(b" "))
}

/// The counts, laid out as nginx does, so that one reader does for both.
fn status(accepted: u64, requests: u64) -> String {
    let body = format!("server accepts handled requests\n {accepted} {accepted} {requests}\n");
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::part::get;

    fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // Ends with the test's process.
        std::thread::spawn(move || serve(&listener));
        address
    }

    fn read(stream: &mut TcpStream, answers: usize) -> String {
        let mut bytes = vec![0; answers * ANSWER.len()];
        stream.read_exact(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn requests_are_answered_and_counted_however_they_are_cut() {
        let address = server();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r")
            .unwrap();
        assert_eq!(read(&mut stream, 1).matches("0123456789abcde\n").count(), 1);
        stream.write_all(b"\nGET / HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!(read(&mut stream, 2).matches("200 OK").count(), 2);
        let page = get::get(address, STATUS_PATH).unwrap();
        // The question counts itself.
        assert!(page.ends_with("\n 2 2 4\n"), "{page}");
        drop(stream);
        for asked in 0..100 {
            let page = get::get(address, STATUS_PATH).unwrap();
            assert!(page.ends_with(&format!("\n {0} {0} {1}\n", 3 + asked, 5 + asked)), "{page}");
        }
    }

    #[test]
    fn the_end_of_a_request_is_found_across_reads() {
        let mut matched = 0;
        assert_eq!(ends(&mut matched, b"GET / HTTP/1.1\r\n\r"), 0);
        assert_eq!(ends(&mut matched, b"\nGET"), 1);
        assert_eq!(ends(&mut matched, b"\r\r\n\r\n\r\n\r\n"), 2);
        assert_eq!(matched, 0);
    }
}
