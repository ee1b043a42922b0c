//! The connections of a target for everybody, of which the longest idle of the largest source goes
//! first.

use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hopbench_model::{Nanos, Source, makes_room};
use hopbench_sys::Socket;

/// One source gets at most this part of the places for handshakes of TLS, while others are there
/// and places are scarce: each costs the worker as much as many requests.
const HANDSHAKES: usize = 4;
/// Places are scarce when at least this part of them is taken.
const SCARCE: usize = 2;

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
    /// Whether its handshake of TLS is under way.
    shakes: AtomicBool,
}

impl Activity {
    /// It moved bytes at this time.
    #[inline]
    pub(super) fn moved(&self, now: Nanos) {
        self.moved.store(now, Ordering::Relaxed);
    }

    /// It is there for requests: its handshake is over, if there was one.
    pub(super) fn stands(&self) {
        self.shakes.store(false, Ordering::Relaxed);
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

    /// Enters a connection that came from `source` at `now`, and begins with a handshake of TLS
    /// (`shakes`) or not. Another one is cut off where the table is full, or where its source has
    /// too many handshakes under way.
    pub(super) fn enter(
        &self,
        socket: &Arc<Socket>,
        source: Source,
        now: Nanos,
        shakes: bool,
    ) -> Arc<Activity> {
        let activity = Arc::new(Activity {
            moved: AtomicU64::new(now),
            displaced: AtomicBool::new(false),
            shakes: AtomicBool::new(shakes),
        });
        // Every statement leaves a whole table.
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        // First of all: the room that this makes is enough for the newcomer.
        if shakes && let Some(one) = oldest_handshake(&table, source, self.most) {
            table.swap_remove(one).cut_off();
        }
        if table.len() >= self.most {
            table.retain(|entry| entry.socket.strong_count() > 0);
        }
        while table.len() >= self.most {
            let idle = |entry: &Entry| (entry.source, entry.activity.moved.load(Ordering::Relaxed));
            let Some(one) = makes_room(table.iter().map(idle)) else { break };
            table.swap_remove(one).cut_off();
        }
        table.push(Entry {
            activity: Arc::clone(&activity),
            source,
            socket: Arc::downgrade(socket),
        });
        activity
    }
}

impl Entry {
    fn is_there(&self) -> bool {
        self.socket.strong_count() > 0
    }

    /// Its worker sees the end of the connection and leaves it, even if it waits for a time.
    fn cut_off(self) {
        self.activity.displaced.store(true, Ordering::Release);
        if let Some(socket) = self.socket.upgrade() {
            socket.shutdown(Shutdown::Both);
        }
    }
}

/// The oldest handshake of a source that has its part of `places` under way, or more, while others
/// are there and places are scarce; `None`: it may have one more.
fn oldest_handshake(table: &[Entry], source: Source, places: usize) -> Option<usize> {
    let (mut there, mut others, mut under_way, mut oldest) = (0, false, 0, None);
    for (at, entry) in table.iter().enumerate().filter(|(_, entry)| entry.is_there()) {
        there += 1;
        if entry.source != source {
            others = true;
        } else if entry.activity.shakes.load(Ordering::Relaxed) {
            under_way += 1;
            let since = entry.activity.moved.load(Ordering::Relaxed);
            if oldest.is_none_or(|(first, _)| since < first) {
                oldest = Some((since, at));
            }
        }
    }
    let is_scarce = there >= places / SCARCE;
    let has_enough = under_way >= (places / HANDSHAKES).max(1);
    oldest.filter(|_| others && is_scarce && has_enough).map(|(_, at)| at)
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
        table.enter(&connections[0].1, Source::V4(2), 10, false);
        for (i, now) in (1..6).zip(20..) {
            table.enter(&connections[i].1, Source::V4(1), now, false).moved(now);
        }
        let cut: Vec<_> = connections.iter().map(|(ours, _)| is_cut(ours)).collect();
        assert_eq!(
            cut,
            [false, true, true, true, false, false],
            "the first one has been idle the longest"
        );
    }

    #[test]
    fn a_source_has_a_quarter_of_the_places_for_its_handshakes_beside_others() {
        let table = ConnectionTable::new(8);
        let connections = connections(8);
        let enter = |i: usize, source, shakes| {
            table.enter(&connections[i].1, Source::V4(source), i as Nanos, shakes)
        };
        let activities: Vec<_> = (0..4).map(|i| enter(i, 1, true)).collect();
        let cut = || -> Vec<bool> { connections.iter().map(|(ours, _)| is_cut(ours)).collect() };
        assert_eq!(cut(), [false; 8], "it is alone");
        enter(4, 2, false);
        activities[1].stands();
        // Three are under way, and two may be.
        enter(5, 1, true);
        assert_eq!(cut()[..4], [true, false, false, false]);
        enter(6, 1, true);
        assert_eq!(cut()[..4], [true, false, true, false], "one that stands is no handshake");
        enter(7, 1, false);
        assert_eq!(cut()[3..], [false; 5], "nor is one without TLS");
        assert!(activities[0].is_displaced() && !activities[1].is_displaced());
    }

    #[test]
    fn no_handshake_is_cut_while_half_of_the_places_are_free() {
        let table = ConnectionTable::new(16);
        let connections = connections(9);
        let enter = |i: usize, source, shakes| {
            drop(table.enter(&connections[i].1, Source::V4(source), i as Nanos, shakes));
        };
        let cut = || -> Vec<bool> { connections.iter().map(|(ours, _)| is_cut(ours)).collect() };
        enter(0, 2, false);
        (1..8).for_each(|i| enter(i, 1, true));
        assert_eq!(cut(), [false; 9], "seven under way, where four may be if places are scarce");
        enter(8, 1, true);
        assert_eq!(cut()[..3], [false, true, false]);
    }

    #[test]
    fn a_handshake_too_many_in_a_full_table_costs_no_other_source_a_place() {
        let table = ConnectionTable::new(8);
        let connections = connections(9);
        for (i, (_, socket)) in connections.iter().enumerate() {
            // The other source has the most by far.
            let source = if (2..8).contains(&i) { 2 } else { 1 };
            table.enter(socket, Source::V4(source), i as Nanos, source == 1);
        }
        let cut: Vec<bool> = connections.iter().map(|(ours, _)| is_cut(ours)).collect();
        assert_eq!((cut[0], &cut[1..]), (true, &[false; 8][..]));
    }

    #[test]
    fn the_longest_idle_goes_and_who_is_gone_counts_no_more() {
        let table = ConnectionTable::new(3);
        let connections = connections(5);
        let enter = |i: usize, now| table.enter(&connections[i].1, Source::V4(1), now, false);
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
        table.enter(&socket, Source::V4(1), 60, false);
        assert!(!is_cut(&ours) && !is_cut(&connections[0].0) && !is_cut(&connections[2].0));
    }
}
