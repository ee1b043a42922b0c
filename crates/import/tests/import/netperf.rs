//! netperf: its classic tables, and the values of `-k` and `-o`.

use hopbench_model::{Pattern, Record, Transport, Unit};

use crate::{files, fixture, is_near, metric, number, record, record_of, refusal, rises};

/// The words of the last line that has this many.
fn row(text: &str, words: usize) -> Vec<&str> {
    let mut lines = text.lines().rev().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|line| line.len() == words).expect("a row")
}

fn parsed(word: &str) -> f64 {
    word.parse().expect("a number")
}

/// One transaction is under way at a time, so their times fill the test.
fn fills_its_time(record: &Record) {
    let busy = metric(record, "service_mean_ns") * metric(record, "requests_per_s") / 1e9;
    assert!(is_near(busy, 1.0, 0.2), "{busy}");
}

#[test]
fn tables_of_streams() {
    let (record, text) = (record("netperf-stream.txt"), fixture("netperf-stream.txt"));
    assert_eq!((record.workload.as_str(), record.kind().unit), ("netperf-stream", Unit::Bits));
    let row = row(&text, 5);
    assert!(is_near(metric(&record, "received_bits_per_s"), parsed(row[4]) * 1e6, 1e-9));
    assert_eq!(record.window_s, parsed(row[3]));
    assert_eq!(record.job["params"]["direction"], "to-server");
    assert_eq!(record.settings["target"], "127.0.0.1");
    assert!(record.job.get("connections").is_none(), "it does not state them");
    let back = crate::record("netperf-maerts.txt");
    assert_eq!(back.job["params"]["direction"], "from-server");
    // Bytes are those of 1024.
    let kilo = record_of(&text.replace("10^6bits", "KBytes"));
    let bits = parsed(row[4]) * 8192.0;
    assert!(is_near(metric(&kilo, "received_bits_per_s"), bits, 1e-9));
    let other = refusal(&text.replace("10^6bits", "furlongs"));
    assert!(other.contains("expected a unit like `10^6bits/sec`"), "{other}");
}

#[test]
fn cpu_is_that_of_the_machines() {
    let (record, text) = (record("netperf-cpu.txt"), fixture("netperf-cpu.txt"));
    let mut row = row(&text, 9);
    let (here, there) = (parsed(row[5]) / 100.0, parsed(row[6]) / 100.0);
    assert!(is_near(metric(&record, "client_machine_busy_ratio"), here, 1e-9));
    assert!(is_near(metric(&record, "server_machine_busy_ratio"), there, 1e-9));
    assert!(record.cost.client.is_empty() && record.cost.server.is_empty());
    // Without -C the server's is -1.
    row[6] = "-1.00";
    let (heads, _) = text.split_once("\n\n").expect("the row is apart");
    let alone = record_of(&format!("{heads}\n\n{}\n", row.join("  ")));
    assert!(alone.metrics.contains_key("client_machine_busy_ratio"));
    assert!(!alone.metrics.contains_key("server_machine_busy_ratio"));
    assert!(!crate::record("netperf-stream.txt").metrics.contains_key("client_machine_busy_ratio"));
}

#[test]
fn a_table_of_datagrams_has_a_row_for_each_end() {
    let (record, text) = (record("netperf-udp.txt"), fixture("netperf-udp.txt"));
    assert_eq!((record.workload.as_str(), record.kind().unit), ("netperf-udp", Unit::Packets));
    assert_eq!(record.kind().transport, Transport::Udp);
    let (ours, theirs) = (row(&text, 6), row(&text, 4));
    assert!(is_near(metric(&record, "sent_bits_per_s"), parsed(ours[5]) * 1e6, 1e-9));
    assert!(is_near(metric(&record, "received_bits_per_s"), parsed(theirs[3]) * 1e6, 1e-9));
    let lost = 1.0 - parsed(theirs[2]) / parsed(ours[3]);
    assert!(is_near(metric(&record, "lost_ratio"), lost, 1e-6));
    let bits = metric(&record, "received_packets_per_s") * 8.0 * parsed(ours[1]);
    assert!(is_near(metric(&record, "received_bits_per_s"), bits, 0.02), "two digits of a second");
    assert_eq!(record.job["params"]["size"], "1KiB", "as fixtures/make.sh asks for");
    let (cut, _) = text.rsplit_once(ours[0]).expect("the row of the server");
    assert!(refusal(cut).contains("the file may be cut off"), "{}", refusal(cut));
}

