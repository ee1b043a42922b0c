//! An agent among people who mean no good: it stays up, serves no flow without a token, says
//! nothing to strangers, sends no more than it got, and stays small.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::Duration;

use hopbench_control::secret::Secret;
use hopbench_control::tls;
use hopbench_sys::{Socket, clock, limits};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::lab::process::{files, resident_bytes, status};
use crate::lab::program::{Running, binary, run};
use crate::lab::records::one;
use crate::lab::wait::{MS, S, pause, until};
use crate::lab::{Agent, Relay, Turn, program, words};

/// How long the agent gives a connection to say what it is, with a margin for a busy machine, ns.
const PATIENCE: u64 = 5 * S + 1500 * MS;

/// A client with the token is served as ever.
fn assert_serves(agent: &mut Agent) {
    assert!(agent.runs(), "the agent is gone");
    for flags in [&["rr"][..], &["rr", "--udp"], &["stream"]] {
        let (workload, flags) = flags.split_first().expect("a workload");
        let (target, token) = (agent.target(), &agent.token);
        let line = format!("{workload} {target} --token {token} --json -t 100ms --warmup 20ms");
        let record = one(&run(program(&words(&line)).args(flags)));
        assert!(record.metrics.values().any(|v| *v > 0.0), "{workload}: {:?}", record.metrics);
    }
}

fn connect(agent: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&agent, Duration::from_secs(5)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    stream
}

/// A connection from another address of this machine.
fn connect_from(last: u8, agent: SocketAddr) -> TcpStream {
    let socket = Socket::tcp(agent).expect("a socket");
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).expect("an address of this machine");
    socket.connect(agent).expect("a connection");
    socket.wait_connected(Duration::from_secs(5));
    socket.connected().expect("a connection");
    let stream = TcpStream::from(OwnedFd::from(socket));
    stream.set_nonblocking(false).expect("a blocking socket");
    stream
}

/// Everything the agent says on a connection to which no more is sent.
fn answer(mut stream: TcpStream) -> Vec<u8> {
    let _ = stream.shutdown(Shutdown::Write);
    listen(&mut stream)
}

/// Everything the agent says until it closes, resets, or says nothing for 10 s, which is a failure.
fn listen(stream: &mut TcpStream) -> Vec<u8> {
    let mut said = Vec::new();
    match stream.read_to_end(&mut said) {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            panic!("the agent keeps a stranger's connection")
        }
        _ => said,
    }
}

/// Random bytes that often begin like something the agent knows.
fn garbage(random: &mut StdRng) -> Vec<u8> {
    const BEGINNINGS: [&[u8]; 8] = [
        b"",
        b"HOPB",
        b"HOPB\x01\x01\x00\x00",
        b"GET / HTTP/1.1\r\n",
        b"POST ",
        b"\x16\x03\x01",
        b"\x16\x03\x03\x00\x20",
        b"\x00\x00\x00\x10{",
    ];
    let mut bytes = BEGINNINGS[random.random_range(0..BEGINNINGS.len())].to_vec();
    bytes.extend((0..random.random_range(1..200)).map(|_| random.random::<u8>()));
    bytes
}

#[test]
fn garbage_over_tcp_is_told_nothing() {
    limits::raise_open_files(4096).expect("the limit of open files");
    let mut agent = Agent::guarded(&[]);
    assert_serves(&mut agent);
    let before = (resident_bytes(agent.pid()), files(agent.pid()));
    let mut random = StdRng::seed_from_u64(1);
    // All at once: what begins like a flow header and is too short is waited for.
    let strangers: Vec<_> = (0..2000)
        .map(|_| {
            let bytes = garbage(&mut random);
            let mut stream = connect(agent.address());
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(Shutdown::Write);
            (bytes, stream)
        })
        .collect();
    for (bytes, mut stream) in strangers {
        let said = listen(&mut stream);
        // TLS tells who speaks it badly, in one alert of 7 bytes.
        let most = if bytes.starts_with(&[0x16, 3]) { 7 } else { 0 };
        assert!(said.len() <= most, "{bytes:?} was told {said:?}");
    }
    assert_serves(&mut agent);
    assert_stays_small(&agent, before);
}

