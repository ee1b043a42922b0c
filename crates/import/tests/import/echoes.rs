//! ping.

use hopbench_model::Unit;

use crate::{fixture, metric, number, record, record_of, refusal, rises};

#[test]
fn ping_has_a_line_for_each_echo() {
    let (record, text) = (record("ping.txt"), fixture("ping.txt"));
    assert_eq!((record.workload.as_str(), record.kind().unit), ("ping", Unit::Echoes));
    let lines = text.lines().filter(|line| line.contains(" time=")).count();
    assert_eq!(metric(&record, "received"), lines as f64);
    assert_eq!(metric(&record, "lost_ratio"), 0.0);
    rises(&record, "rtt");
    assert!(record.metrics.contains_key("rtt_p50_ns"), "the median of the lines");
    let ms = number(&text, "% packet loss, time ");
    assert_eq!(record.window_s, ms / 1e3);
    assert_eq!(record.job["params"]["size"], 56);
    assert!(record.job.get("connections").is_none());
}

#[test]
fn ping_that_is_quiet_has_no_median() {
    let text = fixture("ping.txt");
    let quiet: Vec<&str> = text.lines().filter(|line| !line.contains(" time=")).collect();
    let record = record_of(&quiet.join("\n"));
    assert!(!record.metrics.contains_key("rtt_p50_ns"));
    assert!(metric(&record, "rtt_mean_ns") > 0.0);
}

#[test]
fn ping_of_an_address_that_does_not_answer() {
    let record = record("ping-lost.txt");
    assert_eq!((metric(&record, "received"), metric(&record, "lost_ratio")), (0.0, 1.0));
    assert!(!record.metrics.keys().any(|name| name.starts_with("rtt_")));
}

/// BusyBox and BSD count in other words.
#[test]
fn ping_in_other_words() {
    let record = record_of(
        "PING 10.0.0.2 (10.0.0.2): 56 data bytes\n\
         64 bytes from 10.0.0.2: seq=0 ttl=64 time=0.050 ms\n\
         64 bytes from 10.0.0.2: seq=1 ttl=64 time=0.080 ms\n\n\
         --- 10.0.0.2 ping statistics ---\n\
         3 packets transmitted, 2 packets received, 33% packet loss\n\
         round-trip min/avg/max = 0.050/0.065/0.080 ms\n",
    );
    assert_eq!(metric(&record, "rtt_p50_ns"), 50_000.0);
    assert_eq!(metric(&record, "rtt_mean_ns"), 65_000.0);
    assert_eq!(metric(&record, "lost_ratio"), 1.0 - 2.0 / 3.0);
    assert_eq!(record.job["params"]["size"], 56);
}

#[test]
fn ping_that_is_cut_off() {
    let text = fixture("ping.txt");
    let (before, _) = text.split_once("---").unwrap();
    assert!(refusal(before).contains("packets transmitted"), "{}", refusal(before));
    let (before, _) = text.split_once("rtt ").unwrap();
    assert!(refusal(before).contains("min/avg/max"), "{}", refusal(before));
    let twice = refusal(&format!("{text}{text}"));
    assert!(twice.contains("put each into a file of its own"), "{twice}");
}
