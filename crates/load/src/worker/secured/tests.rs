//! Flows over TLS against each other, without sockets.

use std::collections::VecDeque;
use std::sync::Arc;

use hopbench_model::{Fault, Nanos};
use proptest::prelude::*;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};

use super::*;
use crate::measure::recorder::Live;
use crate::measure::window::Window;

/// Asks with a message, and takes one of a size as the answer; so often on one connection.
struct Asker {
    message: Vec<u8>,
    sent: usize,
    answer: usize,
    got: Vec<u8>,
    rounds: u32,
    /// How it ended, once it has.
    ended: Option<Result<(), String>>,
}

impl Flow for Asker {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Connect
    }

    fn on(&mut self, event: Event<'_>, _now: Nanos, _out: &mut Recorder) -> Op {
        match event {
            Event::Connected => Op::Send,
            Event::Sent(n) => {
                self.sent += n;
                if self.sent < self.message.len() { Op::Send } else { Op::Recv(self.answer) }
            }
            Event::Received(bytes) => {
                self.got.extend_from_slice(bytes);
                if self.got.len() < self.answer {
                    return Op::Recv(self.answer - self.got.len());
                }
                self.rounds -= 1;
                self.sent = 0;
                if self.rounds > 0 {
                    self.got.clear();
                    return Op::Send;
                }
                self.ended = Some(Ok(()));
                Op::Disconnect
            }
            Event::Disconnected => Op::End,
            Event::Failed(error) => {
                self.ended = Some(Err(error.to_string()));
                Op::End
            }
            other => Op::Abort(Box::new(Fault::measuring(format!("{other:?}")))),
        }
    }

    fn outgoing(&self) -> &[u8] {
        &self.message[self.sent..]
    }
}

/// Takes messages of a size and answers each with as much of it, or with filler.
struct Answerer {
    message: usize,
    /// The length of an answer of filler; `None`: the message goes back.
    filler: Option<usize>,
    got: Vec<u8>,
    sent: usize,
    /// Whether what it sends should be whole packets.
    is_bulk: bool,
}

impl Answerer {
    fn next(&self) -> Op {
        match self.filler {
            Some(all) if self.sent < all => Op::SendFill(all - self.sent),
            None if self.sent < self.message => Op::Send,
            _ => Op::Recv(self.message),
        }
    }
}

impl Flow for Answerer {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Recv(self.message)
    }

    fn on(&mut self, event: Event<'_>, _now: Nanos, _out: &mut Recorder) -> Op {
        match event {
            Event::Received(bytes) => {
                if self.got.len() == self.message {
                    self.got.clear();
                }
                self.got.extend_from_slice(bytes);
                self.sent = 0;
                if self.got.len() < self.message {
                    return Op::Recv(self.message - self.got.len());
                }
                self.next()
            }
            Event::Sent(n) => {
                self.sent += n;
                self.next()
            }
            _ => Op::End,
        }
    }

    fn outgoing(&self) -> &[u8] {
        &self.got[self.sent..]
    }

    fn bulk_bytes(&self) -> Option<usize> {
        self.filler.filter(|_| self.is_bulk)
    }

    fn fit_packets(&mut self, _packet_bytes: usize) -> bool {
        self.is_bulk
    }
}

/// An end of a connection that no kernel has.
struct End<F> {
    flow: Layer<F>,
    op: Option<Op>,
    out: Recorder,
    /// What came for it, and whether more may come.
    inbox: VecDeque<u8>,
    is_open: bool,
    /// Whether it heard of the end by the connection, and not by what was said.
    was_cut: bool,
    /// The byte that is another one when it comes, and how many came.
    changed_at: Option<usize>,
    came: usize,
    /// The most bytes of one send.
    longest_send: usize,
}