#[test]
fn tables_of_transactions() {
    let (record, text) = (record("netperf-rr.txt"), fixture("netperf-rr.txt"));
    let found = (record.workload.as_str(), record.kind().pattern);
    assert_eq!(found, ("netperf-rr", Pattern::Exchanges));
    assert_eq!(metric(&record, "requests_per_s"), parsed(row(&text, 6)[5]));
    let params = &record.job["params"];
    assert_eq!((&params["size"], &params["response"]), (&"64B".into(), &"128B".into()));
    assert_eq!(params["protocol"], "TCP");
    assert!(!record.metrics.keys().any(|name| name.ends_with("_ns")), "it has no times");
    let crr = crate::record("netperf-crr.txt");
    assert_eq!((crr.workload.as_str(), crr.kind().unit), ("netperf-crr", Unit::Connections));
    let per_s = parsed(row(&fixture("netperf-crr.txt"), 6)[5]);
    assert_eq!(metric(&crr, "connections_per_s"), per_s);
    let burst = record_of(&text.replace("first burst 0", "first burst 16"));
    assert_eq!(burst.job["params"]["burst"], 16);
    assert!(params.get("burst").is_none());
    let bits = text.replace("Rate", "Throughput").replace("per sec", "10^6bits/sec");
    assert!(refusal(&bits).contains("expected transactions a second"), "{}", refusal(&bits));
}

#[test]
fn values_of_transactions_have_percentiles() {
    let (record, text) = (record("netperf-rr-values.txt"), fixture("netperf-rr-values.txt"));
    assert_eq!(record.workload, "netperf-rr");
    rises(&record, "service");
    for point in ["p50", "p90", "p99", "mean", "stddev"] {
        let us = number(&text, &format!("\n{}_LATENCY=", point.to_uppercase()));
        let ns = metric(&record, &format!("service_{point}_ns"));
        assert!(is_near(ns, us * 1e3, 1e-9), "{point}");
    }
    assert_eq!(metric(&record, "requests_per_s"), number(&text, "\nTRANSACTION_RATE="));
    fills_its_time(&record);
    // The throughput is the same rate, unless -f asks for another unit.
    let without = |text: &str, keyword: &str| {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(keyword)).collect();
        format!("{}\n", lines.join("\n"))
    };
    let plain = without(&text, "TRANSACTION_RATE=");
    let rate = metric(&record_of(&plain), "requests_per_s");
    assert!(is_near(rate, metric(&record, "requests_per_s"), 1e-4));
    let bits = refusal(&plain.replace("Trans/s", "10^6bits/s"));
    assert!(bits.contains("found `THROUGHPUT_UNITS=10^6bits/s`, expected `Trans/s`"), "{bits}");
}

/// With `-P 0` there is no first line, and the command line says the test.
#[test]
fn values_without_a_first_line_need_the_command() {
    let text = fixture("netperf-rr-values.txt");
    let (_, values) = text.split_once('\n').expect("a first line");
    let why = refusal(values);
    assert!(why.contains("so no `-P 0`, or a value of COMMAND_LINE"), "{why}");
    let named = |test: &str| format!("{values}COMMAND_LINE=\"netperf -P 0 -t {test} -- -k all\"\n");
    assert_eq!(record_of(&named("TCP_RR")).metrics, record("netperf-rr-values.txt").metrics);
    assert_eq!(record_of(&named("TCP_CRR")).workload, "netperf-crr");
    let other = refusal(&named("SCTP_RR"));
    assert!(other.contains("expected a test TCP_STREAM, TCP_MAERTS"), "{other}");
}

