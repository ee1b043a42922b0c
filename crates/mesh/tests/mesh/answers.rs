//! Answers that Envoys gave after traffic that is known.
//!
//! `client.txt` and `server.txt`: two sidecars, plain, on either side of these. HTTP, a connection
//! each, by the port: `server` 1 request; `client` 1, and 1 to an address where nobody is; `both` 3
//! to the program, of which the application answers one with 404 and one by closing, and 1 to the
//! agent. Bytes: 1 connection to each port, echoed and closed. 1 connection to the server's sidecar
//! that was meant for no route.
//!
//! `gateway.txt`: everything on, and neither service there. 3 requests; a TCP connection to a dead
//! server; one to a live server, closed at its first bytes because the check failed. Each of them
//! is reported.
//!
//! `services.txt`: the same gateway with both services. 7 requests, of which the policy service
//! denied one; 3 TCP connections, of which it denied one.

use std::collections::BTreeMap;

use hopbench_mesh::{counters, gauges};

const CLIENT: &[u8] = include_bytes!("../answers/client.txt");
const SERVER: &[u8] = include_bytes!("../answers/server.txt");
const GATEWAY: &[u8] = include_bytes!("../answers/gateway.txt");
const SERVICES: &[u8] = include_bytes!("../answers/services.txt");

/// The counters that are not 0.
fn counted(body: &[u8]) -> BTreeMap<String, u64> {
    let mut counted = counters(body).unwrap();
    assert_eq!(counted.len(), 19, "{counted:?}");
    counted.retain(|_, value| *value > 0);
    counted
}

fn expected(values: &[(&str, u64)]) -> BTreeMap<String, u64> {
    values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

#[test]
fn the_clients_sidecar_counted_what_it_saw() {
    let values = [
        ("downstream_connections", 8),
        ("requests", 6),
        ("responses_5xx", 2),
        ("tls_handshakes", 4),
        // Two bytes' connections, one to nobody, one `client`; of the four requests to `both` two
        // shared one.
        ("upstream_connections", 7),
        ("upstream_connect_failures", 1),
        ("upstream_connects", 6),
        // Three took between 1 and 2 ms, which Envoy has in a bucket around 1.05 ms.
        ("upstream_connect_us_total", 3143),
        ("upstream_requests", 5),
    ];
    assert_eq!(counted(CLIENT), expected(&values));
}

#[test]
fn the_servers_sidecar_counted_what_it_saw() {
    let values = [
        ("downstream_connections", 6),
        ("requests", 5),
        ("responses_5xx", 1),
        ("tls_handshakes", 4),
        ("upstream_connections", 6),
        ("upstream_connects", 6),
        ("upstream_requests", 5),
        ("upstream_resets", 1),
    ];
    assert_eq!(counted(SERVER), expected(&values));
}

#[test]
fn the_services_of_a_gateway_are_counted_apart() {
    let values = [
        ("downstream_connections", 5),
        ("requests", 3),
        ("responses_5xx", 3),
        ("policy_checks", 4),
        ("policy_errors", 4),
        ("reports", 5),
        ("upstream_connections", 2),
        ("upstream_connect_failures", 1),
        ("upstream_connects", 1),
    ];
    assert_eq!(counted(GATEWAY), expected(&values));
}

#[test]
fn checks_and_reports_are_of_requests_and_of_connections() {
    let values = [
        ("downstream_connections", 10),
        ("requests", 7),
        ("policy_checks", 10),
        ("policy_denied", 2),
        ("reports", 10),
        ("upstream_connections", 7),
        ("upstream_connects", 7),
        // Envoy's sum of two or three times between 1 and 2 ms.
        ("upstream_connect_us_total", 3049),
        ("upstream_requests", 6),
    ];
    assert_eq!(counted(SERVICES), expected(&values));
}

#[test]
fn gauges_are_of_the_whole_process() {
    let seen = gauges(SERVER).unwrap();
    let values = [
        ("active_connections", 3.0),
        ("allocated_bytes", 7_318_680.0),
        ("heap_bytes", 12_582_912.0),
        ("upstream_active_connections", 0.0),
        ("uptime_s", 6.0),
        ("workers", 2.0),
    ];
    assert_eq!(seen, values.map(|(name, value)| (name.to_owned(), value)).into());
}

#[test]
fn what_is_not_envoys_is_refused() {
    for body in [b"".as_slice(), b"# TYPE a counter\na{} 1\n", b"<html>not found</html>\n"] {
        assert!(counters(body).is_err() && gauges(body).is_err());
    }
    assert!(counters(b"a{} 1\n").unwrap_err().contains("not the statistics of an Envoy"));
}