impl<F: Flow> End<F> {
    fn new(flow: Layer<F>) -> Self {
        let window = Arc::new(Window::default());
        window.open(0, 0, Nanos::MAX);
        let out = Recorder::new(window, Arc::new(Live::default()), false);
        Self {
            flow,
            op: None,
            out,
            inbox: VecDeque::new(),
            is_open: true,
            was_cut: false,
            changed_at: None,
            came: 0,
            longest_send: 0,
        }
    }

    /// Does what the flow wants; what it sends goes to `peer`. Whether anything was done.
    fn step(&mut self, chunk: usize, peer: &mut (VecDeque<u8>, bool)) -> bool {
        let Some(op) = self.op.take() else { return false };
        let next = match &op {
            Op::Connect => self.flow.on(Event::Connected, 1, &mut self.out),
            Op::Send => {
                let bytes = self.flow.outgoing();
                self.longest_send = self.longest_send.max(bytes.len());
                let bytes = &bytes[..bytes.len().min(chunk)];
                assert!(!bytes.is_empty(), "it sends nothing");
                peer.0.extend(bytes);
                let sent = bytes.len();
                self.flow.on(Event::Sent(sent), 1, &mut self.out)
            }
            Op::Recv(most) => {
                let bytes: Vec<u8> =
                    self.inbox.drain(..self.inbox.len().min(chunk).min(*most)).collect();
                let mut bytes = bytes;
                let changed = self.changed_at.and_then(|at| at.checked_sub(self.came));
                if let Some(byte) = changed.and_then(|at| bytes.get_mut(at)) {
                    *byte ^= 1;
                }
                self.came += bytes.len();
                match (bytes.is_empty(), self.is_open) {
                    (false, _) => self.flow.on(Event::Received(&bytes), 1, &mut self.out),
                    (true, false) => {
                        self.was_cut = true;
                        self.flow.on(Event::Closed, 1, &mut self.out)
                    }
                    (true, true) => {
                        self.op = Some(op);
                        return false;
                    }
                }
            }
            Op::FinishSending => {
                peer.1 = false;
                self.flow.on(Event::FinishedSending, 1, &mut self.out)
            }
            Op::Disconnect => {
                peer.1 = false;
                self.flow.on(Event::Disconnected, 1, &mut self.out)
            }
            Op::End => {
                peer.1 = false;
                return false;
            }
            other => panic!("an unexpected {other:?}"),
        };
        self.op = Some(next);
        true
    }
}

/// Runs both ends until neither can go on. Each moves so many bytes at once.
fn pump<A: Flow, B: Flow>(client: &mut End<A>, server: &mut End<B>, chunks: &[usize]) {
    client.op = Some(client.flow.start(1));
    server.op = Some(server.flow.start(1));
    let mut chunks = chunks.iter().copied().cycle();
    for _ in 0..1_000_000 {
        let chunk = chunks.next().unwrap_or(usize::MAX);
        let mut to = (std::mem::take(&mut server.inbox), server.is_open);
        let client_moved = client.step(chunk, &mut to);
        (server.inbox, server.is_open) = to;
        let mut to = (std::mem::take(&mut client.inbox), client.is_open);
        let server_moved = server.step(chunk, &mut to);
        (client.inbox, client.is_open) = to;
        if !client_moved && !server_moved {
            return;
        }
    }
    panic!("it does not end");
}

/// A certificate in PEM, and a server that shows it.
fn server_of(name: &str) -> (String, TlsServer) {
    server_asking(name, None)
}

