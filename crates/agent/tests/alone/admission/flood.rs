//! Strangers who come and come.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hopbench_sys::{Socket, clock};

use super::MS;

/// Connections of strangers that stay open at once, at this end.
const KEPT: usize = 3000;

/// A thread that opens connections until this is dropped.
pub(crate) struct Flood {
    stop: Arc<AtomicBool>,
    came: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Flood {
    /// So many `at_once`, and then so many `each` 100 ms, that say these words and no more. Returns
    /// when the first have come.
    pub(crate) fn start(
        agent: SocketAddr,
        from: Ipv4Addr,
        words: Vec<u8>,
        at_once: usize,
        each: usize,
    ) -> Self {
        let (stop, came) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&came));
        let thread = std::thread::spawn(move || {
            let (mut kept, mut turn) = (VecDeque::new(), at_once);
            while !stopped.load(Ordering::Relaxed) {
                let next = clock::now() + 100 * MS;
                for _ in 0..turn {
                    // An agent that is busy closes, or takes its time; then there are fewer.
                    let Some(mut stream) = connect_from(from, agent) else { continue };
                    let _ = stream.write_all(&words);
                    kept.push_back(stream);
                    count.fetch_add(1, Ordering::Relaxed);
                }
                kept.drain(..kept.len().saturating_sub(KEPT));
                turn = each;
                clock::sleep_until(next);
            }
        });
        let flood = Self { stop, came, thread: Some(thread) };
        let give_up = clock::now() + 20_000 * MS;
        while flood.came() < at_once && clock::now() < give_up {
            clock::sleep_until(clock::now() + MS);
        }
        flood
    }

    /// Strangers so far.
    pub(crate) fn came(&self) -> usize {
        self.came.load(Ordering::Relaxed)
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// A connection from an address of this machine.
pub(crate) fn connect_from(from: Ipv4Addr, agent: SocketAddr) -> Option<TcpStream> {
    let socket = Socket::tcp(agent).unwrap();
    socket.bind((from, 0).into()).ok()?;
    socket.connect(agent).ok()?;
    socket.wait_connected(Duration::from_secs(2));
    socket.connected().ok()?;
    socket.peer().ok()?;
    let stream = TcpStream::from(OwnedFd::from(socket));
    stream.set_nonblocking(false).unwrap();
    Some(stream)
}
