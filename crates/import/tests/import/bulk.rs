//! Bytes, datagrams and small messages: iperf3, qperf, sockperf.

use hopbench_model::{Pattern, Transport, Unit};
use serde_json::{Value, json};

use crate::{fixture, is_near, metric, number, record, record_of, refusal, rises};

fn json_of(name: &str) -> Value {
    serde_json::from_str(&fixture(name)).expect("a fixture of JSON")
}

#[test]
fn iperf3_over_tcp() {
    let (record, file) = (record("iperf3-tcp.json"), json_of("iperf3-tcp.json"));
    assert_eq!((record.workload.as_str(), record.kind().unit), ("iperf3-stream", Unit::Bits));
    let sum = &file["end"]["sum_received"];
    let bits = sum["bytes"].as_f64().unwrap() * 8.0 / sum["seconds"].as_f64().unwrap();
    assert!(is_near(metric(&record, "received_bits_per_s"), bits, 1e-3));
    let sent = &file["end"]["sum_sent"];
    assert_eq!(metric(&record, "retransmitted_segments"), sent["retransmits"].as_f64().unwrap());
    assert_eq!(record.window_s, sum["seconds"].as_f64().unwrap());
    let cpu = &file["end"]["cpu_utilization_percent"];
    let cores = |name: &str| cpu[name].as_f64().unwrap() / 100.0;
    assert_eq!(record.cost.client["cores"], cores("host_total"));
    assert_eq!(record.cost.server["cores"], cores("remote_total"));
    assert_eq!(record.job["connections"], file["start"]["test_start"]["num_streams"]);
    assert_eq!(record.job["params"]["direction"], "to-server");
    assert!(record.job.get("schedule").is_none(), "it states none");
    let unpaced = file["start"]["target_bitrate"] == 0;
    assert_eq!(record.job["params"].get("rate").is_none(), unpaced);
    assert!(record.started_at.starts_with("20") && record.started_at.ends_with('Z'));
    assert!(!record.intervals.is_empty());
    assert!(record.proof.is_empty() && record.latency.is_empty());
}

#[test]
fn iperf3_backwards_and_both_ways() {
    let back = record("iperf3-reverse.json");
    assert_eq!(back.job["params"]["direction"], "from-server");
    let both = record("iperf3-bidir.json");
    assert_eq!(both.job["params"]["direction"], "both");
    let of = |name: &str| metric(&both, name);
    let sum = of("to_server_received_bits_per_s") + of("from_server_received_bits_per_s");
    assert_eq!(of("received_bits_per_s"), sum);
}

#[test]
fn iperf3_with_a_rate() {
    let record = record("iperf3-rate.json");
    let rate: String = record.job["params"]["rate"].as_str().unwrap().to_owned();
    assert_eq!(rate, "100Mbit", "as fixtures/make.sh asks for");
    assert!(metric(&record, "received_bits_per_s") < 2e8);
}

/// The server does not know the CPU of the client, nor what it sent.
#[test]
fn iperf3_as_the_server_saw_it() {
    let server = record("iperf3-server.json");
    assert!(server.cost.client.is_empty(), "{:?}", server.cost.client);
    assert!(server.cost.server["cores"] > 0.0);
    assert!(!server.metrics.contains_key("sent_bits_per_s"));
    assert!(metric(&server, "received_bits_per_s") > 0.0);
    let mut back = json_of("iperf3-server.json");
    back["start"]["test_start"]["reverse"] = json!(1);
    let why = refusal(&back.to_string());
    assert!(why.contains("start.test_start.reverse: found `1`"), "{why}");
}

#[test]
fn iperf3_over_udp() {
    let (record, file) = (record("iperf3-udp.json"), json_of("iperf3-udp.json"));
    assert_eq!(record.kind().transport, Transport::Udp);
    let sum = &file["end"]["sum_received"];
    let of = |name: &str| sum[name].as_f64().unwrap();
    let delivered = (of("packets") - of("lost_packets")) / of("seconds");
    assert!(is_near(metric(&record, "received_packets_per_s"), delivered, 1e-9));
    assert!(is_near(metric(&record, "lost_ratio"), of("lost_percent") / 100.0, 1e-6));
    let size = file["start"]["test_start"]["blksize"].as_f64().unwrap();
    assert!(is_near(metric(&record, "received_bits_per_s"), delivered * 8.0 * size, 0.01));
}

#[test]
fn iperf3_over_udp_both_ways_and_over_others_is_refused() {
    let mut file = json_of("iperf3-udp.json");
    file["end"]["sum_bidir_reverse"] = json!({});
    let said = refusal(&file.to_string());
    assert!(said.contains("one direction of UDP"), "{said}");
    let mut file = json_of("iperf3-tcp.json");
    file["start"]["test_start"]["protocol"] = json!("SCTP");
    let said = refusal(&file.to_string());
    assert!(said.contains("found `SCTP`, expected TCP or UDP"), "{said}");
}

