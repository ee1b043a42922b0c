//! Admission at the port: token holders and expected flows get in while strangers stand there.

mod flood;
mod relay;

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use crate::flows::{self, healthy, is_closed, welcomed};
use crate::session::{Conductor, job, key, options, prepare, server};
use crate::{alone, shared};
use flood::{Flood, connect_from};
use hopbench_agent::{Limits, Options, Server, hello};
use hopbench_control::secret::Secret;
use hopbench_control::{Channel, tls};
use hopbench_model::{Job, Nanos, SECOND, Timing};
use hopbench_sys::clock;
use hopbench_wire::{FLOW_ACCEPTED, FlowKind, FromAgent, Role, ToAgent};
use relay::Relay;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use serde_json::json;

const MS: Nanos = 1_000_000;
/// Strangers and those who belong here come from different addresses, unless a test says otherwise.
const STRANGER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const OURS: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Whether a handshake through `way` comes to its end, the agent's hello included.
fn gets_in(way: SocketAddr) -> bool {
    let Ok(stream) = TcpStream::connect_timeout(&way, Duration::from_secs(5)) else { return false };
    let mut channel =
        Channel::open(stream, tls::client_config(&Secret::insecure()).unwrap()).unwrap();
    channel.send(&ToAgent::Hello(hello())).is_ok()
        && matches!(
            channel.receive_until::<FromAgent>(clock::now() + 5 * SECOND),
            Ok(Some(FromAgent::Hello(_)))
        )
}

/// What a client of ours says first: a whole TLS record.
fn client_hello() -> Vec<u8> {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut channel =
        Channel::open_forwarded(ours, tls::client_config(&Secret::insecure()).unwrap()).unwrap();
    // Only the beginning of it leaves: the rest needs an answer.
    assert!(channel.send_now(&ToAgent::Ping).is_err());
    let mut record = vec![0; 16 << 10];
    let got = theirs.read(&mut record).unwrap();
    record.truncate(got);
    assert_eq!(got, 5 + usize::from(u16::from_be_bytes([record[3], record[4]])), "one record");
    record
}

/// What a client of the HTTP target says first over TLS: it names a server.
fn https_hello() -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from("agent.test").unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut record = Vec::new();
    client.write_tls(&mut record).unwrap();
    record
}

/// Whether the agent has closed a connection, behind what it said on it.
fn is_over(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    loop {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
}

/// Handshakes that are not gone on with, at a target that others are connected to.
#[test]
fn handshakes_of_one_source_leave_room_for_others() {
    let _alone = alone();
    let server = Server::start(&Options { http: true, ..options(Limits::default()) }).unwrap();
    let agent = server.address();
    let (hello, began) = (https_hello(), clock::now());
    let shakes = |from| {
        let mut stream = connect_from(from, agent).unwrap();
        stream.write_all(&hello).unwrap();
        stream
    };
    // Where it is alone, it may have as many as there are places.
    let mut strangers: Vec<TcpStream> = (0..520).map(|_| shakes(STRANGER)).collect();
    let answered = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut first = [0];
        // A record of a handshake.
        stream.read_exact(&mut first).is_ok_and(|()| first == [22])
    };
    assert!(strangers.iter_mut().all(answered), "it was alone");
    assert!(!strangers.iter_mut().any(is_over), "it was alone");
    let mut other = healthy(agent).unwrap();
    strangers.extend((0..200).map(|_| shakes(STRANGER)));
    assert!(answered(&mut shakes(OURS)), "another source was kept out");
    let give_up = clock::now() + 10 * SECOND;
    let mut open = 720;
    while open > 520 && clock::now() < give_up {
        clock::sleep_until(clock::now() + 50 * MS);
        open = strangers.iter_mut().map(|stream| usize::from(!is_over(stream))).sum();
    }
    // Each newcomer took the place of one: half of the 1024 places were taken, and 520 were more
    // than its quarter already. After 10 s their time is over.
    let is_late = clock::now() - began > 9 * SECOND;
    assert!(open == 520 || open < 520 && is_late, "{open} handshakes of one source");
    assert!(!is_over(&mut other), "another source was displaced");
}

