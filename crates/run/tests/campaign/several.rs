//! Several clients and several servers in one trial.

use hopbench_model::Record;
use hopbench_run::results::open;
use serde_json::json;

use crate::bed::Bed;
use crate::follower::{Follower, contents, run};
use crate::plans::{job, path, plan, point};

/// The one record of three clients and two servers.
fn measure(workload: &str, params: serde_json::Value, connections: u32) -> Record {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job(workload, params, connections, 150))];
    let plan = plan(vec![path("x", 3, 2)], points, 1);
    let mut follower = Follower::default();
    let ended = run(plan, dir.path(), &mut Bed::default(), &mut follower).unwrap();
    assert_eq!(
        (ended.good, ended.errors, ended.failures),
        (1, 0, 0),
        "{:?} {:?}",
        follower.failed,
        {
            let (_, records) = open(dir.path()).unwrap();
            records.map(|r| r.unwrap().error).collect::<Vec<_>>()
        }
    );
    let record = contents(dir.path()).1.remove(0);
    assert_eq!(
        (record.settings["clients"].as_str(), record.settings["servers"].as_str()),
        ("3", "2")
    );
    for hop in ["client 1", "client 2", "client 3"] {
        assert!(
            record.proof.iter().any(|p| p.hop == hop && p.ok),
            "no flow at {hop}: {:?}",
            record.proof
        );
    }
    let arrived = &record.settings["first_flows_arrived"];
    assert!(
        ["server 1: flow ", "server 2: flow "].iter().all(|end| arrived.contains(end)),
        "{arrived}"
    );
    assert!(
        record.proof.iter().all(|p| !p.hop.starts_with("server")),
        "what a server sees proves nothing by itself"
    );
    record
}

fn holds(record: &Record, name: &str) {
    assert!(
        record.invariants.iter().any(|i| i.name == name && i.ok),
        "{name} in {:?}",
        record.invariants
    );
}

#[test]
fn messages_and_bytes_are_conserved_in_total() {
    // Every message is accounted for by its number, on both sides of the relay.
    let record = measure("push", json!({"size": "1000B", "rate": 100.0, "stagger": "spread"}), 4);
    holds(&record, "received_eq_sent_at_close");
    holds(&record, "histogram_holds_every_message");
    holds(&record, "intended_are_accounted_for");
    // Twelve connections get a message every 10 ms, for 150 ms.
    assert_eq!(record.metrics["messages"], 180.0);
    assert_eq!(record.latency["delay_ns"].count, 180);
}

#[test]
fn exchanges_of_all_clients_are_one_distribution() {
    let record = measure("rr", json!({"size": "100B"}), 2);
    holds(&record, "histogram_holds_every_request");
    holds(&record, "served_le_sent");
    assert_eq!(record.latency["service_ns"].count as f64, record.metrics["requests"]);
    assert!(record.metrics["requests"] >= 6.0, "six connections");
    assert!(record.intervals.len() > 2);
}

#[test]
fn connections_of_all_clients_have_numbers_of_their_own() {
    // A number that two clients gave would be refused by one of the two ledgers, most probably.
    let record = measure("crr", json!({"size": "10B"}), 3);
    assert_eq!(record.metrics["errors"], 0.0, "{:?}", record.errors);
    assert!(record.metrics["requests"] > 30.0);
    holds(&record, "served_le_connects");
}

#[test]
fn bulk_bytes_are_counted_on_both_sides() {
    let record =
        measure("stream", json!({"size": "64KiB", "direction": "both", "receive": "copy"}), 4);
    assert!(record.metrics["to_server_received_bits_per_s"] > 0.0);
    assert!(record.metrics["from_server_received_bits_per_s"] > 0.0);
    assert!(record.invariants.iter().all(|i| i.ok), "{:?}", record.invariants);
}

#[test]
fn a_rate_is_each_clients_own_in_both_directions() {
    for direction in ["to-server", "from-server"] {
        let record = measure(
            "stream",
            json!({"size": "1KiB", "rate": "1Mbit", "direction": direction, "receive": "copy"}),
            2,
        );
        let got = record.metrics["sent_bits_per_s"];
        assert!(
            (2.4e6..3.6e6).contains(&got),
            "{direction}: {got} bit/s for three clients at 1 Mbit/s"
        );
    }
}
