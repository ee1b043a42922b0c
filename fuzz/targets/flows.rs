//! First bytes of connections, first records of TLS, flow headers and UDP registrations.
#![no_main]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hopbench_wire::udp::{self, CookieJar, RegistrationReply};
use hopbench_wire::{
    ClientHello, FLOW_HEADER_BYTES, First, FlowHeader, FlowKey, FlowLedger, MOST_FIRST_BYTES,
    Token, classify,
};
use libfuzzer_sys::fuzz_target;

const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4242);
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn first(input: &[u8]) {
    let verdict = classify(input);
    assert!(verdict != First::NeedMore || input.len() < MOST_FIRST_BYTES);
    // What is known stays known, whatever follows.
    for end in 0..input.len().min(MOST_FIRST_BYTES) {
        let earlier = classify(&input[..end]);
        assert!(earlier == First::NeedMore || earlier == verdict);
    }
}

fn hello(input: &[u8]) {
    let Some(hello) = ClientHello::read(input) else { return };
    let offered: usize = hello.protocols().map(|protocol| protocol.len() + 1).sum();
    assert!(offered < input.len() && (offered == 0 || hello.names_somebody()));
    // What follows its first record changes nothing.
    let longer = [input, b"more"].concat();
    assert_eq!(ClientHello::read(&longer), Some(hello));
}

fn header(bytes: &[u8; FLOW_HEADER_BYTES], key: &FlowKey) {
    let Ok((header, token)) = FlowHeader::parse(bytes) else { return };
    let ours = header.encode(key);
    assert_eq!(ours[..16], bytes[..16], "one header has one form");
    assert_eq!(key.verify(&header, &token), ours[16..] == bytes[16..]);
    assert!(!key.verify(&header, &Token([0; 16])) || ours[16..] == [0; 16]);
    let mut ledger = FlowLedger::default();
    let claimed = ledger.claim(header.flow);
    assert!(!(claimed && ledger.claim(header.flow)), "a flow number was used twice");
}

fn registration(datagram: &[u8], key: &FlowKey, jar: &CookieJar) {
    match udp::answer(datagram, PEER, LOCAL, |_| Some(key), jar) {
        RegistrationReply::Ignore => {}
        RegistrationReply::Challenge(answer) => {
            assert!(answer.len() < datagram.len(), "amplification")
        }
        RegistrationReply::Accept(header, answer) => {
            assert!(answer.len() < datagram.len(), "amplification");
            let cookie = jar.cookie(PEER, LOCAL, &header);
            assert_eq!(datagram, udp::register(&header, key, &cookie));
        }
    }
    // Nobody is answered under a key that the datagram was not made with.
    let other = FlowKey::new([0xa5; 32]);
    assert_eq!(
        udp::answer(datagram, PEER, LOCAL, |_| Some(&other), jar),
        RegistrationReply::Ignore
    );
    let _ = udp::ServerReply::parse(datagram);
}

fuzz_target!(|input: &[u8]| {
    let (key, jar) = (FlowKey::new([7; 32]), CookieJar::new([9; 32]));
    first(input);
    hello(input);
    registration(input, &key, &jar);
    let Some(bytes) = input.first_chunk() else { return };
    header(bytes, &key);
    // The same with the right token, which no fuzzer guesses: registrations with and without the
    // right cookie.
    if let Ok((header, _)) = FlowHeader::parse(bytes) {
        let rest = &input[FLOW_HEADER_BYTES..];
        let cookie = match rest.first_chunk() {
            Some(cookie) => *cookie,
            None => jar.cookie(PEER, LOCAL, &header),
        };
        let mut datagram = udp::register(&header, &key, &cookie).to_vec();
        registration(&datagram, &key, &jar);
        datagram.extend_from_slice(rest);
        registration(&datagram, &key, &jar);
    }
});