/// The same, which takes only clients with a certificate of this authority.
fn server_asking(name: &str, authority: Option<&rcgen::Certificate>) -> (String, TlsServer) {
    let own = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .unwrap();
    let builder = match authority {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der().clone()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let config = builder.with_single_cert(vec![own.cert.der().clone()], key.into()).unwrap();
    (
        own.cert.pem(),
        TlsServer {
            config: Arc::new(config),
            handshake_ns: 1_000_000,
            most_plain_bytes: MOST_PLAIN,
        },
    )
}

fn settings<'a>(name: &'a str, authorities: Option<&'a str>) -> TlsClientSettings<'a> {
    TlsClientSettings {
        cipher: None,
        name,
        authorities,
        trusts_anybody: authorities.is_none(),
        identity: None,
        version: None,
        resumes: true,
        protocols: &[],
        is_first_needed: false,
    }
}

fn asker(message: usize, answer: usize, rounds: u32) -> Asker {
    let message = (0..message).map(|i| (i * 31 % 251) as u8).collect();
    Asker { message, sent: 0, answer, got: Vec::new(), rounds, ended: None }
}

fn answerer(message: usize, filler: Option<usize>) -> Answerer {
    Answerer { message, filler, got: Vec::new(), sent: 0, is_bulk: false }
}

/// The ends of a connection after all was said.
type Said = (End<Asker>, End<Answerer>);

fn said(
    client: &TlsClient,
    server: &TlsServer,
    (asks, answers): (Asker, Answerer),
    chunks: &[usize],
) -> Said {
    let mut client = End::new(Layer::client(Some(client), asks));
    let mut server = End::new(Layer::accepted(Some(server), answers));
    pump(&mut client, &mut server, chunks);
    (client, server)
}

fn inner<F>(end: &End<F>) -> &F {
    match &end.flow {
        Layer::First(flow) => flow,
        Layer::Second(secured) => &secured.inner,
    }
}

fn extra<F>(end: &End<F>, name: &str) -> f64 {
    end.out.tallies().2.get(name).copied().unwrap_or(0.0)
}

#[test]
fn what_is_said_arrives_in_both_versions() {
    let (pem, server) = server_of("h.test");
    for version in ["1.2", "1.3"] {
        let settings =
            TlsClientSettings { version: Some(version), ..settings("h.test", Some(&pem)) };
        let client = settings.client().unwrap();
        let flows = (asker(70_000, 70_000, 3), answerer(70_000, None));
        let (client, server) = said(&client, &server, flows, &[usize::MAX]);
        assert_eq!(inner(&client).ended, Some(Ok(())), "TLS {version}");
        assert_eq!(inner(&client).got, inner(&client).message, "TLS {version}");
        assert!(!server.was_cut, "the end was not announced in TLS {version}");
        assert_eq!((extra(&client, HANDSHAKES), extra(&server, HANDSHAKES)), (1.0, 1.0));
        let handshakes = client.out.histograms().find(|(kind, _)| *kind == LatencyKind::Tls);
        assert_eq!(handshakes.map(|(_, histogram)| histogram.count()), Some(1));
    }
}

/// Four records of 65 160 B on the wire are one packet of 45 segments.
#[test]
fn what_is_encrypted_at_once_fills_a_packet_for_flows_that_want_it() {
    const PACKET: usize = 65_160;
    let (pem, server) = server_of("h.test");
    for (version, cipher, beyond) in [
        ("1.3", "aes-128-gcm", 22),
        ("1.2", "aes-128-gcm", 29),
        ("1.2", "chacha20-poly1305", 21),
        ("1.3", "chacha20-poly1305", 22),
    ] {
        for (is_bulk, longest) in [(true, PACKET), (false, MOST_PLAIN + 4 * beyond)] {
            let settings = TlsClientSettings {
                version: Some(version),
                cipher: Some(cipher),
                ..settings("h.test", Some(&pem))
            };
            let client = settings.client().unwrap();
            let answers = Answerer { is_bulk, ..answerer(10, Some(1 << 20)) };
            let mut client = End::new(Layer::client(Some(&client), asker(10, 1 << 20, 1)));
            let mut server = End::new(Layer::accepted(Some(&server), answers));
            // As an event loop does before anything of the handshake came.
            assert_eq!(server.flow.bulk_bytes().is_some(), is_bulk);
            server.flow.fit_packets(PACKET);
            pump(&mut client, &mut server, &[usize::MAX]);
            assert_eq!(inner(&client).ended, Some(Ok(())), "{cipher}");
            assert_eq!(server.longest_send, longest, "{cipher} in TLS {version}: {is_bulk}");
        }
    }
}

#[test]
fn a_server_must_be_whom_it_says_and_known() {
    let (pem, server) = server_of("h.test");
    let (other, _) = server_of("h.test");
    let ended = |settings: TlsClientSettings<'_>| {
        let flows = (asker(10, 10, 1), answerer(10, None));
        let (client, server) = said(&settings.client().unwrap(), &server, flows, &[100]);
        assert_eq!(
            extra(&server, HANDSHAKES) as u32,
            u32::from(inner(&client).ended == Some(Ok(())))
        );
        inner(&client).ended.clone().unwrap()
    };
    assert_eq!(ended(settings("h.test", Some(&pem))), Ok(()));
    let wrong_name = ended(settings("other.test", Some(&pem))).unwrap_err();
    assert!(wrong_name.contains("TLS: invalid peer certificate"), "{wrong_name}");
    let unknown = ended(settings("h.test", Some(&other))).unwrap_err();
    assert!(unknown.contains("TLS: invalid peer certificate"), "{unknown}");
    assert_eq!(ended(settings("other.test", None)), Ok(()), "it trusts anybody");
}