#[test]
fn iperf3_over_udp_of_which_nothing_arrived() {
    let mut file = json_of("iperf3-udp.json");
    for name in ["packets", "lost_packets", "bytes", "bits_per_second", "seconds"] {
        file["end"]["sum_received"][name] = json!(0);
    }
    let lost = record_of(&file.to_string());
    assert_eq!((metric(&lost, "lost_ratio"), metric(&lost, "received_packets_per_s")), (1.0, 0.0));
    assert!(!lost.metrics.contains_key("jitter_ns"));
    // An older version has one sum.
    file["end"].as_object_mut().unwrap().remove("sum_received");
    let old = record_of(&file.to_string());
    assert!(metric(&old, "lost_ratio") < 1.0);
    assert!(!old.metrics.contains_key("received_bits_per_s"), "it is that of the sender");
}

#[test]
fn iperf3_that_failed() {
    let why = refusal(r#"{"start": {"version": "iperf 3.16"}, "end": {}, "error": "no route"}"#);
    assert!(why.contains("a.file error: found `no route`"), "{why}");
    let mut cut = json_of("iperf3-tcp.json");
    cut["end"] = json!({});
    let why = refusal(&cut.to_string());
    assert!(why.contains("end.sum_received.seconds: found `nothing`"), "{why}");
    let text = fixture("iperf3-tcp.json");
    let why = refusal(&text[..text.len() / 2]);
    assert!(why.starts_with("a.file line ") && why.contains(" column "), "{why}");
    let why = refusal(&format!("{text}{text}"));
    assert!(why.contains("trailing characters"), "{why}");
}

#[test]
fn qperf_states_halves_and_no_percentiles() {
    let (record, text) = (record("qperf-lat.txt"), fixture("qperf-lat.txt"));
    assert_eq!((record.workload.as_str(), record.kind().pattern), ("qperf-rr", Pattern::Exchanges));
    let factor = if text.contains(" us") { 1e3 } else { 1e6 };
    let half = number(&text, "latency  =  ") * factor;
    assert!(is_near(metric(&record, "service_mean_ns"), 2.0 * half, 1e-9));
    assert!(record.explanation[0].contains("doubled"));
    let mixed = refusal(&format!("{text}{text}"));
    assert!(mixed.contains("put each into a file of its own"), "{mixed}");
}

#[test]
fn qperf_states_bandwidths() {
    let (record, text) = (record("qperf-bw.txt"), fixture("qperf-bw.txt"));
    assert_eq!(record.workload, "qperf-stream");
    let factor = if text.contains("GB/sec") { 8e9 } else { 8e6 };
    let bits = number(&text.replace(' ', ""), "\nbw=") * factor;
    assert!(is_near(metric(&record, "received_bits_per_s"), bits, 1e-9));
    let udp = crate::record("qperf-udp.txt");
    assert_eq!(udp.kind().transport, Transport::Udp);
    assert!(metric(&udp, "sent_bits_per_s") >= metric(&udp, "received_bits_per_s"));
    let cut = refusal("tcp_bw:\n");
    assert!(cut.contains("a line `bw` or `recv_bw`; the file may be cut off"), "{cut}");
    let other = refusal("rc_bw:\n    bw  =  1 GB/sec\n");
    assert!(other.contains("a.file line 1: found `rc_bw:`"), "{other}");
}

#[test]
fn sockperf_states_round_trips() {
    let (record, text) = (record("sockperf.txt"), fixture("sockperf.txt"));
    assert_eq!(record.workload, "sockperf-rr");
    rises(&record, "service");
    let mean = number(&text, "Round trip is ") * 1e3;
    assert!(is_near(metric(&record, "service_mean_ns"), mean, 1e-9));
    let rate = metric(&record, "requests") / record.window_s;
    assert_eq!(metric(&record, "requests_per_s"), rate);
    assert_eq!(record.job["params"]["protocol"], "TCP");
    assert_eq!(record.job["connections"], 1);
    let cut = text.rsplit_once("<MIN>").unwrap().0;
    assert!(refusal(cut).contains("<MIN>"), "{}", refusal(cut));
    let twice = refusal(&format!("{text}{text}"));
    assert!(twice.contains("put each into a file of its own"), "{twice}");
}

#[test]
fn sockperf_states_halves_unless_it_is_asked_for_all() {
    let (record, text) = (record("sockperf-half.txt"), fixture("sockperf-half.txt"));
    let half = number(&text, "percentile 50.000 =") * 1e3;
    assert!(is_near(metric(&record, "service_p50_ns"), 2.0 * half, 1e-9));
    assert!(record.explanation[0].contains("doubled"));
    let bulk = crate::record("sockperf-throughput.txt");
    assert_eq!(bulk.kind().unit, Unit::Packets, "over UDP, as fixtures/make.sh asks for");
    assert!(metric(&bulk, "sent_bits_per_s") > 0.0);
}
