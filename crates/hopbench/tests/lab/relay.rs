//! A relay between a client and an agent that sees, keeps and withholds what goes through it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_sys::clock;

/// What passed.
#[derive(Debug, Default)]
struct Seen {
    headers: Mutex<Vec<[u8; 32]>>,
    registrations: Mutex<Vec<Vec<u8>>>,
    bytes: AtomicU64,
    last_bytes_ns: AtomicU64,
    withhold: AtomicBool,
    keep: AtomicBool,
    kept: Mutex<Vec<TcpStream>>,
}

/// A relay on a port of its own, TCP and UDP, for as long as the test runs.
#[derive(Debug)]
pub(crate) struct Relay {
    address: SocketAddr,
    seen: Arc<Seen>,
}

impl Relay {
    /// To the agent at `agent`.
    pub(crate) fn to(agent: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("its address");
        let udp = UdpSocket::bind(address).expect("the same port over UDP");
        let seen = Arc::new(Seen::default());
        let here = Arc::clone(&seen);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let here = Arc::clone(&here);
                std::thread::spawn(move || connection(client, agent, &here));
            }
        });
        let here = Arc::clone(&seen);
        std::thread::spawn(move || datagrams(&udp, agent, &here));
        Self { address, seen }
    }

    /// Its address as an argument.
    pub(crate) fn target(&self) -> String {
        self.address.to_string()
    }

    /// The first 32 bytes of the data flows that passed, over TCP.
    pub(crate) fn headers(&self) -> Vec<[u8; 32]> {
        lock(&self.seen.headers).clone()
    }

    /// The datagrams that opened UDP flows.
    pub(crate) fn registrations(&self) -> Vec<Vec<u8>> {
        lock(&self.seen.registrations).clone()
    }

    /// From now on what the client says on control sessions goes nowhere; the connections stay.
    pub(crate) fn withhold_control(&self) {
        self.seen.withhold.store(true, Ordering::SeqCst);
    }

    /// The next data flow gets to the agent with its header only and stays open there, while the
    /// client sees its end.
    pub(crate) fn keep_next(&self) {
        self.seen.keep.store(true, Ordering::SeqCst);
    }

    /// Data flows that are kept open at the agent.
    pub(crate) fn kept(&self) -> usize {
        lock(&self.seen.kept).len()
    }

    /// Bytes of data flows that the agent sent so far, over TCP.
    pub(crate) fn sent_by_agent(&self) -> u64 {
        self.seen.bytes.load(Ordering::SeqCst)
    }

    /// When the last of them came, monotonic ns.
    pub(crate) fn last_bytes_ns(&self) -> u64 {
        self.seen.last_bytes_ns.load(Ordering::SeqCst)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connection(mut client: TcpStream, agent: SocketAddr, seen: &Arc<Seen>) {
    let mut first = [0; 32];
    let Ok(()) = client.read_exact(&mut first) else {
        return;
    };
    let Ok(mut upstream) = TcpStream::connect(agent) else {
        return;
    };
    let control = first[..2] == [0x16, 3];
    if !control {
        lock(&seen.headers).push(first);
    }
    if upstream.write_all(&first).is_err() {
        return;
    }
    if !control && seen.keep.swap(false, Ordering::SeqCst) {
        lock(&seen.kept).push(upstream);
        return;
    }
    let (Ok(mut back), Ok(mut down)) = (upstream.try_clone(), client.try_clone()) else {
        return;
    };
    let here = Arc::clone(seen);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = back.read(&mut buffer) {
            if !control {
                here.bytes.fetch_add(n as u64, Ordering::SeqCst);
                here.last_bytes_ns.store(clock::now(), Ordering::SeqCst);
            }
            // A client that is gone does not keep the agent from being read: only the agent may
            // stop.
            let _ = down.write_all(&buffer[..n]);
        }
        let _ = down.shutdown(Shutdown::Write);
    });
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(n @ 1..) = client.read(&mut buffer) {
        if control && seen.withhold.load(Ordering::SeqCst) {
            continue;
        }
        if upstream.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
    // With control withheld, the agent is not to learn that the client went away.
    if !seen.withhold.load(Ordering::SeqCst) {
        let _ = upstream.shutdown(Shutdown::Write);
    }
}

/// One client at a time: the last one that sent something gets the answers.
fn datagrams(udp: &UdpSocket, agent: SocketAddr, seen: &Arc<Seen>) {
    let upstream = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    upstream.connect(agent).expect("a connected socket");
    let back = (upstream.try_clone().expect("a socket"), udp.try_clone().expect("a socket"));
    let client = Arc::new(Mutex::new(None));
    let to = Arc::clone(&client);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let got = back.0.recv(&mut buffer);
            if let (Ok(n), Some(peer)) = (got, *lock(&to)) {
                let _ = back.1.send_to(&buffer[..n], peer);
            }
        }
    });
    let mut buffer = vec![0; 64 * 1024];
    while let Ok((n, peer)) = udp.recv_from(&mut buffer) {
        *lock(&client) = Some(peer);
        if buffer.starts_with(b"HOPB") {
            lock(&seen.registrations).push(buffer[..n].to_vec());
        }
        let _ = upstream.send(&buffer[..n]);
    }
}