#[test]
fn garbage_over_udp_is_told_nothing() {
    let mut agent = Agent::guarded(&[]);
    assert_serves(&mut agent);
    let before = (resident_bytes(agent.pid()), files(agent.pid()));
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.connect(agent.address()).expect("a connected socket");
    socket.set_nonblocking(true).expect("a socket that does not block");
    let mut random = StdRng::seed_from_u64(2);
    for _ in 0..10_000 {
        let mut bytes = garbage(&mut random);
        // A registration's length, now and then.
        if random.random_bool(0.3) {
            bytes.resize(64, 0);
        }
        let _ = socket.send(&bytes);
    }
    let _ = socket.send(&[]);
    pause(300 * MS);
    let mut buffer = [0; 2048];
    let said = socket.recv(&mut buffer);
    assert!(
        said.as_ref().is_err_and(|e| e.kind() == ErrorKind::WouldBlock),
        "it answered: {said:?}"
    );
    assert_serves(&mut agent);
    assert_stays_small(&agent, before);
}

/// What the agent holds now against what it held before, when strangers are gone.
fn assert_stays_small(agent: &Agent, (memory, open): (u64, usize)) {
    let left = until(3 * S, || (files(agent.pid()) <= open).then_some(()));
    assert!(left.is_some(), "{} files are open, {open} were before", files(agent.pid()));
    let now = resident_bytes(agent.pid());
    assert!(now <= memory + (16 << 20), "{now} bytes of memory, {memory} were before");
}

/// Connections that say nothing, or a byte a second, or half of a TLS greeting, are closed after 5
/// s; there are never more than a bounded number of them, and who has the token gets in meanwhile.
#[test]
fn silent_and_slow_connections_are_cut() {
    limits::raise_open_files(4096).expect("the limit of open files");
    // With as few files as a login usually gives: strangers must not use them up.
    let usual = ["-c", "ulimit -S -n 1024; exec \"$@\"", "sh"];
    let mut agent =
        Agent::start(Command::new("sh").args(usual).arg(binary()).args(["serve", "--port", "0"]));
    assert_serves(&mut agent);
    let before = (resident_bytes(agent.pid()), files(agent.pid()));
    let silent: Vec<_> = (0..2000).map(|_| connect(agent.address())).collect();
    let mut slow: Vec<_> = (0..50).map(|_| connect(agent.address())).collect();
    let began = clock::now();
    assert_serves(&mut agent);
    assert!(
        clock::now() - began < 3 * S,
        "who has the token had to wait {} ms",
        (clock::now() - began) / MS
    );
    let open = files(agent.pid());
    assert!(open <= before.1 + 1200, "{open} open files");
    assert!(
        resident_bytes(agent.pid()) <= before.0 + (16 << 20),
        "{} bytes",
        resident_bytes(agent.pid())
    );
    // A flow header of 32 bytes that would take 32 s.
    for byte in b"HOPB\x01\x01\x00" {
        let turn = clock::now();
        if turn >= began + PATIENCE {
            break;
        }
        for stream in &mut slow {
            let _ = stream.write_all(&[*byte]);
        }
        clock::sleep_until(turn + S);
    }
    clock::sleep_until(began + PATIENCE);
    for mut stream in silent.into_iter().chain(slow) {
        assert_eq!(listen(&mut stream), b"", "a stranger was told something");
    }
    assert!(
        clock::now() < began + PATIENCE + 2 * S,
        "connections were kept for {} s",
        (clock::now() - began) / S
    );
    assert_serves(&mut agent);
    assert_stays_small(&agent, before);
}

#[test]
fn half_a_tls_greeting_takes_no_thread() {
    limits::raise_open_files(4096).expect("the limit of open files");
    let mut agent = Agent::guarded(&[]);
    assert_serves(&mut agent);
    let before = (resident_bytes(agent.pid()), files(agent.pid()));
    let threads = status(agent.pid(), "Threads");
    // A record of 512 bytes of which 11 come: a ClientHello that never ends.
    let half = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
    let mut streams: Vec<_> = (0..400).map(|_| connect(agent.address())).collect();
    let began = clock::now();
    for stream in &mut streams {
        let _ = stream.write_all(&half);
    }
    pause(300 * MS);
    let most = status(agent.pid(), "Threads");
    assert!(most <= threads, "{most} threads, {threads} before");
    // One of them goes on, slowly, inside the greeting.
    while clock::now() < began + PATIENCE {
        let _ = streams[0].write_all(&[0]);
        pause(S);
    }
    for mut stream in streams {
        assert!(listen(&mut stream).len() <= 7);
    }
    assert!(clock::now() < began + PATIENCE + 3 * S);
    let gone = until(2 * S, || (status(agent.pid(), "Threads") <= threads).then_some(()));
    assert!(gone.is_some(), "{} threads, {threads} before", status(agent.pid(), "Threads"));
    assert_serves(&mut agent);
    assert_stays_small(&agent, before);
}

