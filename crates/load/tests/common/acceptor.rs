//! The port of a test's server: it accepts connections and registrations.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use hopbench_load::{Accepted, Acceptor, FlowLimit};
use hopbench_sys::{DatagramPort, Epoll, Events, Listener, Socket, Waker};

use super::handshake::{ACCEPTED, answer, flow_of};

/// What happens to a flow that was let in.
pub(crate) enum Inside {
    /// It goes to the server's workers.
    Served {
        acceptor: Acceptor,
        flow_limit: Arc<FlowLimit>,
        from_server: Box<dyn Fn(u32) -> bool + Send + Sync>,
    },
    /// It is kept open and nobody ever reads it.
    Silent(Mutex<Vec<Socket>>),
}

pub(crate) struct FlowAcceptor {
    pub(crate) address: SocketAddr,
    closing: Arc<(AtomicBool, Waker)>,
    thread: Option<JoinHandle<()>>,
}

impl FlowAcceptor {
    /// `answers`: whether TCP flows are told that they are accepted.
    pub(crate) fn open(answers: bool, inside: Inside) -> Self {
        let (listener, port) = bind();
        let address = listener.local().unwrap();
        let closing = Arc::new((AtomicBool::new(false), Waker::new().unwrap()));
        let shared = Arc::clone(&closing);
        let thread = std::thread::spawn(move || serve(&listener, &port, answers, &inside, &shared));
        Self { address, closing, thread: Some(thread) }
    }

    pub(crate) fn shut(mut self) {
        self.closing.0.store(true, Ordering::Release);
        self.closing.1.wake();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// The same number for both: another program may have taken one of the two.
fn bind() -> (Listener, DatagramPort) {
    for _ in 0..100 {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), 4096).unwrap();
        if let Ok(port) = DatagramPort::bind(listener.local().unwrap()) {
            return (listener, port);
        }
    }
    panic!("no port is free for both TCP and UDP");
}

fn serve(
    listener: &Listener,
    port: &DatagramPort,
    answers: bool,
    inside: &Inside,
    closing: &(AtomicBool, Waker),
) {
    let epoll = Epoll::new().unwrap();
    epoll.add(listener, 0).unwrap();
    epoll.add(port, 1).unwrap();
    epoll.add(&closing.1, 2).unwrap();
    let mut events = Events::with_capacity(8);
    let mut registered = BTreeSet::new();
    while !closing.0.load(Ordering::Acquire) {
        epoll.wait(&mut events, None).unwrap();
        while let Ok((socket, _)) = listener.accept() {
            if let Some(flow) = header(&socket, answers) {
                inside.take(flow, socket);
            }
        }
        let mut datagram = [0; 64];
        while let Ok(arrival) = port.receive(&mut datagram) {
            let Some((answer, flow)) = answer(&datagram).filter(|_| arrival.len == 64) else {
                continue;
            };
            let flow = flow.filter(|_| registered.insert(arrival.peer));
            let socket = flow
                .map(|flow| (flow, DatagramPort::connected(arrival.local, arrival.peer).unwrap()));
            port.send_from(&answer, arrival.local.ip(), arrival.peer).unwrap();
            if let Some((flow, socket)) = socket {
                inside.take(flow, socket);
            }
        }
    }
}

/// Reads the header, which every client sends at once.
fn header(socket: &Socket, answers: bool) -> Option<u32> {
    socket.set_nonblocking(false).unwrap();
    socket.set_timeouts(Duration::from_secs(2)).unwrap();
    let mut header = [0; 32];
    let mut got = 0;
    while got < header.len() {
        match socket.recv(&mut header[got..]) {
            // Somebody only looked whether the port is open.
            Ok(0) | Err(_) => return None,
            Ok(n) => got += n,
        }
    }
    let flow = flow_of(&header)?;
    if answers {
        socket.send(&ACCEPTED).ok()?;
    }
    socket.set_nonblocking(true).unwrap();
    Some(flow)
}

impl Inside {
    fn take(&self, flow: u32, socket: Socket) {
        match self {
            Self::Served { acceptor, flow_limit, from_server } => {
                // One too many is closed; who is counted wrong misses it.
                if let Some(flow_guard) = flow_limit.take() {
                    let socket = Arc::new(socket);
                    acceptor(Accepted {
                        flow,
                        from_server: from_server(flow),
                        socket,
                        registration: None,
                        flow_guard,
                    });
                }
            }
            Self::Silent(kept) => kept.lock().unwrap().push(socket),
        }
    }
}
