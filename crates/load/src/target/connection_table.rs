//! The connections of a target for everybody, of which the longest idle of the largest source goes
//! first.

use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hopbench_model::{Nanos, Source, makes_room};
use hopbench_sys::Socket;

/// The connections of strangers. When there are too many, one of the source that has the most goes:
/// the one that has moved no byte for the longest time. A table full of silent connections keeps
/// nobody out, and one source does not displace another.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    most: usize,
    table: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    activity: Arc<Activity>,
    source: Source,
    /// Gone when its worker has closed it.
    socket: Weak<Socket>,
}

/// The activity of one connection, and whether another one took its place.
#[derive(Debug)]
pub(super) struct Activity {
    moved: AtomicU64,
    displaced: AtomicBool,
}

impl Activity {
    /// It moved bytes at this time.
    #[inline]
    pub(super) fn moved(&self, now: Nanos) {
        self.moved.store(now, Ordering::Relaxed);
    }

    /// Whether another connection took its place.
    pub(super) fn is_displaced(&self) -> bool {
        self.displaced.load(Ordering::Acquire)
    }
}

impl ConnectionTable {
    /// At most so many at once.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, table: Mutex::default() })
    }

    /// Enters a connection that came from `source` at `now`; another one is cut off where the table
    /// is full.
    pub(super) fn enter(&self, socket: &Arc<Socket>, source: Source, now: Nanos) -> Arc<Activity> {
        let activity =
            Arc::new(Activity { moved: AtomicU64::new(now), displaced: AtomicBool::new(false) });
        // Every statement leaves a whole table.
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= self.most {
            table.retain(|entry| entry.socket.strong_count() > 0);
        }
        while table.len() >= self.most {
            let idle = |entry: &Entry| (entry.source, entry.activity.moved.load(Ordering::Relaxed));
            let Some(one) = makes_room(table.iter().map(idle)) else { break };
            // Its worker sees the end of the connection and leaves it, even if it waits for a time.
            let gone = table.swap_remove(one);
            gone.activity.displaced.store(true, Ordering::Release);
            if let Some(socket) = gone.socket.upgrade() {
                socket.shutdown(Shutdown::Both);
            }
        }
        table.push(Entry {
            activity: Arc::clone(&activity),
            source,
            socket: Arc::downgrade(socket),
        });
        activity
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;

    use super::*;

    /// Both ends of so many connections.
    fn connections(most: usize) -> Vec<(TcpStream, Arc<Socket>)> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = |_| {
            let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            ours.set_nonblocking(true).unwrap();
            (ours, Arc::new(Socket::from(OwnedFd::from(listener.accept().unwrap().0))))
        };
        (0..most).map(open).collect()
    }

    fn is_cut(mut stream: &TcpStream) -> bool {
        stream.read(&mut [0]).is_ok_and(|n| n == 0)
    }

    #[test]
    fn one_source_displaces_no_other() {
        let table = ConnectionTable::new(3);
        let connections = connections(6);
        table.enter(&connections[0].1, Source::V4(2), 10);
        for (i, now) in (1..6).zip(20..) {
            table.enter(&connections[i].1, Source::V4(1), now).moved(now);
        }
        let cut: Vec<_> = connections.iter().map(|(ours, _)| is_cut(ours)).collect();
        assert_eq!(
            cut,
            [false, true, true, true, false, false],
            "the first one has been idle the longest"
        );
    }

    #[test]
    fn the_longest_idle_goes_and_who_is_gone_counts_no_more() {
        let table = ConnectionTable::new(3);
        let connections = connections(5);
        let enter = |i: usize, now| table.enter(&connections[i].1, Source::V4(1), now);
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
        table.enter(&socket, Source::V4(1), 60);
        assert!(!is_cut(&ours) && !is_cut(&connections[0].0) && !is_cut(&connections[2].0));
    }
}