/// Bodies that never end, from eight sources to a target for everybody: they share 64 MiB. Who gets
/// none of it is told 503.
#[test]
fn unfinished_posts_hold_no_more_than_64_mib() {
    const BODY: usize = 16 << 20;
    let mut agent = Agent::guarded(&["--http"]);
    assert_serves(&mut agent);
    let before = resident_bytes(agent.pid());
    let head = format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {BODY}\r\n\r\n");
    let piece = vec![b'x'; 1 << 20];
    let mut posts: Vec<_> = (0..16).map(|n| connect_from(10 + n / 2, agent.address())).collect();
    for stream in &mut posts {
        stream.write_all(head.as_bytes()).expect("a head");
    }
    // All but the last byte of each, a MiB of each at a time; a refused one is closed.
    for round in 0..16 {
        let last = if round == 15 { 1 } else { 0 };
        posts.iter_mut().for_each(|stream| drop(stream.write_all(&piece[last..])));
    }
    let most = resident_bytes(agent.pid());
    assert!(most <= before + (96 << 20), "{} MiB more than before", (most - before) >> 20);
    let mut told = 0;
    for stream in &mut posts {
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        let mut line = [0; 12];
        // One that is held says nothing; a reset may have overtaken a refusal.
        if stream.read_exact(&mut line).is_ok() {
            assert_eq!(&line, b"HTTP/1.1 503", "{}", String::from_utf8_lossy(&line));
            told += 1;
        }
    }
    assert!(told > 0, "nobody was told that there is no room");
    assert_serves(&mut agent);
    drop(posts);
    let url = format!("http://{}/?size=1kB", agent.target());
    let free = until(5 * S, || {
        let record =
            one(&run(&mut program(&["http", &url, "--json", "-t", "100ms", "--warmup", "10ms"])));
        record.errors.is_empty().then_some(())
    });
    assert!(free.is_some(), "the room was not given back");
}

/// Without `--http` an agent's target answers the requests of a trial that was announced over a
/// session, and nobody else's.
#[test]
fn http_needs_a_session_where_the_target_is_not_for_everybody() {
    let mut agent = Agent::guarded(&[]);
    let url = format!("http://{}/?size=1kB", agent.target());
    let flags = ["http", &url, "--json", "-t", "1s", "--warmup", "50ms", "--token", &agent.token];
    let client = Running::start(&mut program(&flags));
    let ask = |shown: &str| {
        let request = format!("GET /?size=1GiB HTTP/1.1\r\nHost: h\r\n{shown}\r\n");
        let mut stream = connect(agent.address());
        let _ = stream.write_all(request.as_bytes());
        String::from_utf8_lossy(&listen(&mut stream)).into_owned()
    };
    let told = until(3 * S, || Some(ask("")).filter(|said| !said.is_empty())).expect("a trial");
    assert!(told.starts_with("HTTP/1.1 401 ") && told.len() < 300, "{told}");
    let guess = ask(&format!("X-Hopbench-Run: 00000000-{}\r\n", "0".repeat(32)));
    assert!(guess.starts_with("HTTP/1.1 401 ") && guess.len() < 300, "{guess}");
    let done = client.finish();
    let record = one(&done);
    assert!(record.metrics["requests"] > 10.0 && record.errors.is_empty(), "{}", done.story());
    let counted = record.invariants.iter().find(|i| i.name == "answered_le_served");
    assert!(counted.is_some_and(|i| i.ok), "{:?}", record.invariants);
    assert!(
        !done.stdout.to_lowercase().contains("x-hopbench-run"),
        "the credential is in the record"
    );
    // To somebody who is no agent nothing is shown.
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", stranger.local_addr().expect("its address"));
    let line = format!("http {url} --json -t 100ms --warmup 10ms --timeout 1s");
    let client = Running::start(&mut program(&words(&line)));
    let mut asked = Vec::new();
    // The first connection is a look whether anybody is there.
    let seen = until(5 * S, || {
        let (mut stream, _) = stranger.accept().ok()?;
        stream.set_read_timeout(Some(Duration::from_millis(500))).ok()?;
        let mut bytes = [0; 4096];
        let n = stream.read(&mut bytes).unwrap_or(0);
        asked.extend_from_slice(&bytes[..n]);
        (n > 0).then_some(())
    });
    assert!(seen.is_some(), "it was never asked");
    let asked = String::from_utf8_lossy(&asked).to_lowercase();
    assert!(
        asked.contains("user-agent: hopbench/") && !asked.contains("x-hopbench-run"),
        "{asked}"
    );
    drop(client);
    assert!(agent.runs());
}