#[test]
fn columns_have_the_same_values_as_lines() {
    let (record, text) = (record("netperf-rr-columns.txt"), fixture("netperf-rr-columns.txt"));
    assert_eq!((record.workload.as_str(), record.kind().transport), ("netperf-rr", Transport::Udp));
    rises(&record, "service");
    fills_its_time(&record);
    let values: Vec<&str> = text.lines().nth(2).expect("a line of values").split(',').collect();
    assert_eq!(metric(&record, "requests_per_s"), parsed(values[0]));
    assert!(is_near(metric(&record, "service_p99_ns"), parsed(values[7]) * 1e3, 1e-9));
    assert!(metric(&record, "client_machine_busy_ratio") > 0.0);
    let short = refusal(&text.replace(",Maximum Latency Microseconds", ""));
    assert!(short.contains(" values, as the line above has names"), "{short}");
}

#[test]
fn values_of_streams_have_no_latency() {
    let name = "netperf-stream-values.txt";
    let (record, text) = (record(name), fixture(name));
    assert_eq!(record.workload, "netperf-stream");
    let received = number(&text, "\nTHROUGHPUT=") * 1e6;
    assert!(is_near(metric(&record, "received_bits_per_s"), received, 1e-9));
    assert!(metric(&record, "sent_bits_per_s") > 0.0);
    let sent_again = number(&text, "\nLOCAL_TRANSPORT_RETRANS=");
    assert_eq!(metric(&record, "retransmitted_segments"), sent_again);
    assert!(!record.metrics.keys().any(|name| name.contains("busy")), "it was not measured");
    // Of streams netperf states the times of calls, which are no round trips.
    let timed = record_of(&format!("{text}P50_LATENCY=1\nMEAN_LATENCY=1.44\n"));
    assert_eq!(timed.metrics, record.metrics);
    let udp = crate::record("netperf-udp-values.txt");
    assert!(metric(&udp, "sent_bits_per_s") >= metric(&udp, "received_bits_per_s"));
    let datagrams = metric(&udp, "received_packets_per_s") * udp.window_s;
    let stated = number(&fixture("netperf-udp-values.txt"), "\nREMOTE_RECV_CALLS=");
    assert!(is_near(datagrams, stated, 1e-9));
}

#[test]
fn outputs_that_are_cut_off_or_mixed_are_refused() {
    for name in ["netperf-stream.txt", "netperf-rr-values.txt", "netperf-rr-columns.txt"] {
        let text = fixture(name);
        let last = text.trim_end();
        let cut = refusal(&last[..last.len() - 1]);
        assert!(cut.contains("expected a line with an end; the file may be cut off"), "{cut}");
        let twice = refusal(&format!("{text}{text}"));
        assert!(twice.contains("put each into a file of its own"), "{twice}");
        let (first, _) = text.split_once('\n').expect("a first line");
        let alone = refusal(&format!("{first}\n"));
        assert!(alone.contains("the file may be cut off"), "{alone}");
        assert!(alone.starts_with("a.file line 1: found `the end of the file`"), "{alone}");
    }
    let no_server = "establish control: are you sure there is a netserver listening on a?\n";
    let why = files(&[("a", no_server)], Some("netperf")).map(|all| all.records);
    assert!(why.unwrap_err().contains("a first line `MIGRATED TCP STREAM TEST from"));
    let values = fixture("netperf-rr-values.txt");
    let word = refusal(&values.replace("\nP50_LATENCY=", "\nP50_LATENCY=about "));
    assert!(word.contains("expected a number for P50_LATENCY"), "{word}");
    let omni = refusal(&values.replace("MIGRATED TCP REQUEST/RESPONSE", "OMNI Send|Recv"));
    assert!(omni.contains("expected a test TCP_STREAM, TCP_MAERTS"), "{omni}");
}
