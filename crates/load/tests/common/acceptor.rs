//! The port of a test's server: it accepts connections and registrations.

use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hopbench_load::HandshakeCodec;
use hopbench_sys::{DatagramPort, Epoll, Events, Listener, Socket, Waker};

use super::handshake::{ACCEPTED, Plain, answer, flow_of};

pub(crate) struct FlowAcceptor {
    pub(crate) address: SocketAddr,
    closing: Arc<Waker>,
    thread: JoinHandle<()>,
}

impl FlowAcceptor {
    /// `take` gets each flow that comes, once. `answers`: whether TCP flows are told that they are
    /// accepted.
    pub(crate) fn open(
        port: u16,
        answers: bool,
        take: impl FnMut(u32, Socket) + Send + 'static,
    ) -> Self {
        let (listener, port) = bind(port);
        let address = listener.local().unwrap();
        let closing = Arc::new(Waker::new().unwrap());
        let shared = Arc::clone(&closing);
        let thread = std::thread::spawn(move || serve(&listener, &port, answers, take, &shared));
        Self { address, closing, thread }
    }

    pub(crate) fn shut(self) {
        self.closing.wake();
        self.thread.join().unwrap();
    }
}

/// The same number for both: another program may have taken one of the two.
fn bind(port: u16) -> (Listener, DatagramPort) {
    for _ in 0..100 {
        let listener = Listener::bind(([127, 0, 0, 1], port).into(), 4096).unwrap();
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
    mut take: impl FnMut(u32, Socket),
    closing: &Waker,
) {
    let epoll = Epoll::new().unwrap();
    epoll.add(listener, 0).unwrap();
    epoll.add(port, 1).unwrap();
    epoll.add(closing, 2).unwrap();
    let mut events = Events::with_capacity(8);
    let (mut seen, mut registered) = (HashSet::new(), BTreeSet::new());
    while !events.iter().any(|event| event.token == 2 && event.readable) {
        epoll.wait(&mut events, None).unwrap();
        while let Ok((socket, _)) = listener.accept() {
            if let Some(flow) = header(&socket, answers) {
                assert!(seen.insert(flow), "flow {flow} came twice");
                take(flow, socket);
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
                take(flow, socket);
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
    assert_eq!(header, Plain.tcp(flow));
    if answers {
        socket.send(&ACCEPTED).ok()?;
    }
    socket.set_nonblocking(true).unwrap();
    Some(flow)
}
