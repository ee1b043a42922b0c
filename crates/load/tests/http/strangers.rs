//! Peers that hold on to a target for everybody: with unfinished bodies, half heads, a slow pace,
//! or nothing at all.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hopbench_load::{StrangerBounds, Timeouts};
use hopbench_model::{Nanos, SECOND};
use hopbench_sys::{Socket, TcpInfo, clock};

use crate::ours::Ours;

const MS: Nanos = 1_000_000;
/// Times that a test can wait for. What is kept moving lives longer than any of them.
const HASTY: Timeouts = Timeouts {
    head_ns: 400 * MS,
    idle_ns: 800 * MS,
    body_ns: 400 * MS,
    read_ns: 400 * MS,
    pace_bytes: 16 * 1024,
};

fn connect(ours: &Ours) -> TcpStream {
    let stream = TcpStream::connect(ours.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// A connection from another address of this machine.
fn connect_from(last: u8, ours: &Ours) -> TcpStream {
    let socket = Socket::tcp(ours.address).unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
    socket.connect(ours.address).unwrap();
    socket.wait_connected(Duration::from_secs(5));
    socket.connected().unwrap();
    let stream = TcpStream::from(OwnedFd::from(socket));
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// A connection that has sent `bytes`.
fn begin(ours: &Ours, bytes: &[u8]) -> TcpStream {
    let mut stream = connect(ours);
    stream.write_all(bytes).unwrap();
    stream
}

/// The status of the answer to come; `None` where the connection ends instead.
fn status(stream: &mut TcpStream) -> Option<u16> {
    let mut line = [0; 12];
    match stream.read_exact(&mut line) {
        Ok(()) => Some(std::str::from_utf8(&line[9..]).unwrap().parse().unwrap()),
        Err(error) => {
            assert!(
                !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
                "neither answer nor end"
            );
            None
        }
    }
}

fn ask(ours: &Ours) -> Option<u16> {
    status(&mut begin(ours, b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"))
}

/// Sends a byte every 20 ms until the connection is closed; after how long it was, ns.
fn trickle(stream: &mut TcpStream) -> Nanos {
    let began = clock::now();
    stream.set_nonblocking(true).unwrap();
    while clock::now() < began + 10 * SECOND {
        let over = match stream.read(&mut [0; 256]) {
            Ok(n) => n == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        if over || stream.write_all(b"x").is_err() {
            return clock::now() - began;
        }
        clock::sleep_until(clock::now() + 20 * MS);
    }
    panic!("it was kept for 10 s");
}

fn post(length: usize) -> Vec<u8> {
    format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n").into_bytes()
}

#[test]
fn unfinished_bodies_share_one_room_and_what_does_not_fit_is_told_so() {
    // A MiB for those of this source.
    let memory_bytes = 3 << 20;
    let ours = Ours::with(StrangerBounds { memory_bytes, ..StrangerBounds::default() });
    let body = vec![b'x'; 300_000];
    // Without their last byte; one after the other, so that who came first is in.
    let chunked =
        [&b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n493e1\r\n"[..], &body]
            .concat();
    let mut held: Vec<TcpStream> = Vec::new();
    let mut refused = 0;
    for n in 0..16 {
        let bytes =
            if n % 2 == 0 { [post(300_001), body.clone()].concat() } else { chunked.clone() };
        let mut stream = connect(&ours);
        // A refusal may come before all of it was sent.
        let _ = stream.write_all(&bytes);
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut line = [0; 12];
        match stream.read_exact(&mut line) {
            Ok(()) => {
                assert_eq!(&line[9..], b"503", "{}", String::from_utf8_lossy(&line));
                refused += 1;
            }
            Err(_) => held.push(stream),
        }
    }
    assert!(
        (1..=3).contains(&held.len()) && refused == 16 - held.len(),
        "{} held, {refused} refused",
        held.len()
    );
    // The room of other sources is not theirs.
    let mut other = connect_from(9, &ours);
    other.write_all(&[post(300_001), body.clone(), b"x".to_vec()].concat()).unwrap();
    assert_eq!(status(&mut other), Some(200));
    drop(other);
    // Who is in is served, and gives the room back.
    for stream in &mut held {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    }
    held[0].write_all(b"x").unwrap();
    assert_eq!(status(&mut held[0]), Some(200));
    drop(held);
    // What was answered or is gone takes none of it: many times the room goes through.
    let mut stream = connect(&ours);
    for _ in 0..20 {
        stream.write_all(&[post(300_001), body.clone(), b"x".to_vec()].concat()).unwrap();
        assert_eq!(status(&mut stream), Some(200));
        let mut rest = Vec::new();
        let mut piece = [0; 64 * 1024];
        while !rest.ends_with(&[b'x'; 300_001]) {
            let n = stream.read(&mut piece).unwrap();
            assert!(n > 0);
            rest.extend_from_slice(&piece[..n]);
        }
    }
    drop(stream);
    ours.stop();
}

#[test]
fn a_full_table_drops_the_longest_idle_and_keeps_nobody_out() {
    let ours = Ours::with(StrangerBounds { connections: 16, ..StrangerBounds::default() });
    let mut busy = connect(&ours);
    let mut half: Vec<_> = Vec::new();
    for _ in 0..40 {
        half.push(begin(&ours, b"GET / HTTP/1.1\r\n"));
        assert_eq!(ask(&ours), Some(200), "a table full of half heads keeps somebody out");
        busy.write_all(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        assert_eq!(status(&mut busy), Some(200), "who is not idle is not dropped");
        let mut rest = [0; 256];
        let _ = busy.read(&mut rest).unwrap();
    }
    let mut dropped = 0;
    for stream in &mut half {
        stream.set_nonblocking(true).unwrap();
        dropped += u32::from(stream.read(&mut [0]).is_ok());
        stream.set_nonblocking(false).unwrap();
    }
    assert!((20..40).contains(&dropped), "{dropped} of 40");
    assert!(status(&mut half[0]).is_none(), "the first to be idle was the first to go");
    half[39].write_all(b"Host: h\r\n\r\n").unwrap();
    assert_eq!(status(&mut half[39]), Some(200), "the last one is still there");
    drop((half, busy));
    ours.stop();
}

/// An answer that is delayed leaves nothing to read or write in the meantime.
#[test]
fn a_full_table_drops_who_waits_for_a_delayed_answer() {
    let ours = Ours::with(StrangerBounds { connections: 8, ..StrangerBounds::default() });
    let mut waiting = Vec::new();
    for n in 0..60 {
        waiting.push(begin(&ours, b"GET /?delay=60s HTTP/1.1\r\nHost: h\r\n\r\n"));
        let mut other = connect_from(9, &ours);
        other.write_all(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        assert_eq!(status(&mut other), Some(200), "{n} connections keep another source out");
    }
    assert_eq!(status(&mut waiting[0]), None, "it made room, though its answer was not due");
    drop(waiting);
    ours.cut();
}

/// The worker is busy meanwhile: it closes none of those that were cut off.
#[test]
fn a_source_that_comes_faster_than_it_is_closed_leaves_others_a_place() {
    let bounds = StrangerBounds { connections: 8, ..StrangerBounds::default() };
    let ours = Ours::working(bounds, SECOND);
    let asks = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n";
    let first = begin(&ours, asks);
    clock::sleep_until(clock::now() + 100 * MS);
    // More than the target has places, those of connections that were cut off included.
    let strangers: Vec<TcpStream> = (0..40).map(|_| connect_from(2, &ours)).collect();
    let mut other = connect_from(9, &ours);
    other.write_all(asks).unwrap();
    assert_eq!(status(&mut other), Some(200), "another source was kept out");
    drop((first, strangers, other));
    ours.cut();
}

#[test]
fn a_short_request_is_answered_if_bodies_take_all_the_room() {
    let memory_bytes = 3 << 20;
    let ours = Ours::with(StrangerBounds { memory_bytes, ..StrangerBounds::default() });
    let mut held = Vec::new();
    for source in 2..8 {
        let mut stream = connect_from(source, &ours);
        let _ = stream.write_all(&[post(1 << 20), vec![b'x'; (1 << 20) - 1]].concat());
        held.push(stream);
    }
    clock::sleep_until(clock::now() + 200 * MS);
    let mut other = connect_from(20, &ours);
    other.write_all(&[post(100_000), vec![b'x'; 100_000]].concat()).unwrap();
    assert_eq!(status(&mut other), Some(503), "there is no room for a body");
    let mut other = connect_from(21, &ours);
    other.write_all(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert_eq!(status(&mut other), Some(200));
    drop(held);
    ours.cut();
}

#[test]
fn slow_heads_and_bodies_are_given_up_however_they_trickle() {
    let ours = Ours::with(StrangerBounds { timeouts: HASTY, ..StrangerBounds::default() });
    for (what, begin_with, after) in [
        ("a head", &b"GET / HTTP/1.1\r\nA: "[..], HASTY.head_ns),
        ("line breaks and a head", b"\r\n\r\nGET / HTTP/1.1\r\nA: ", HASTY.head_ns),
        ("a body", &post(1 << 20), HASTY.body_ns),
        (
            "chunks",
            b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n",
            HASTY.body_ns,
        ),
        (
            "a body with leave",
            b"PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n",
            HASTY.body_ns,
        ),
    ] {
        let took = trickle(&mut begin(&ours, begin_with));
        // The time began when its first bytes came, which may be before it is taken here.
        assert!(
            (after / 2..after + 2 * SECOND).contains(&took),
            "{what} was given up after {} ms",
            took / MS
        );
    }
    // A body that keeps the pace takes as long as it likes.
    let began = clock::now();
    let mut steady = begin(&ours, &post(160 * 1024));
    for _ in 0..10 {
        clock::sleep_until(clock::now() + 100 * MS);
        steady.write_all(&[b'x'; 16 * 1024]).unwrap();
    }
    assert_eq!(status(&mut steady), Some(200));
    assert!(clock::now() - began > 2 * HASTY.body_ns);
    drop(steady);
    ours.stop();
}

#[test]
fn the_kernel_holds_little_for_who_stops_reading() {
    const READERS: usize = 20;
    // It takes more as long as less than 64 KiB wait, and then a whole segment: 64 KiB at most.
    const MOST_NOT_SENT: u32 = (64 + 64) * 1024;
    let sockets = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sockets);
    let ours = Ours::watched(StrangerBounds::default(), move |stream| {
        seen.lock().unwrap().push(Socket::from(OwnedFd::from(stream.try_clone().unwrap())));
    });
    let mut held = Vec::new();
    let mut piece = vec![0; 256 * 1024];
    for _ in 0..READERS {
        let mut stream = begin(&ours, b"GET /?size=1GiB HTTP/1.1\r\nHost: h\r\n\r\n");
        // Fast at first: the kernel makes room for more.
        let mut got = 0;
        while got < 3 << 20 {
            let n = stream.read(&mut piece).unwrap();
            assert!(n > 0, "it was closed after {got} bytes");
            got += n;
        }
        held.push(stream);
    }
    clock::sleep_until(clock::now() + SECOND);
    let sockets = std::mem::take(&mut *sockets.lock().unwrap());
    let waiting: Vec<u32> =
        sockets.iter().map(|socket| TcpInfo::of(socket).unwrap().notsent_bytes).collect();
    assert!(waiting.iter().all(|bytes| *bytes <= MOST_NOT_SENT), "{waiting:?}");
    assert!(
        waiting.iter().filter(|bytes| **bytes > 1 << 14).count() > READERS / 2,
        "they do not wait: {waiting:?}"
    );
    drop((held, sockets));
    ours.stop();
}

#[test]
fn who_reads_too_slowly_or_rests_too_long_is_given_up() {
    let ours = Ours::with(StrangerBounds { timeouts: HASTY, ..StrangerBounds::default() });
    // A reader of a KiB now and then: its socket is full, and what it takes is below every pace.
    let mut slow = begin(&ours, b"GET /?size=1GiB HTTP/1.1\r\nHost: h\r\n\r\n");
    let began = clock::now();
    let mut seen = 0;
    loop {
        assert!(clock::now() < began + 15 * SECOND, "a slow reader was kept for 15 s");
        match slow.read(&mut [0; 1024]) {
            Ok(0) | Err(_) => break,
            Ok(n) => seen += n,
        }
        // Once it is closed, what the kernel holds of it is all that comes.
        if clock::now() > began + 3 * SECOND {
            break;
        }
        clock::sleep_until(clock::now() + 20 * MS);
    }
    let rest = std::io::copy(&mut slow, &mut std::io::sink()).unwrap_or(0) + seen as u64;
    assert!(rest < 64 << 20, "{rest} bytes: it was served on");
    // A reader without haste, but at a pace, gets all of it.
    let mut steady = begin(&ours, b"GET /?size=8MiB HTTP/1.0\r\n\r\n");
    let mut got = 0;
    let mut buffer = vec![0; 512 * 1024];
    loop {
        match steady.read(&mut buffer).unwrap() {
            0 => break,
            n => got += n,
        }
        clock::sleep_until(clock::now() + 20 * MS);
    }
    assert!(got > 8 << 20, "{got} bytes");
    // Between requests.
    let mut idle = begin(&ours, b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(status(&mut idle), Some(200));
    let began = clock::now();
    idle.read_to_end(&mut Vec::new()).unwrap();
    let took = clock::now() - began;
    assert!(
        (HASTY.idle_ns / 2..HASTY.idle_ns + 2 * SECOND).contains(&took),
        "it was closed after {} ms",
        took / MS
    );
    // And before the first one.
    let silent = connect(&ours);
    silent.shutdown(Shutdown::Read).unwrap();
    let began = clock::now();
    drop(slow);
    drop(silent);
    ours.stop();
    assert!(clock::now() - began < 5 * SECOND);
}
