//! Rates: what `tc` says of them, and what TCP gets.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::inside::{inside, is_inside};
use crate::oracle::{json, output};
use crate::pair::{B, joined};
use crate::turn::Turn;
use hopbench_lab::namespace::Namespace;
use hopbench_sys::clock;

const S: u64 = 1_000_000_000;
const MTU: u32 = 1500;
/// TCP payload of a full frame, and the frame as the kernel counts it: IP and TCP headers take 20
/// bytes each and the time stamps 12; an Ethernet header is 14.
const PAYLOAD_SHARE: f64 = (MTU - 52) as f64 / (MTU + 14) as f64;

#[test]
fn tc_shows_the_rate_that_was_set() {
    inside(|| {
        let (a, mut na, _b, _nb) = joined();
        for bits_per_s in
            [10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 40_000_000_000_u64]
        {
            na.shape("va", bits_per_s, MTU).unwrap();
            let seen = json(&a, "tc -s -j qdisc show dev va");
            let root = &seen[0];
            assert_eq!((&root["kind"], &root["root"]), (&"tbf".into(), &true.into()), "{seen}");
            assert_eq!(root["options"]["rate"], bits_per_s / 8, "{seen}");
            // A frame must fit, and what waits must not be dropped before a burst of it has gone.
            let burst = root["options"]["burst"].as_u64().unwrap();
            let limit = root["options"]["limit"]
                .as_u64()
                .or_else(|| root["options"]["lat"].as_u64())
                .unwrap();
            assert!(burst >= u64::from(MTU) + 18 && limit > 0, "{seen}");
            assert_eq!(na.rate("va").unwrap(), Some(bits_per_s));
            // What somebody made of it since is what counts.
            output(
                &a,
                "tc qdisc change dev va root handle 1: tbf rate 7mbit burst 100k limit 300k",
            );
            assert_eq!(na.rate("va").unwrap(), Some(7_000_000));
            let again = na.shape("va", bits_per_s, MTU).unwrap_err().to_string();
            assert!(
                again.starts_with(&format!(
                    "cannot limit link va to {bits_per_s} bits/s in namespace a: "
                )),
                "{again}"
            );
            output(&a, "tc qdisc del dev va root");
            assert_eq!(na.rate("va").unwrap(), None);
        }
    });
}

#[test]
fn tcp_gets_what_arithmetic_gives() {
    let _turn = (!is_inside()).then(Turn::alone);
    inside(|| {
        for bits_per_s in rates() {
            let (a, mut na, b, mut nb) = joined();
            na.shape("va", bits_per_s, MTU).unwrap();
            nb.shape("vb", bits_per_s, MTU).unwrap();
            let expected = bits_per_s as f64 * PAYLOAD_SHARE;
            // A machine that does other things may leave a window short of CPU, and make up for it
            // in the next one.
            let mut measured: Vec<f64> = vec![];
            while measured.len() < 5 && !measured.iter().any(|share| (share - 1.0).abs() < 0.02) {
                measured.push(payload_rate(&a, &b, 2 * S) / expected);
            }
            let _ = writeln!(
                std::io::stderr(),
                "{bits_per_s} bits/s: {measured:.4?} of what is expected"
            );
            assert!(
                measured.last().is_some_and(|share| (share - 1.0).abs() < 0.02),
                "{bits_per_s}: {measured:?}"
            );
            let dropped = na.counters("va").unwrap().tx_dropped;
            assert_eq!(dropped, 0, "one flow does not overflow the queue");
        }
    });
}

/// The rates to try: by default those that any machine carries.
fn rates() -> Vec<u64> {
    let given = std::env::var("HOPBENCH_LAB_TEST_RATES").unwrap_or_default();
    let given: Vec<u64> = given.split(',').filter_map(|rate| rate.parse().ok()).collect();
    if given.is_empty() { vec![10_000_000, 100_000_000, 1_000_000_000] } else { given }
}

/// Payload bits/s of one TCP flow, as its receiver sees them within a window of this length, after
/// a start of half a second.
fn payload_rate(from: &Namespace, to: &Namespace, window_ns: u64) -> f64 {
    let listener = to
        .run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port"))
        .expect("a way in");
    let port = listener.local_addr().expect("its address").port();
    let mut client =
        from.run(|| TcpStream::connect((B, port)).expect("a connection")).expect("a way in");
    let mut server = listener.accept().expect("a client").0;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let block = vec![0; 256 * 1024];
            while !stop.load(Ordering::Relaxed) {
                client.write_all(&block).expect("a reader");
            }
            client.shutdown(std::net::Shutdown::Write).expect("an open connection");
        });
        let mut buffer = vec![0; 1 << 20];
        let start = clock::now() + S / 2;
        while clock::now() < start {
            let _ = server.read(&mut buffer).expect("bytes");
        }
        let (begin, mut bytes) = (clock::now(), 0);
        while clock::now() < begin + window_ns {
            bytes += server.read(&mut buffer).expect("bytes");
        }
        let took_ns = clock::now() - begin;
        stop.store(true, Ordering::Relaxed);
        while server.read(&mut buffer).expect("bytes") > 0 {}
        bytes as f64 * 8.0 * S as f64 / took_ns as f64
    })
}

#[test]
fn delays_are_there_where_the_kernel_has_netem() {
    inside(|| {
        let (a, mut na, _b, mut nb) = joined();
        let known = output(
            &a,
            "if tc qdisc add dev lo root netem delay 1ms 2>/dev/null; then echo yes; else echo no; \
             fi",
        );
        let made = na.delay("va", 20_000_000);
        if known.trim() == "no" {
            let error = made.unwrap_err().to_string();
            assert!(
                error.starts_with("cannot delay link va by 20000000 ns in namespace a: "),
                "{error}"
            );
            assert!(error.contains("qdisc kind is unknown"), "{error}");
            return;
        }
        made.unwrap();
        let seen = json(&a, "tc -s -j qdisc show dev va");
        assert_eq!((&seen[0]["kind"], &seen[0]["root"]), (&"netem".into(), &true.into()), "{seen}");
        assert_eq!(seen[0]["options"]["delay"]["delay"], 0.02, "{seen}");
        // With a shaper: inside it.
        nb.shape("vb", 100_000_000, MTU).unwrap();
        nb.delay("vb", 20_000_000).unwrap();
        let begin = clock::now();
        output(&a, "ping -c 1 10.1.0.2");
        assert!(clock::now() - begin >= 40_000_000);
    });
}
