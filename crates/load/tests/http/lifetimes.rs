//! Connections that end.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hopbench_model::{Counter, Job, Schedule};
use serde_json::json;

use crate::peers::{Peer, SMALL};
use crate::rig::{MS, Running, run_client, until};
use crate::{engines, job, run};

#[test]
fn connections_have_the_local_addresses_in_turn() {
    let locals = [2, 3, 4].map(|last| IpAddr::from([127, 0, 0, last]));
    for job in engines(&job(json!({}))) {
        let clients = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&clients);
        let peer = Peer::start(move |mut connection| {
            // The connection ahead of the trial asks nothing.
            if connection.request() {
                seen.lock().unwrap().push(connection.client());
                connection.write(SMALL);
                while connection.request() {
                    connection.write(SMALL);
                }
            }
        });
        let mut job = Job { connections: 6, local_addresses: locals.to_vec(), ..job };
        job.params["url"] = json!(peer.url());
        let measured = run(&job, peer.address);
        assert_eq!(json!(measured.client.errors), json!({}), "{}", job.engine);
        let mut clients = clients.lock().unwrap().clone();
        clients.sort();
        let twice: Vec<IpAddr> = locals.iter().flat_map(|local| [*local, *local]).collect();
        assert_eq!(clients, twice, "{}", job.engine);
    }
}

#[test]
fn a_local_address_that_cannot_be_used_is_named() {
    let peer = Peer::start(|mut connection| connection.read_to_end());
    for (address, expected) in [
        ("::1", "found `::1`, expected an address of IPv4"),
        ("192.0.2.1", "local address 192.0.2.1: Cannot assign requested address"),
    ] {
        let mut job = Job { local_addresses: vec![address.parse().unwrap()], ..job(json!({})) };
        job.params["url"] = json!(peer.url());
        let fault = run_client(&job, peer.address).err().map(|fault| fault.to_string());
        assert!(fault.as_ref().is_some_and(|said| said.contains(expected)), "{fault:?}");
    }
}

#[test]
fn a_connection_closed_at_rest_costs_no_request() {
    for job in engines(&job(json!({}))) {
        let answered = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&answered);
        // Closes after every 10 requests and does not say so.
        let peer = Peer::start(move |mut connection| {
            for _ in 0..10 {
                if !connection.request() {
                    return;
                }
                count.fetch_add(1, Ordering::AcqRel);
                connection.write(SMALL);
            }
        });
        let mut job = job;
        job.params["url"] = json!(peer.url());
        // Long enough for some dozen requests on each connection, on a busy machine too.
        job.timing.window_ns = 300 * MS;
        let seen = run(&job, peer.address);
        assert_eq!(json!(seen.client.errors), json!({}), "{}", job.engine);
        assert_eq!(
            seen.client(Counter::Completed),
            answered.load(Ordering::Acquire),
            "{}",
            job.engine
        );
        let reconnects = seen.figures().metrics["reconnects"];
        assert!(reconnects >= 1.0, "{reconnects} with {} answers", seen.client(Counter::Completed));
        // Every connection but the first four replaced one; the last ones may have been replaced
        // behind the window.
        let replaced = seen.client(Counter::Connects) - 4;
        assert!(
            replaced as f64 >= reconnects && replaced as f64 <= reconnects + 4.0,
            "{replaced}, {reconnects}"
        );
        // Those behind the window and before it, too; the last ones may have been cut off.
        let all = seen.client.extra["reconnects_drained"];
        assert!(all >= replaced as f64 && all <= replaced as f64 + 4.0, "{all}, {replaced}");
        // And one that was only tried beforehand.
        assert_eq!(peer.connections(), seen.client(Counter::Connects) + 1);
    }
}

