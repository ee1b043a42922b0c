//! The contract of every engine, beyond what a whole trial shows.

use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::EngineKind;
use hopbench_sys::{DatagramPort, Listener, Socket, Waker, clock};

use super::{EpollEngine, with_engine};
use crate::engine::{Attempt, Engine, EngineSetup, IoOp};
use crate::flow::Event;

pub(super) fn setup(datagrams: bool) -> EngineSetup {
    EngineSetup {
        waker: Arc::new(Waker::new().unwrap()),
        window: Arc::default(),
        receive_bytes: 1000,
        filler: vec![7; 1000].into(),
        slots: 1,
        datagrams,
        receive_timestamps: false,
    }
}

/// Does an operation as an event loop does, for at most a second; what came of it in a word.
fn perform<E: Engine>(engine: &mut E, slot: usize, op: &IoOp<'_>) -> String {
    let give_up = clock::now() + 1_000_000_000;
    let mut ready = Vec::new();
    loop {
        match engine.attempt(slot, op) {
            Attempt::Now(Event::Received(bytes)) => return format!("{} bytes", bytes.len()),
            Attempt::Now(event) | Attempt::At(event, _) => return format!("{event:?}"),
            Attempt::Later => {}
        }
        loop {
            if clock::now() > give_up {
                return "nothing".to_owned();
            }
            ready.clear();
            engine.wait(clock::now() + 10_000_000, &mut ready).unwrap();
            if ready.contains(&slot) {
                break;
            }
        }
    }
}

fn pair() -> (Socket, Arc<Socket>) {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
    let address = listener.local().unwrap();
    let client = Socket::tcp(address).unwrap();
    client.connect(address).unwrap();
    client.wait_connected(Duration::from_secs(1));
    loop {
        if let Ok((server, _)) = listener.accept() {
            return (client, Arc::new(server));
        }
    }
}

#[test]
fn the_end_of_a_stream_that_came_with_its_last_bytes_is_seen() {
    for kind in EngineKind::ALL {
        for (op, first) in [(IoOp::Recv(100), "5 bytes"), (IoOp::Discard(100), "Discarded(5)")] {
            let got = with_engine!(*kind, E => {
                let mut engine = <E as Engine>::new(&setup(false)).unwrap();
                let (client, server) = pair();
                client.send(b"hello").unwrap();
                client.shutdown(Shutdown::Write);
                engine.adopt(0, &server).unwrap();
                [(); 2].map(|()| perform(&mut engine, 0, &op))
            });
            assert_eq!(got, [first, "Closed"], "{kind}");
        }
    }
}

#[test]
fn datagrams_that_came_together_are_all_received_empty_ones_too() {
    for kind in EngineKind::ALL {
        let got = with_engine!(*kind, E => {
            let mut engine = <E as Engine>::new(&setup(true)).unwrap();
            let port = Socket::udp("127.0.0.1:0".parse().unwrap()).unwrap();
            port.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            let client = Socket::udp(port.local().unwrap()).unwrap();
            client.connect(port.local().unwrap()).unwrap();
            let server = DatagramPort::connected(port.local().unwrap(), client.local().unwrap());
            let server = Arc::new(server.unwrap_or_else(|_| {
                port.connect(client.local().unwrap()).unwrap();
                port
            }));
            for len in [3, 0, 5] {
                client.send(&[1; 8][..len]).unwrap();
            }
            engine.adopt(0, &server).unwrap();
            [(); 3].map(|()| perform(&mut engine, 0, &IoOp::Recv(100)))
        });
        assert_eq!(got, ["3 bytes", "0 bytes", "5 bytes"], "{kind}");
    }
}

