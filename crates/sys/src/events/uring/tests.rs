use std::net::SocketAddr;

use super::*;
use crate::net::arrived::arrived;
use crate::{DatagramPort, Listener, Progress};

const FAR: Option<u64> = Some(2_000_000_000);

fn ring() -> Ring {
    let filler: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
    Ring::new(4, filler.into(), Arc::new(Waker::new().unwrap())).unwrap()
}

fn any() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn pair() -> (Arc<Socket>, Arc<Socket>) {
    let listener = Listener::bind(any(), 8).unwrap();
    let client = Socket::tcp(any()).unwrap();
    client.connect(listener.local().unwrap()).unwrap();
    let server = loop {
        match listener.accept() {
            Ok((server, _)) => break server,
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    };
    (Arc::new(client), Arc::new(server))
}

/// A ring, a client, and its server, which has slot 0.
fn rig() -> (Ring, Arc<Socket>, Arc<Socket>) {
    let (mut ring, (client, server)) = (ring(), pair());
    ring.adopt(0, &server);
    (ring, client, server)
}

/// Waits until `slot` is done.
fn finish(ring: &mut Ring, slot: usize) -> io::Result<usize> {
    let mut done = Vec::new();
    for _ in 0..100 {
        if let Some(result) = ring.result(slot) {
            return result;
        }
        ring.wait(FAR, &mut done).unwrap();
    }
    panic!("slot {slot} is never done, {done:?} were");
}

#[test]
fn bytes_go_there_and_back_and_the_end_is_seen() {
    let (mut ring, client, _server) = rig();
    ring.adopt(7, &client);
    ring.recv(0, 16).unwrap();
    ring.send(7, b"hello").unwrap();
    assert_eq!(finish(&mut ring, 7).unwrap(), 5);
    assert_eq!(finish(&mut ring, 0).unwrap(), 5);
    assert_eq!(ring.received(0, 5), b"hello");

    ring.send_filler(0, 1_000_000).unwrap();
    let mut left = finish(&mut ring, 0).unwrap();
    assert!(left <= 100_000, "more filler than there is");
    let mut at = 0;
    while left > 0 {
        ring.recv(7, 30_000).unwrap();
        let got = finish(&mut ring, 7).unwrap();
        let mut bytes = ring.received(7, got).iter().enumerate();
        assert!(bytes.all(|(i, byte)| *byte == ((at + i) % 251) as u8));
        at += got;
        left -= got;
    }
    client.shutdown(std::net::Shutdown::Write);
    ring.recv(0, 16).unwrap();
    assert_eq!(finish(&mut ring, 0).unwrap(), 0);
}

#[test]
fn older_ways_to_complete_work_too() {
    for work in [setup::Work::Deferred, setup::Work::Cooperative, setup::Work::Interrupting] {
        // A kernel that does not know it says so; this one's best way is tested by all other tests.
        let Ok(raw) = setup::build(8, work) else {
            continue;
        };
        let mut ring = Ring::over(raw, 2, Arc::new([]), Arc::new(Waker::new().unwrap()));
        let (client, server) = pair();
        ring.adopt(0, &server);
        let mut done = Vec::new();
        for round in 0..3 {
            ring.recv(0, 10).unwrap();
            ring.wait(Some(1_000_000), &mut done).unwrap();
            assert!(done.is_empty(), "{work:?}");
            client.send(&[1; 4]).unwrap();
            if round == 0 {
                // Seen without sleeping, too.
                let give_up = clock::now() + 1_000_000_000;
                while done.is_empty() && clock::now() < give_up {
                    ring.wait(Some(0), &mut done).unwrap();
                }
                assert_eq!(done, [0], "{work:?}");
                done.clear();
            }
            assert_eq!(finish(&mut ring, 0).unwrap(), 4, "{work:?}");
            ring.recv(0, 10).unwrap();
            assert!(ring.cancel(0), "{work:?}");
        }
    }
}

#[test]
fn a_connection_attempt_is_waited_for() {
    let mut ring = ring();
    let listener = Listener::bind(any(), 8).unwrap();
    let open = Arc::new(Socket::tcp(any()).unwrap());
    open.connect(listener.local().unwrap()).unwrap();
    let nobody = listener.local().unwrap();
    drop((open, listener));
    let refused = Arc::new(Socket::tcp(any()).unwrap());
    // Refused at once or later, as the kernel likes.
    if let Ok(Progress::Pending) = refused.connect(nobody) {
        ring.adopt(1, &refused);
        ring.connected(1).unwrap();
        finish(&mut ring, 1).unwrap();
        assert_eq!(refused.connected().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
    let (client, _server) = pair();
    ring.adopt(1, &client);
    ring.connected(1).unwrap();
    finish(&mut ring, 1).unwrap();
    client.connected().unwrap();
}

#[test]
fn discarding_takes_bytes_without_a_buffer() {
    let (mut ring, client, _server) = rig();
    ring.adopt(1, &client);
    // Both ways: the data is there first, and the receive is there first.
    ring.send_filler(1, 5000).unwrap();
    assert_eq!(finish(&mut ring, 1).unwrap(), 5000);
    ring.discard(0, 4000).unwrap();
    assert_eq!(finish(&mut ring, 0).unwrap(), 4000);
    ring.discard(0, 1 << 20).unwrap();
    assert_eq!(finish(&mut ring, 0).unwrap(), 1000);
    ring.discard(0, 1 << 20).unwrap();
    ring.send_filler(1, 77).unwrap();
    assert_eq!(finish(&mut ring, 0).unwrap(), 77);
    assert!(ring.slots[0].kept.receive.is_empty());
}

#[test]
fn a_cancelled_receive_leaves_later_bytes_alone() {
    let (mut ring, client, _server) = rig();
    ring.recv(0, 10).unwrap();
    let mut done = Vec::new();
    ring.wait(Some(1_000_000), &mut done).unwrap();
    assert!(done.is_empty() && ring.busy(0));
    assert!(ring.cancel(0) && !ring.busy(0));
    client.send(b"late").unwrap();
    ring.wait(Some(1_000_000), &mut done).unwrap();
    assert!(done.is_empty(), "a cancelled operation was named");
    ring.recv(0, 10).unwrap();
    assert_eq!(finish(&mut ring, 0).unwrap(), 4);
    assert_eq!(ring.received(0, 4), b"late");
}

#[test]
fn what_is_done_cannot_be_cancelled_and_keeps_its_result() {
    let (mut ring, client, _server) = rig();
    client.send(b"early").unwrap();
    ring.recv(0, 10).unwrap();
    // It is submitted together with its cancellation, and done by then.
    assert!(!ring.cancel(0));
    assert_eq!(ring.result(0).unwrap().unwrap(), 5);
    assert_eq!(ring.received(0, 5), b"early");
    assert!(ring.cancel(0) && ring.cancel(99));
}

#[test]
fn completions_that_come_while_another_is_cancelled_are_not_lost() {
    let (mut ring, client, _server) = rig();
    let (_idle, waiting) = pair();
    client.send(b"x").unwrap();
    ring.adopt(1, &waiting);
    ring.recv(0, 10).unwrap();
    ring.recv(1, 10).unwrap();
    assert!(ring.cancel(1));
    let mut done = Vec::new();
    let before = clock::now();
    ring.wait(FAR, &mut done).unwrap();
    assert_eq!(done, [0]);
    assert!(clock::now() - before < 1_000_000_000, "it waited although something was done");
}

#[test]
fn one_operation_at_a_time_and_only_with_a_socket() {
    let mut ring = ring();
    let (_client, server) = pair();
    assert_eq!(ring.recv(0, 1).unwrap_err().kind(), io::ErrorKind::NotConnected);
    ring.adopt(0, &server);
    ring.recv(0, 1).unwrap();
    assert_eq!(ring.send(0, b"x").unwrap_err().kind(), io::ErrorKind::ResourceBusy);
    assert!(ring.received(0, 1).is_empty(), "a buffer was lent that the kernel writes to");
    ring.release(0);
    assert_eq!(ring.recv(0, 1).unwrap_err().kind(), io::ErrorKind::NotConnected);
}

#[test]
fn waking_ends_a_wait_each_time() {
    let mut ring = ring();
    let waker = Arc::clone(&ring.waker);
    for _ in 0..3 {
        let waking = Arc::clone(&waker);
        let thread = std::thread::spawn(move || {
            clock::sleep_until(clock::now() + 5_000_000);
            waking.wake();
        });
        let before = clock::now();
        let mut done = Vec::new();
        ring.wait(FAR, &mut done).unwrap();
        assert!(done.is_empty() && clock::now() - before < 1_000_000_000);
        thread.join().unwrap();
    }
    // And a timeout ends it when nobody wakes it.
    let before = clock::now();
    ring.wait(Some(3_000_000), &mut Vec::new()).unwrap();
    assert!(clock::now() - before >= 3_000_000);
}

#[test]
fn datagrams_keep_their_borders() {
    let mut ring = ring();
    let port = DatagramPort::bind(any()).unwrap();
    let to = Socket::from(port.as_fd().try_clone_to_owned().unwrap()).local().unwrap();
    let client = Arc::new(Socket::udp(to).unwrap());
    client.connect(to).unwrap();
    ring.adopt(0, &client);
    for len in [3, 0, 5] {
        ring.send(0, &[1; 8][..len]).unwrap();
        assert_eq!(finish(&mut ring, 0).unwrap(), len);
        let mut buffer = [0; 16];
        assert_eq!(arrived(&port).receive(&mut buffer).unwrap().len, len);
    }
}

#[test]
fn more_operations_than_fit_are_submitted_in_parts() {
    let mut ring = ring();
    let pairs: Vec<_> = (0..400).map(|_| pair()).collect();
    for (slot, (_, server)) in pairs.iter().enumerate() {
        ring.adopt(slot, server);
        ring.recv(slot, 8).unwrap();
    }
    let mut done = Vec::new();
    ring.wait(Some(0), &mut done).unwrap();
    assert!(done.is_empty());
    for (client, _) in &pairs {
        client.send(b"all").unwrap();
    }
    while done.len() < pairs.len() {
        ring.wait(FAR, &mut done).unwrap();
    }
    done.sort_unstable();
    assert_eq!(done, (0..pairs.len()).collect::<Vec<_>>());
    assert!((0..pairs.len()).all(|slot| ring.result(slot).unwrap().unwrap() == 3));
}

#[test]
fn dropping_takes_everything_back() {
    let (client, server) = pair();
    let filler: Arc<[u8]> = vec![0; 1 << 20].into();
    let waker = Arc::new(Waker::new().unwrap());
    let mut ring = Ring::new(1, Arc::clone(&filler), Arc::clone(&waker)).unwrap();
    ring.adopt(0, &server);
    ring.adopt(1, &client);
    ring.recv(0, 100).unwrap();
    // The peer's peer does not read: the send gets stuck.
    let stuck = loop {
        ring.send_filler(1, 1 << 20).unwrap();
        let mut done = Vec::new();
        ring.wait(Some(1_000_000), &mut done).unwrap();
        if done.contains(&0) {
            ring.result(0).unwrap().unwrap();
        }
        if ring.result(1).is_none() {
            break ring.busy(1);
        }
    };
    assert!(stuck);
    let before = clock::now();
    drop(ring);
    assert!(clock::now() - before < CANCEL_PATIENCE, "it gave up waiting");
    assert_eq!((Arc::strong_count(&server), Arc::strong_count(&client)), (1, 1));
    assert_eq!((Arc::strong_count(&filler), Arc::strong_count(&waker)), (1, 1));
}

#[test]
fn what_is_abandoned_lives_until_its_completion() {
    let (mut ring, client, server) = rig();
    ring.recv(0, 10).unwrap();
    ring.wait(Some(0), &mut Vec::new()).unwrap();
    // As `cancel` does when the kernel does not give it back.
    let number = ring.slots[0].number(0);
    let kept = ring.slots[0].abandon();
    ring.orphans.push((number, kept));
    drop(server);
    client.send(b"orphan").unwrap();
    let mut done = Vec::new();
    ring.wait(FAR, &mut done).unwrap();
    ring.wait(Some(1_000_000), &mut done).unwrap();
    assert!(done.is_empty() && ring.orphans.is_empty() && ring.under_way == 0);
    client.send(b"next").unwrap();
    ring.recv(0, 10).unwrap();
    assert_eq!(finish(&mut ring, 0).unwrap(), 4);
}

/// Forbids `io_uring_setup` to this thread with `errno`.
fn forbid(errno: i32) {
    let load = |k| libc::sock_filter {
        code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let give =
        |k| libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k };
    let equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let mut rules = [
        load(0),
        libc::sock_filter { code: equal, jt: 0, jf: 1, k: libc::SYS_io_uring_setup as u32 },
        give(libc::SECCOMP_RET_ERRNO | errno as u32),
        give(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: rules.len() as u16, filter: rules.as_mut_ptr() };
    // SAFETY: the program and its rules outlive both calls; only this thread is affected.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            | libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    };
    assert_eq!(refused, 0, "{}", io::Error::last_os_error());
}

#[test]
fn where_it_is_forbidden_the_error_says_so() {
    for (errno, words) in
        [(libc::EPERM, "kernel.io_uring_disabled"), (libc::ENOSYS, "seccomp profile hides it")]
    {
        let text = std::thread::spawn(move || {
            forbid(errno);
            Ring::new(1, Arc::new([]), Arc::new(Waker::new().unwrap())).unwrap_err().to_string()
        });
        let text = text.join().unwrap();
        assert!(text.contains(words), "{text}");
    }
}