#[test]
fn a_connection_closed_before_its_first_request_costs_none() {
    for mut job in engines(&job(json!({}))) {
        // Closes the one that is only tried and the four that are opened ahead: no request came.
        let (came, closed) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&closed);
        let peer = Peer::start(move |mut connection| {
            if came.fetch_add(1, Ordering::AcqRel) < 5 {
                drop(connection);
                count.fetch_add(1, Ordering::AcqRel);
                return;
            }
            while connection.request() {
                connection.write(SMALL);
            }
        });
        job.params["url"] = json!(peer.url());
        let client = Running::client(&job, peer.address).unwrap();
        // On a busy CPU the load could begin first, and a connection of the load be closed.
        until("five are closed", || closed.load(Ordering::Acquire) == 5);
        client.open();
        let seen = client.end().clean();
        assert_eq!(json!(seen.client.errors), json!({}), "{}", job.engine);
        assert!(seen.client(Counter::Counted) > 0, "{}", job.engine);
        assert_eq!(seen.figures().metrics["reconnects"], 4.0, "{}", job.engine);
        assert_eq!(seen.client(Counter::Connects), 8, "{}", job.engine);
    }
}

#[test]
fn the_second_try_is_the_last() {
    // Answers the first request of the first connection, and none after that.
    let first = AtomicU64::new(0);
    let peer = Peer::start(move |mut connection| {
        if connection.request() && first.fetch_add(1, Ordering::AcqRel) == 0 {
            connection.write(SMALL);
        }
    });
    let mut job = job(json!({"url": peer.url()}));
    job.connections = 1;
    job.schedule = Schedule::Rate(40.0);
    let seen = run(&job, peer.address);
    assert_eq!(seen.client(Counter::Counted), 1);
    assert_eq!(seen.figures().metrics["reconnects"], 1.0);
    let lost = seen.client(Counter::Intended) - 1;
    assert!(lost >= 4, "{lost}");
    assert_eq!(json!(seen.client.errors), json!({"closed_early": lost}));
}

#[test]
fn an_answer_that_closes_its_connection_is_obeyed() {
    for head in ["Connection: close\r\nContent-Length: 2\r\n", "Connection: close\r\n"] {
        // Without a length the body ends with the connection.
        let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\nok");
        let peer = Peer::start(move |mut connection| {
            if connection.request() {
                connection.write(answer.as_bytes());
            }
        });
        for job in engines(&job(json!({"url": peer.url(), "expect_size": "2B"}))) {
            let seen = run(&job, peer.address);
            assert_eq!(json!(seen.client.errors), json!({}), "{head} {}", job.engine);
            let (connects, completed) =
                (seen.client(Counter::Connects), seen.client(Counter::Completed));
            // The first connections stood before load began; the last exchange of each leaves none
            // behind.
            assert!((completed..=completed + 4).contains(&connects), "{connects} for {completed}");
            let figures = seen.figures();
            assert_eq!(figures.metrics["reconnects"], 0.0);
            assert!(figures.warnings.is_empty(), "{:?}", figures.warnings);
        }
    }
}

#[test]
fn a_chunked_answer_has_its_size_and_a_surplus_is_told() {
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n";
    let peer = Peer::start(move |mut connection| {
        while connection.request() {
            connection.write(chunked);
        }
    });
    let seen = run(&job(json!({"url": peer.url(), "expect_size": "9B"})), peer.address);
    let figures = seen.figures();
    assert_eq!(figures.metrics["response_body_bytes"], 8.0);
    assert_eq!(figures.metrics["unexpected_sizes"], seen.client(Counter::Counted) as f64);
    assert!(figures.warnings[0].detail.contains("--expect-size"), "{:?}", figures.warnings);

    let peer = Peer::start(move |mut connection| {
        while connection.request() {
            connection.write(&[SMALL, b"more"].concat());
        }
    });
    let seen = run(&job(json!({"url": peer.url()})), peer.address);
    assert_eq!(json!(seen.client.errors), json!({}));
    assert!(seen.client(Counter::Counted) > 0);
    assert!(
        seen.figures().warnings[0].detail.contains("nobody asked for"),
        "{:?}",
        seen.figures().warnings
    );
}