#[test]
fn a_slot_that_is_used_again_sees_only_its_new_socket() {
    for kind in EngineKind::ALL {
        let got = with_engine!(*kind, E => {
            let mut engine = <E as Engine>::new(&setup(false)).unwrap();
            let (old_client, old) = pair();
            engine.adopt(0, &old).unwrap();
            old_client.send(b"old").unwrap();
            // It is not received before the slot is given away; somebody else keeps the socket
            // open.
            engine.forget(0);
            let (client, new) = pair();
            engine.adopt(0, &new).unwrap();
            let mut ready = Vec::new();
            let first = engine.attempt(0, &IoOp::Recv(100));
            assert!(matches!(first, Attempt::Later), "{kind}: {first:?}");
            engine.wait(clock::now() + 1_000_000, &mut ready).unwrap();
            let second = engine.attempt(0, &IoOp::Recv(100));
            assert!(matches!(second, Attempt::Later), "{kind}: {second:?}");
            client.send(b"newer").unwrap();
            perform(&mut engine, 0, &IoOp::Recv(100))
        });
        assert_eq!(got, "5 bytes", "{kind}");
    }
}

#[test]
fn no_more_than_the_filler_is_sent_and_no_more_than_the_buffer_received() {
    for kind in EngineKind::ALL {
        let got = with_engine!(*kind, E => {
            let mut engine = <E as Engine>::new(&setup(false)).unwrap();
            let (client, server) = pair();
            engine.adopt(0, &server).unwrap();
            let sent = perform(&mut engine, 0, &IoOp::SendFill(1 << 20));
            client.send(&[0; 3000]).unwrap();
            [sent, perform(&mut engine, 0, &IoOp::Recv(1 << 20))]
        });
        assert_eq!(got, ["Sent(1000)", "1000 bytes"], "{kind}");
    }
}

#[test]
fn bytes_that_are_sent_each_arrive_as_datagrams() {
    for kind in EngineKind::ALL {
        let (ours, theirs) = std::os::unix::net::UnixDatagram::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        ours.set_nonblocking(true).unwrap();
        let socket = Arc::new(Socket::from(std::os::fd::OwnedFd::from(ours)));
        let bytes: Vec<u8> = (0..25).collect();
        let sent = with_engine!(*kind, E => {
            let mut engine = <E as Engine>::new(&setup(true)).unwrap();
            engine.adopt(0, &socket).unwrap();
            perform(&mut engine, 0, &IoOp::SendEach(&bytes, 10))
        });
        let mut arrived = Vec::new();
        let mut buffer = [0; 64];
        while let Ok(length) = theirs.recv(&mut buffer) {
            arrived.push(buffer[..length].to_vec());
        }
        // The last is shorter; the ring takes one at a time.
        let most = if *kind == EngineKind::Uring { 1 } else { 3 };
        let expected: Vec<Vec<u8>> = bytes.chunks(10).take(most).map(<[u8]>::to_vec).collect();
        assert_eq!(arrived, expected, "{kind}");
        assert_eq!(sent, format!("Sent({})", expected.concat().len()), "{kind}");
    }
}

#[test]
fn datagrams_that_find_no_room_are_told_of_the_next() {
    let (ours, theirs) = std::os::unix::net::UnixDatagram::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let socket = Arc::new(Socket::from(std::os::fd::OwnedFd::from(ours)));
    let mut engine = EpollEngine::new(&setup(true)).unwrap();
    engine.adopt(0, &socket).unwrap();
    let mut ready = Vec::new();
    engine.wait(clock::now() + 1_000_000, &mut ready).unwrap();
    assert_eq!(ready, [0usize; 0], "that there is room is no news");
    let mut sent = 0;
    while matches!(engine.attempt(0, &IoOp::SendFill(10)), Attempt::Now(Event::Sent(10))) {
        sent += 1;
        assert!(sent < 1_000_000, "the queue never fills");
    }
    assert!(sent > 0);
    ready.clear();
    engine.wait(clock::now() + 1_000_000, &mut ready).unwrap();
    assert!(
        matches!(engine.attempt(0, &IoOp::SendFill(10)), Attempt::Later),
        "nothing was taken out"
    );
    theirs.set_nonblocking(true).unwrap();
    // Twice: the kernel is asked once, and tells each time.
    for _ in 0..2 {
        while theirs.recv(&mut [0; 16]).is_ok() {}
        assert_eq!(perform(&mut engine, 0, &IoOp::SendFill(10)), "Sent(10)");
        while matches!(engine.attempt(0, &IoOp::SendFill(10)), Attempt::Now(Event::Sent(10))) {}
    }
}