#[test]
fn sessions_are_resumed_unless_they_must_not_be() {
    let (pem, server) = server_of("h.test");
    for (version, resumes) in [("1.2", true), ("1.3", true), ("1.2", false), ("1.3", false)] {
        let settings =
            TlsClientSettings { version: Some(version), resumes, ..settings("h.test", Some(&pem)) };
        let client = settings.client().unwrap();
        let resumed = |client: &TlsClient| {
            let flows = (asker(10, 10, 1), answerer(10, None));
            extra(&said(client, &server, flows, &[usize::MAX]).0, RESUMED) as u32
        };
        assert_eq!(resumed(&client), 0, "the first one");
        assert_eq!(resumed(&client), u32::from(resumes), "TLS {version}");
        assert_eq!(resumed(&client.apart()), 0, "another thread knows nothing of it");
    }
}

#[test]
fn a_server_gets_the_certificate_that_it_asks_for() {
    let own = rcgen::generate_simple_self_signed(["c.test".to_owned()]).unwrap();
    let (pem, key) = (own.cert.pem(), own.signing_key.serialize_pem());
    let of_authority = server_asking("h.test", Some(&own.cert)).1;
    let of_anybody = server_of("h.test").1.asking().unwrap();
    for server in [&of_authority, &of_anybody] {
        takes_who_shows_a_certificate(server, &pem, &key);
    }
}

fn takes_who_shows_a_certificate(server: &TlsServer, pem: &str, key: &str) {
    let ended = |client: &TlsClient| {
        let flows = (asker(10, 10, 1), answerer(10, None));
        let (client, _) = said(client, server, flows, &[usize::MAX]);
        (inner(&client).ended.clone().unwrap(), extra(&client, RESUMED) as u32)
    };
    for (version, resumes) in [("1.2", true), ("1.3", true), ("1.2", false), ("1.3", false)] {
        let bare =
            TlsClientSettings { version: Some(version), resumes, ..settings("h.test", None) };
        let identity = Some(Identity { certificates: pem, key });
        let client = TlsClientSettings { identity, ..bare }.client().unwrap();
        assert_eq!(ended(&client), (Ok(()), 0), "TLS {version}");
        assert_eq!(ended(&client), (Ok(()), u32::from(resumes)), "TLS {version}");
        assert_eq!(ended(&client.apart()), (Ok(()), 0), "TLS {version}");
        let why = ended(&bare.client().unwrap()).0.unwrap_err();
        assert_eq!(why, "TLS: received fatal alert: CertificateRequired", "TLS {version}");
    }
}