/// What strangers say of themselves, from nothing to all that they can say without the token.
fn sayings() -> [(&'static str, Vec<u8>); 4] {
    let hello = client_hello();
    [
        ("nothing", Vec::new()),
        ("half a flow header", b"HOPB\x01\x01\x00".to_vec()),
        ("half a ClientHello", hello[..11].to_vec()),
        ("a whole ClientHello and no more", hello),
    ]
}

/// 1000 strangers at once, and up to a thousand more each second, at a tenth of a second's delay
/// each way.
#[test]
fn strangers_break_no_handshake_whatever_they_say() {
    let _alone = alone();
    let server = server(Limits::default());
    let way = Relay::to(server.address(), 100 * MS);
    for (what, words) in sayings() {
        let flood = Flood::start(server.address(), STRANGER, words, 1000, 100);
        for n in 0..3 {
            assert!(
                gets_in(way.address),
                "{what}: handshake {n} was broken after {} strangers",
                flood.came()
            );
        }
        assert!(flood.came() > 1300, "{what}: only {} strangers came", flood.came());
    }
}

/// The same where everybody has one address, as behind a port-forward: 200 of them come in the
/// middle of each handshake.
#[test]
fn strangers_of_the_same_address_break_none_either() {
    let _alone = alone();
    let server = server(Limits::default());
    let way = Relay::to(server.address(), 100 * MS);
    for (what, words) in sayings() {
        let mut strangers = Vec::new();
        for n in 0..3 {
            let address = way.address;
            let handshake = std::thread::spawn(move || gets_in(address));
            // Its first words have come, its last have not.
            clock::sleep_until(clock::now() + 250 * MS);
            for _ in 0..200 {
                let mut stranger = connect_from(OURS, server.address()).unwrap();
                // Whoever was displaced meanwhile is not there any more.
                let _ = stranger.write_all(&words);
                strangers.push(stranger);
            }
            assert!(handshake.join().unwrap(), "{what}: handshake {n} was broken");
        }
    }
}

/// The flows of a run come all at once from one address, and say who they are a while later.
#[test]
fn a_burst_of_flows_that_a_run_expects_is_not_cut() {
    const FLOWS: u32 = 5000;
    let _alone = alone();
    let server = server(Limits::default());
    let mut conductor = Conductor::of(&server);
    conductor.send(&prepare(Role::Server, Job { connections: FLOWS, ..job() }));
    assert!(matches!(conductor.answer(10), Some(FromAgent::Ready { .. })));
    // Strangers elsewhere displace none of them.
    let flood = Flood::start(server.address(), STRANGER, Vec::new(), 1500, 100);
    let mut streams: Vec<TcpStream> =
        (0..FLOWS).map(|_| connect_from(OURS, server.address()).unwrap()).collect();
    clock::sleep_until(clock::now() + 500 * MS);
    for (flow, stream) in streams.iter_mut().enumerate() {
        let header = flows::header("rr", FlowKind::Tcp, 7, flow as u32);
        stream.write_all(&header.encode(&key())).unwrap();
        if flow % 500 == 0 {
            conductor.send(&ToAgent::Ping);
        }
    }
    let welcome = |mut stream: &TcpStream| {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut said = [0; FLOW_ACCEPTED.len()];
        stream.read_exact(&mut said).is_ok_and(|()| said == FLOW_ACCEPTED)
    };
    let in_all = streams.iter().filter(|stream| welcome(stream)).count();
    assert_eq!(in_all, FLOWS as usize, "{} strangers came", flood.came());
}

/// An HTTP client opens its connections before the load begins, and may need some of them late.
#[test]
fn connections_of_an_http_trial_may_rest_and_strangers_may_not() {
    let _shared = shared();
    let server = server(Limits::default());
    let resting = connect_from(OURS, server.address()).unwrap();
    clock::sleep_until(clock::now() + 5500 * MS);
    assert!(is_closed(&resting), "nobody expected it");
    let mut conductor = Conductor::of(&server);
    let timing = Timing { window_ns: 60 * SECOND, ..job().timing };
    let params = json!({"url": format!("http://{}/", server.address())});
    conductor.send(&prepare(
        Role::Server,
        Job { workload: "http".to_owned(), params: params.into(), timing, ..job() },
    ));
    assert!(matches!(conductor.answer(10), Some(FromAgent::Ready { .. })));
    let resting = connect_from(OURS, server.address()).unwrap();
    assert!(conductor.answer(7).is_none());
    assert!(!is_closed(&resting), "it was cut while its trial went on");
    conductor.send(&ToAgent::Abort);
    conductor.refusal(5);
    let give_up = clock::now() + 7 * SECOND;
    while !is_closed(&resting) {
        assert!(clock::now() < give_up, "it outlives its trial");
        clock::sleep_until(clock::now() + 50 * MS);
    }
}

/// Whoever has the token and does nothing with it makes room for others who have it; a trial is
/// left alone.
#[test]
fn a_full_agent_drops_the_session_that_was_idle_the_longest() {
    let _alone = alone();
    let server = server(Limits::default());
    let mut working = Conductor::of(&server);
    working.send(&prepare(Role::Server, job()));
    assert!(matches!(working.answer(5), Some(FromAgent::Ready { .. })));
    let mut idle: Vec<Conductor> = Vec::new();
    while idle.len() < 127 {
        idle.push(Conductor::of(&server));
        // A busy machine takes seconds for all these handshakes, and who is silent is cut.
        if idle.len().is_multiple_of(16) {
            for conductor in idle.iter_mut().chain([&mut working]) {
                assert!(conductor.lives(), "there was room for all of them");
            }
        }
    }
    let mut newcomer = Conductor::of(&server);
    assert!(!idle[0].lives(), "the longest idle had to go");
    for (who, conductor) in [
        ("the last but one", &mut idle[1]),
        ("one with a trial", &mut working),
        ("the newcomer", &mut newcomer),
    ] {
        assert!(conductor.lives(), "{who} had to go");
    }
    let header = flows::header("rr", FlowKind::Tcp, 7, 0);
    assert!(welcomed(server.address(), &header).is_some(), "its trial goes on");
}

/// A frame that never ends is silence as any other, and one that is too long for a hello is refused
/// by its length.
#[test]
fn a_peer_that_trickles_a_frame_is_cut() {
    let _shared = shared();
    let server = server(Limits::default());
    let (mut channel, mut raw) = session_over_pipe(server.address());
    channel.send(&ToAgent::Hello(hello())).unwrap();
    assert!(matches!(
        channel.receive_until(clock::now() + 5 * SECOND),
        Ok(Some(FromAgent::Hello(_)))
    ));
    // A message of 8 kB, of which a record is let through now and then.
    raw.trickle();
    let mut silent = Conductor::of(&server);
    let before = clock::now();
    drop(
        channel.send_now(&ToAgent::Hello(hopbench_wire::Hello {
            version: "x".repeat(8000),
            ..hello()
        })),
    );
    while !raw.is_over() && clock::now() < before + 10 * SECOND {
        clock::sleep_until(clock::now() + 20 * MS);
    }
    let took = clock::now() - before;
    assert!((4 * SECOND..8 * SECOND).contains(&took), "it was cut after {} ms", took / MS);
    clock::sleep_until(before + 6 * SECOND);
    assert!(!silent.lives(), "whoever says hello and no more was kept");

    let (mut channel, raw) = session_over_pipe(server.address());
    let before = clock::now();
    drop(
        channel.send(&ToAgent::Hello(hopbench_wire::Hello {
            version: "x".repeat(1 << 20),
            ..hello()
        })),
    );
    while !raw.is_over() && clock::now() < before + 10 * SECOND {
        clock::sleep_until(clock::now() + 20 * MS);
    }
    assert!(clock::now() < before + 4 * SECOND, "a hello of 1 MiB was waited for");
}

/// A session whose bytes cross this process, which can slow them down.
fn session_over_pipe(agent: SocketAddr) -> (Channel, relay::Pipe) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let channel =
        Channel::open_forwarded(ours, tls::client_config(&Secret::insecure()).unwrap()).unwrap();
    (channel, relay::Pipe::between(theirs, TcpStream::connect(agent).unwrap()))
}
