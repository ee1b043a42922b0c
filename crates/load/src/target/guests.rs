//! The guests of a target for everybody: its connections, of which the longest idle goes first.

use std::net::Shutdown;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hopbench_model::Nanos;
use hopbench_sys::Socket;

/// The connections of strangers. When there are too many, the one that has moved no byte for the
/// longest time goes: a table full of silent connections keeps nobody out.
#[derive(Debug)]
pub(super) struct Guests {
    most: usize,
    table: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    guest: Arc<Guest>,
    /// Gone when its worker has closed it.
    socket: Weak<Socket>,
}

/// One connection's sign of life.
#[derive(Debug)]
pub(super) struct Guest(AtomicU64);

impl Guest {
    /// It moved bytes at this time.
    #[inline]
    pub(super) fn moved(&self, now: Nanos) {
        self.0.store(now, Ordering::Relaxed);
    }
}

impl Guests {
    /// At most so many at once.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, table: Mutex::default() })
    }

    /// Enters a connection that came at `now`; the longest idle one is cut off where the table is
    /// full.
    pub(super) fn enter(&self, socket: &Arc<Socket>, now: Nanos) -> Arc<Guest> {
        let guest = Arc::new(Guest(AtomicU64::new(now)));
        // Every statement leaves a whole table.
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= self.most {
            table.retain(|entry| entry.socket.strong_count() > 0);
        }
        while table.len() >= self.most {
            let idle = |(_, entry): &(usize, &Entry)| entry.guest.0.load(Ordering::Relaxed);
            let Some(longest) = table.iter().enumerate().min_by_key(idle).map(|(at, _)| at) else { break };
            // Its worker sees the end of the connection and leaves it.
            if let Some(socket) = table.swap_remove(longest).socket.upgrade() {
                socket.shutdown(Shutdown::Both);
            }
        }
        table.push(Entry { guest: Arc::clone(&guest), socket: Arc::downgrade(socket) });
        guest
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn the_longest_idle_goes_and_who_is_gone_counts_no_more() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = || {
            let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            ours.set_nonblocking(true).unwrap();
            (ours, Arc::new(Socket::from(OwnedFd::from(listener.accept().unwrap().0))))
        };
        let is_cut = |mut stream: &TcpStream| stream.read(&mut [0]).is_ok_and(|n| n == 0);
        let guests = Guests::new(3);
        let connections: Vec<_> = (0..5).map(|_| open()).collect();
        let enter = |i: usize, now| guests.enter(&connections[i].1, now);
        let first = enter(0, 10);
        enter(1, 20);
        enter(2, 30);
        first.moved(40);
        enter(3, 50);
        let cut = |n: usize| (0..n).map(|i| is_cut(&connections[i].0)).collect::<Vec<_>>();
        assert_eq!(cut(4), [false, true, false, false], "not the oldest, which moved bytes since");
        let mut connections = connections;
        // Who left by itself makes room without anybody being cut off.
        let (mut left, socket) = connections.remove(2);
        drop(socket);
        assert_eq!(left.read(&mut [0]).unwrap(), 0);
        let (ours, socket) = connections.pop().unwrap();
        guests.enter(&socket, 60);
        assert!(!is_cut(&ours) && !is_cut(&connections[0].0) && !is_cut(&connections[2].0));
    }
}