/// Who holds a session breaks the protocol: frames that are too long, empty, no JSON, JSON without
/// end.
#[test]
fn sessions_that_break_the_protocol_are_closed() {
    let mut agent = Agent::insecure(&[]);
    assert_insecure_serves(&mut agent);
    let before = (resident_bytes(agent.pid()), files(agent.pid()));
    let nested = "[".repeat(100_000);
    let framed = |body: &[u8]| [&(body.len() as u32).to_be_bytes()[..], body].concat();
    let bad: [(&str, Vec<u8>); 6] = [
        ("a frame of 4 GiB", [&[0xff; 4][..], &[b' '; 64 * 1024]].concat()),
        ("a frame of 1 GiB", [&(1u32 << 30).to_be_bytes()[..], b"{}"].concat()),
        ("an empty frame", framed(b"")),
        ("no JSON", framed(b"stream, please")),
        ("JSON without end", framed(nested.as_bytes())),
        ("a message out of turn", framed(br#"{"start":{"window_start_ns":0}}"#)),
    ];
    for (what, bytes) in &bad {
        let config = tls::client_config(&Secret::insecure()).expect("a TLS configuration");
        let session =
            rustls::ClientConnection::new(config, tls::server_name()).expect("a TLS session");
        let mut tls = rustls::StreamOwned::new(session, connect(agent.address()));
        let began = clock::now();
        let _ = tls.write_all(bytes);
        let _ = tls.flush();
        let mut said = Vec::new();
        let end = tls.read_to_end(&mut said);
        let timeout =
            end.is_err_and(|e| matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
        assert!(!timeout, "{what}: the session goes on");
        assert!(clock::now() - began < 2 * S, "{what}: it was closed late");
        assert!(said.is_empty(), "{what}: {}", String::from_utf8_lossy(&said));
    }
    assert_insecure_serves(&mut agent);
    assert_stays_small(&agent, before);
}

fn assert_insecure_serves(agent: &mut Agent) {
    assert!(agent.runs(), "the agent is gone");
    let arguments =
        ["rr", &agent.target(), "--insecure", "--json", "-t", "100ms", "--warmup", "20ms"];
    one(&run(&mut program(&arguments)));
}

/// Headers with a token that was made up, and headers that were seen on the wire: while the run is
/// on, and after it.
#[test]
fn forged_and_replayed_headers_open_no_flow() {
    let mut agent = Agent::guarded(&[]);
    let relay = Relay::to(agent.address());
    let (target, token) = (relay.target(), &agent.token);
    let line = format!("rr {target} --token {token} --json -c 2 -t 2s --warmup 100ms");
    let client = Running::start(&mut program(&words(&line)));
    let headers =
        until(5 * S, || Some(relay.headers()).filter(|h| h.len() == 2)).expect("two flows");
    pause(300 * MS);
    let mut random = StdRng::seed_from_u64(3);
    let told = |header: &[u8]| {
        let mut stream = connect(agent.address());
        let _ = stream.write_all(header);
        // Whoever were let in would be answered.
        let _ = stream.write_all(&[0; 64]);
        answer(stream)
    };
    for header in &headers {
        assert_eq!(told(header), b"", "a replay while the run is on");
        for _ in 0..200 {
            let mut forged = *header;
            forged[random.random_range(16..32)] ^= 1 << random.random_range(0..8);
            assert_eq!(told(&forged), b"", "a forged token");
            // Another flow of the same run, with the token of this one.
            let mut moved = *header;
            moved[15] = random.random_range(2..=255);
            assert_eq!(told(&moved), b"", "a token of another flow");
        }
    }
    let record = one(&client.finish());
    assert!(record.metrics["requests"] > 100.0, "the run did not mind: {:?}", record.metrics);
    for header in &headers {
        assert_eq!(told(header), b"", "a replay after the run");
    }
    assert_serves(&mut agent);
}

/// Registrations that were seen on the wire, sent from another address: a challenge is all they
/// get, which is shorter than what was sent; with the cookie of another address they get a
/// challenge again. Forged ones get nothing.
#[test]
fn spoofed_registrations_open_no_flow_and_gain_no_bytes() {
    let mut agent = Agent::guarded(&[]);
    let relay = Relay::to(agent.address());
    let (target, token) = (relay.target(), &agent.token);
    let line = format!("rr {target} --udp --token {token} --json -t 4s --warmup 100ms");
    let client = Running::start(&mut program(&words(&line)));
    let seen = until(5 * S, || Some(relay.registrations()).filter(|r| r.len() >= 2))
        .expect("a registration with its cookie");
    let (bare, with_cookie) = (seen[0].clone(), seen[1].clone());
    assert!(bare[32..48] == [0; 16] && with_cookie[32..48] != [0; 16], "{seen:?}");
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    stranger.connect(agent.address()).expect("a connected socket");
    let wait = |ms| stranger.set_read_timeout(Some(Duration::from_millis(ms))).expect("a timeout");
    wait(200);
    let ask = |datagram: &[u8]| {
        let mut buffer = [0; 2048];
        stranger.send(datagram).expect("a datagram that leaves");
        let mut said = Vec::new();
        while let Ok(n) = stranger.recv(&mut buffer) {
            said.push(buffer[..n].to_vec());
            wait(200);
        }
        said
    };
    for (what, datagram) in [("without a cookie", &bare), ("with another's cookie", &with_cookie)] {
        // The answer to come may take longer on a busy machine; one too many would follow at once.
        wait(1500);
        let said = ask(datagram);
        assert!(said.len() == 1 && said[0].starts_with(b"HOPC"), "{what}: {said:?}");
        assert!(
            said[0].len() < datagram.len(),
            "{what}: {} bytes for {}",
            said[0].len(),
            datagram.len()
        );
    }
    // Data without a registration, and registrations that are not whole or not right.
    assert!(ask(&[7; 100]).is_empty());
    assert!(ask(&bare[..63]).is_empty());
    assert!(ask(&[&bare[..], &[0]].concat()).is_empty());
    for at in [16, 23, 31] {
        let mut forged = bare.clone();
        forged[at] ^= 1;
        assert!(ask(&forged).is_empty(), "a forged token, byte {at}");
    }
    let mut padded = bare.clone();
    padded[63] = 1;
    assert!(ask(&padded).is_empty(), "padding that is not zero");
    one(&client.finish());
    assert!(ask(&bare).is_empty() && ask(&with_cookie).is_empty(), "an answer after the run");
    assert_serves(&mut agent);
}

/// The client's control session goes silent while its flows are read on: the agent must end the
/// load by itself.
#[test]
fn load_stops_when_the_control_session_goes_silent() {
    let _turn = Turn::shared();
    let mut agent = Agent::guarded(&[]);
    let relay = Relay::to(agent.address());
    let (target, token) = (relay.target(), &agent.token);
    let flags = "--json -t 30s --direction from-server --rate 100Mbit";
    let line = format!("stream {target} --token {token} {flags}");
    let client = Running::start(&mut program(&words(&line)));
    assert!(
        until(5 * S, || (relay.sent_by_agent() > 1 << 20).then_some(())).is_some(),
        "no load came"
    );
    relay.withhold_control();
    let silent = clock::now();
    clock::sleep_until(silent + 2 * S);
    assert!(relay.last_bytes_ns() > silent + S, "load ended before the agent had reason to end it");
    clock::sleep_until(silent + PATIENCE);
    let last = relay.last_bytes_ns();
    assert!(last <= silent + PATIENCE - 200 * MS, "load went on");
    let stopped = relay.sent_by_agent();
    pause(500 * MS);
    assert_eq!(relay.sent_by_agent(), stopped, "load went on");
    drop(client);
    assert_serves(&mut agent);
}

/// The same with a client that was stopped: its flows stand still at once, and must be closed.
#[test]
fn flows_are_closed_when_the_client_is_stopped() {
    let mut agent = Agent::guarded(&[]);
    assert_serves(&mut agent);
    let before = (resident_bytes(agent.pid()), files(agent.pid()));
    let (target, token) = (agent.target(), &agent.token);
    let flags = "-c 8 -t 30s --direction from-server --rate 50Mbit";
    let line = format!("stream {target} --token {token} {flags}");
    let mut client = Running::start(&mut program(&words(&line)));
    assert!(
        until(5 * S, || (files(agent.pid()) >= before.1 + 8).then_some(())).is_some(),
        "no flows"
    );
    pause(500 * MS);
    client.signal("STOP");
    let stopped = clock::now();
    let closed = until(PATIENCE, || (files(agent.pid()) <= before.1).then(clock::now));
    let after = closed.unwrap_or_else(|| {
        panic!("{} files are open, {} were before", files(agent.pid()), before.1)
    });
    assert!(
        after - stopped >= 3 * S,
        "its flows were cut after {} ms, before there was reason to",
        (after - stopped) / MS
    );
    assert!(client.runs(), "the client was to be there, silent");
    drop(client);
    assert_stays_small(&agent, before);
    assert_serves(&mut agent);
}

/// Limits are the agent's, whatever a client asks.
#[test]
fn limits_are_enforced() {
    let agent =
        Agent::insecure(&["--max-flows", "4", "--max-duration", "2s", "--max-threads", "2"]);
    let measure = |flags: &[&str]| {
        run(program(&["stream", &agent.target(), "--insecure", "--json", "--warmup", "50ms"])
            .args(flags))
    };
    one(&measure(&["-t", "100ms", "-c", "4"]));
    let many = measure(&["-t", "100ms", "-c", "5"]);
    assert!(
        many.code == Some(3)
            && many.stderr.contains("4 flows")
            && many.stderr.contains("--max-flows"),
        "{}",
        many.story()
    );
    let threads = measure(&["-t", "100ms", "-c", "3", "--threads", "3"]);
    assert!(
        threads.code == Some(3)
            && threads.stderr.contains("2 worker threads")
            && threads.stderr.contains("--max-threads"),
        "{}",
        threads.story()
    );
    let long = measure(&["-t", "2s"]);
    assert!(
        long.code == Some(3)
            && long.stderr.contains("2s")
            && long.stderr.contains("--max-duration"),
        "{}",
        long.story()
    );
}

/// What nobody set has a bound all the same: threads everywhere, and where anybody may come also
/// flows and time.
#[test]
fn limits_have_defaults_and_an_insecure_agent_has_more_of_them() {
    let files = limits::raise_open_files(12_000).expect("the limit of open files");
    let cpus = hopbench_sys::cpu::allowed().expect("the CPUs of this process").len();
    let (guarded, insecure) = (Agent::guarded(&[]), Agent::insecure(&[]));
    let more = (4 * cpus + 1).to_string();
    let threads = ["rr", "-t", "50ms", "-c", &more, "--threads", &more];
    let flows = ["crr", "-t", "50ms", "-c", "10001"];
    let long = ["rr", "-t", "1h"];
    let asked = |agent: &Agent, job: &[&str]| {
        let (workload, flags) = job.split_first().expect("a workload");
        let mut command = program(&[*workload, &agent.target(), "--json", "--warmup", "20ms"]);
        match agent.token.as_str() {
            "" => command.arg("--insecure"),
            token => command.args(["--token", token]),
        };
        run(command.args(flags))
    };
    let most_threads = format!("{} worker threads", 4 * cpus);
    let of_threads = [most_threads.as_str(), "--max-threads"];
    for (agent, job, words) in [
        (&guarded, threads.as_slice(), of_threads),
        (&insecure, threads.as_slice(), of_threads),
        (&insecure, flows.as_slice(), ["10000 flows", "--max-flows"]),
        (&insecure, long.as_slice(), ["3600s", "--max-duration"]),
    ] {
        // Where a client cannot open so many at all, that is what it says.
        if job == flows && files < 12_000 {
            continue;
        }
        let refused = asked(agent, job);
        assert!(
            refused.code == Some(3) && words.iter().all(|word| refused.stderr.contains(word)),
            "{job:?}: {}",
            refused.story()
        );
    }
}