/// What a server says to these bytes, and whether it goes on.
fn told(bytes: &[u8]) -> (Vec<u8>, bool) {
    let (_, server) = server_of("h.test");
    let mut server = End::new(Layer::accepted(Some(&server), answerer(10, None)));
    server.op = Some(server.flow.start(1));
    server.inbox.extend(bytes);
    let mut told = (VecDeque::new(), true);
    while server.step(usize::MAX, &mut told) {}
    (told.0.into(), told.1)
}

/// The first record of a client.
fn hello() -> Vec<u8> {
    let (pem, _) = server_of("h.test");
    let client = settings("h.test", Some(&pem)).client().unwrap();
    let mut client = End::new(Layer::client(Some(&client), asker(10, 10, 1)));
    client.op = Some(client.flow.start(1));
    let mut said = (VecDeque::new(), true);
    while client.step(usize::MAX, &mut said) {}
    said.0.into()
}

#[test]
fn garbage_ends_a_handshake_with_an_alert() {
    let whole = hello();
    assert!(told(&whole).1, "it waits for the client");
    // A byte of another message in the same record.
    let mut longer = whole.clone();
    longer.push(1);
    let length = u16::from_be_bytes([whole[3], whole[4]]) + 1;
    longer[3..5].copy_from_slice(&length.to_be_bytes());
    for (what, bytes) in [("HTTP", &b"GET / HTTP/1.1\r\n\r\n"[..]), ("a byte too many", &longer)] {
        let (said, goes_on) = told(bytes);
        assert!(!goes_on, "{what}");
        assert_eq!(said.first(), Some(&21), "{what}: no alert in {said:?}");
    }
}

#[test]
fn a_message_of_many_small_records_is_not_kept() {
    // A ClientHello of 65 535 bytes, of which each comes in a record of its own.
    let mut bytes = vec![22, 3, 1, 0, 4, 1, 0, 0xff, 0xff];
    (0..30_000).for_each(|_| bytes.extend([22, 3, 1, 0, 1, 0]));
    let (_, goes_on) = told(&bytes);
    assert!(!goes_on, "{} bytes are kept", bytes.len());
}

#[test]
fn a_record_that_was_changed_ends_the_connection() {
    let (pem, server) = server_of("h.test");
    for version in ["1.2", "1.3"] {
        let settings =
            TlsClientSettings { version: Some(version), ..settings("h.test", Some(&pem)) };
        let client = settings.client().unwrap();
        let mut client = End::new(Layer::client(Some(&client), asker(10, 50_000, 1)));
        let mut server = End::new(Layer::accepted(Some(&server), answerer(10, Some(50_000))));
        client.changed_at = Some(20_000);
        pump(&mut client, &mut server, &[usize::MAX]);
        let why = inner(&client).ended.clone().unwrap().unwrap_err();
        assert!(why.contains("TLS: cannot decrypt"), "TLS {version}: {why}");
        assert!(!server.was_cut, "the server was not told in TLS {version}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// However a network cuts the records, and whatever the sizes of messages are.
    #[test]
    fn any_cut_of_the_records_gives_the_same(
        message in 1_usize..40_000,
        filler in proptest::option::of(1_usize..200_000),
        rounds in 1_u32..3,
        chunks in proptest::collection::vec(1_usize..9_000, 1..8),
        is_old: bool,
    ) {
        let (pem, server) = server_of("h.test");
        let version = Some(if is_old { "1.2" } else { "1.3" });
        let settings = TlsClientSettings { version, ..settings("h.test", Some(&pem)) };
        let client = settings.client().unwrap();
        let flows = (asker(message, filler.unwrap_or(message), rounds), answerer(message, filler));
        let (client, server) = said(&client, &server, flows, &chunks);
        prop_assert_eq!(&inner(&client).ended, &Some(Ok(())));
        prop_assert_eq!(inner(&client).got.len(), filler.unwrap_or(message));
        if filler.is_none() {
            prop_assert_eq!(&inner(&client).got, &inner(&client).message);
        }
        prop_assert!(!server.was_cut);
    }
}
