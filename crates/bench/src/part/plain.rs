//! The plain epoll loop: one thread that only writes, one that only reads, nothing else.
//!
//! Level-triggered, one `write` or `read` for each readiness, no pacing, no statistics: what is
//! left when a stream test is taken out of a stream test. It runs as a hidden subcommand of this
//! binary.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use serde::{Deserialize, Serialize};

use crate::process::clock::Moment;

const EVENTS: usize = 256;
const POLL_MS: u16 = 100;

/// The receiver's count inside its window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Received {
    /// Payload bytes.
    pub(crate) bytes: u64,
    /// Length of the window, s.
    pub(crate) window_s: f64,
}

/// Opens the connections and writes `size` bytes at a time on each until the other end goes away.
///
/// # Errors
/// When the connections cannot be opened.
pub(crate) fn send(target: SocketAddr, connections: usize, size: usize) -> Result<()> {
    let mut streams = Vec::with_capacity(connections);
    for _ in 0..connections {
        streams
            .push(TcpStream::connect(target).with_context(|| format!("connection to {target}"))?);
    }
    let (epoll, mut events) = watch(&streams, EpollFlags::EPOLLOUT)?;
    let buffer = vec![0u8; size];
    loop {
        let count = epoll.wait(&mut events, EpollTimeout::from(POLL_MS)).context("epoll_wait")?;
        for event in &events[..count] {
            match streams[event.data() as usize].write(&buffer) {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                // The receiver has seen enough.
                Err(_) => return Ok(()),
            }
        }
    }
}

/// Accepts the connections, reads `size` bytes at a time from each, and counts what comes in
/// `window` after `warmup`.
///
/// # Errors
/// When a connection breaks.
pub(crate) fn receive(
    listener: &TcpListener,
    connections: usize,
    size: usize,
    warmup: Duration,
    window: Duration,
) -> Result<Received> {
    let mut streams = Vec::with_capacity(connections);
    for _ in 0..connections {
        streams.push(listener.accept().context("accept")?.0);
    }
    let (epoll, mut events) = watch(&streams, EpollFlags::EPOLLIN)?;
    let mut buffer = vec![0u8; size];
    let begun = Moment::now();
    let (mut bytes, mut at_start) = (0u64, None);
    loop {
        let elapsed = begun.elapsed();
        if elapsed >= warmup {
            let (from, bytes_before) = *at_start.get_or_insert((elapsed, bytes));
            if elapsed - from >= window {
                return Ok(Received {
                    bytes: bytes - bytes_before,
                    window_s: (elapsed - from).as_secs_f64(),
                });
            }
        }
        let count = epoll.wait(&mut events, EpollTimeout::from(POLL_MS)).context("epoll_wait")?;
        for event in &events[..count] {
            match streams[event.data() as usize].read(&mut buffer) {
                Ok(0) => anyhow::bail!("the sender closed a connection before the end"),
                Ok(read) => bytes += read as u64,
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) => return Err(e).context("read"),
            }
        }
    }
}

fn watch(streams: &[TcpStream], what: EpollFlags) -> Result<(Epoll, Vec<EpollEvent>)> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).context("epoll_create")?;
    for (index, stream) in streams.iter().enumerate() {
        stream.set_nonblocking(true).context("non-blocking socket")?;
        epoll.add(stream, EpollEvent::new(what, index as u64)).context("epoll_ctl")?;
    }
    Ok((epoll, vec![EpollEvent::empty(); EVENTS]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WARMUP: Duration = Duration::from_millis(20);
    const WINDOW: Duration = Duration::from_millis(50);

    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[test]
    fn what_is_sent_is_counted() {
        let (listener, target) = listener();
        let sender = std::thread::spawn(move || send(target, 2, 10_000));
        let received = receive(&listener, 2, 10_000, WARMUP, WINDOW).unwrap();
        sender.join().unwrap().unwrap();
        assert!(received.bytes > 0 && received.window_s >= 0.05, "{received:?}");
    }

    #[test]
    fn a_sender_that_leaves_early_is_no_result() {
        let (listener, target) = listener();
        drop(TcpStream::connect(target).unwrap());
        let error = receive(&listener, 1, 10_000, WARMUP, WINDOW).unwrap_err().to_string();
        assert!(error.contains("closed a connection"), "{error}");
    }
}
