use proptest::prelude::*;

use super::*;
use crate::flow::{Direction, WorkloadCode};

const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

fn header() -> FlowHeader {
    let workload = WorkloadCode::from_code(5).unwrap();
    FlowHeader { workload, direction: Direction::ToServer, kind: FlowKind::Udp, run: 11, flow: 12 }
}

fn peer() -> SocketAddr {
    "198.51.100.7:4000".parse().unwrap()
}

struct Server {
    key: FlowKey,
    jar: CookieJar,
}

impl Server {
    fn new() -> Self {
        Self { key: FlowKey::new([1; 32]), jar: CookieJar::new([2; 32]) }
    }

    fn hears(&self, datagram: &[u8], from: SocketAddr) -> RegistrationReply {
        answer(datagram, from, LOCAL, |run| (run == 11).then_some(&self.key), &self.jar)
    }

    fn challenge(&self, header: &FlowHeader, from: SocketAddr) -> Cookie {
        let RegistrationReply::Challenge(bytes) =
            self.hears(&register(header, &self.key, &NO_COOKIE), from)
        else {
            panic!("not challenged");
        };
        match ServerReply::parse(&bytes) {
            Some(ServerReply::Challenge { run: 11, flow, cookie }) if flow == header.flow => cookie,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_client_that_receives_is_accepted_again_and_again() {
    let server = Server::new();
    let cookie = server.challenge(&header(), peer());
    for _ in 0..2 {
        let RegistrationReply::Accept(accepted, bytes) =
            server.hears(&register(&header(), &server.key, &cookie), peer())
        else {
            panic!("not accepted");
        };
        assert_eq!(accepted, header());
        assert_eq!(ServerReply::parse(&bytes), Some(ServerReply::Accepted { run: 11, flow: 12 }));
    }
}

#[test]
fn a_cookie_is_for_one_address_and_one_flow() {
    let server = Server::new();
    let cookie = server.challenge(&header(), peer());
    let datagram = register(&header(), &server.key, &cookie);
    for other in ["198.51.100.7:4001", "198.51.100.8:4000", "[2001:db8::7]:4000"] {
        let verdict = server.hears(&datagram, other.parse().unwrap());
        assert!(matches!(verdict, RegistrationReply::Challenge(_)), "{other}: {verdict:?}");
    }
    let other = FlowHeader { flow: 13, ..header() };
    let verdict = server.hears(&register(&other, &server.key, &cookie), peer());
    assert!(matches!(verdict, RegistrationReply::Challenge(_)), "{verdict:?}");
    let elsewhere = "192.0.2.2".parse().unwrap();
    let verdict = answer(&datagram, peer(), elsewhere, |_| Some(&server.key), &server.jar);
    assert!(matches!(verdict, RegistrationReply::Challenge(_)), "{verdict:?}");
}

#[test]
fn without_a_token_there_is_no_answer() {
    let server = Server::new();
    let cookie = server.challenge(&header(), peer());
    let good = register(&header(), &server.key, &cookie);
    let silent = |datagram: &[u8]| {
        assert_eq!(server.hears(datagram, peer()), RegistrationReply::Ignore, "{datagram:?}");
    };
    silent(&register(&header(), &FlowKey::new([3; 32]), &cookie));
    silent(&register(&FlowHeader { run: 10, ..header() }, &server.key, &cookie));
    silent(&register(&FlowHeader { kind: FlowKind::Tcp, ..header() }, &server.key, &cookie));
    for length in 0..good.len() {
        silent(&good[..length]);
    }
    silent(&[&good[..], &[0]].concat());
    for bit in (0..256).chain(COOKIE_END * 8..REGISTER_BYTES * 8) {
        let mut bad = good;
        bad[bit / 8] ^= 1 << (bit % 8);
        silent(&bad);
    }
}

#[test]
fn a_mapped_address_is_the_address_it_maps() {
    let server = Server::new();
    let cookie = server.challenge(&header(), peer());
    let datagram = register(&header(), &server.key, &cookie);
    let verdict = answer(
        &datagram,
        "[::ffff:198.51.100.7]:4000".parse().unwrap(),
        "::ffff:192.0.2.1".parse().unwrap(),
        |_| Some(&server.key),
        &server.jar,
    );
    assert!(matches!(verdict, RegistrationReply::Accept(..)), "{verdict:?}");
}

#[test]
fn answers_are_read_whole_or_not_at_all() {
    let server = Server::new();
    let RegistrationReply::Challenge(bytes) =
        server.hears(&register(&header(), &server.key, &NO_COOKIE), peer())
    else {
        panic!("not challenged");
    };
    for length in 0..bytes.len() {
        assert_eq!(ServerReply::parse(&bytes[..length]), None, "{length} bytes");
    }
    assert_eq!(ServerReply::parse(&[&bytes[..], &[0]].concat()), None);
    assert_eq!(ServerReply::parse(&register(&header(), &server.key, &NO_COOKIE)), None);
}

proptest! {
    #[test]
    fn random_bytes_get_no_answer(datagram in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(Server::new().hears(&datagram, peer()), RegistrationReply::Ignore);
    }

    #[test]
    fn only_the_right_cookie_is_accepted(cookie in any::<Cookie>(), bit in 0usize..128) {
        let server = Server::new();
        let right = server.challenge(&header(), peer());
        let mut near = right;
        near[bit / 8] ^= 1 << (bit % 8);
        for cookie in [cookie, near] {
            let verdict = server.hears(&register(&header(), &server.key, &cookie), peer());
            prop_assert!(matches!(verdict, RegistrationReply::Challenge(_)), "{:?}", verdict);
        }
    }
}
