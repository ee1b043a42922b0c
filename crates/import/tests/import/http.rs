//! The generators of HTTP requests.

use hopbench_model::{Transport, WarningKind};
use serde_json::{Value, json};

use crate::{files, fixture, is_near, metric, number, record, record_of, refusal, rises};

fn json_of(name: &str) -> Value {
    serde_json::from_str(&fixture(name)).expect("a fixture of JSON")
}

#[test]
fn fortio_with_a_rate() {
    let (record, file) = (record("fortio.json"), json_of("fortio.json"));
    assert_eq!(record.workload, "fortio-http-paced");
    assert_eq!(record.kind().transport, Transport::Http);
    rises(&record, "service");
    let histogram = &file["DurationHistogram"];
    let mean = histogram["Sum"].as_f64().unwrap() / histogram["Count"].as_f64().unwrap();
    assert!(is_near(metric(&record, "service_mean_ns"), mean * 1e9, 1e-9));
    assert!(is_near(metric(&record, "requests_per_s"), file["ActualQPS"].as_f64().unwrap(), 1e-6));
    assert_eq!(metric(&record, "error_ratio"), 0.0);
    assert_eq!(record.statuses["200"], file["RetCodes"]["200"].as_u64().unwrap());
    assert_eq!(record.job["params"]["qps"].to_string(), file["RequestedQPS"].as_str().unwrap());
    assert_eq!(record.job["connections"], file["NumThreads"]);
    assert_eq!(record.started_at[..19], file["StartTime"].as_str().unwrap()[..19]);
}

#[test]
fn fortio_as_fast_as_it_can() {
    let mut file = json_of("fortio.json");
    file["RequestedQPS"] = json!("max");
    let record = record_of(&file.to_string());
    assert_eq!(record.workload, "fortio-http");
    assert!(record.job["params"].get("qps").is_none());
}

#[test]
fn fortio_without_answers_and_over_http2() {
    let mut file = json_of("fortio.json");
    file["RetCodes"] = json!({"200": 3000, "503": 600, "-1": 400});
    file["ErrorsDurationHistogram"]["Count"] = json!(1000);
    file["H2"] = json!(true);
    let record = record_of(&file.to_string());
    assert_eq!(metric(&record, "error_ratio"), 0.25);
    assert_eq!(metric(&record, "requests"), 3600.0);
    assert_eq!((record.errors["no answer"], record.statuses["503"]), (400, 600));
    assert_eq!(record.job["params"]["http2"], true);
    // In hopbench's own files the times are those of good calls, and both numbers of connections
    // are all of them.
    let mut ours = file.clone();
    ours["Hopbench"] = json!({});
    ours["NumConnections"] = ours["NumThreads"].clone();
    ours["DurationHistogram"]["Count"] = json!(3000);
    let ours = record_of(&ours.to_string());
    assert_eq!(metric(&ours, "error_ratio"), 0.25);
    assert_eq!(ours.job["connections"], file["NumThreads"]);
    // Nighthawk has its counts in texts.
    file["DurationHistogram"]["Count"] = json!("4000");
    file["RequestedQPS"] = json!(4000);
    assert_eq!(record_of(&file.to_string()).metrics, record.metrics);
    file["ActualDuration"] = json!(0);
    assert!(refusal(&file.to_string()).contains("ActualDuration: found `0`"));
}

#[test]
fn oha() {
    let (record, file) = (record("oha.json"), json_of("oha.json"));
    assert_eq!(record.workload, "oha-http");
    rises(&record, "service");
    let stated = file["summary"]["requestsPerSec"].as_f64().unwrap();
    assert!(is_near(metric(&record, "requests_per_s"), stated, 1e-3));
    assert!(record.job.get("connections").is_none(), "it does not state them");
}

#[test]
fn oha_that_was_aborted_did_not_fail() {
    let mut file = json_of("oha.json");
    file["errorDistribution"] = json!({"aborted due to deadline": 16, "connection refused": 4});
    file["statusCodeDistribution"] = json!({"200": 12, "500": 4});
    let record = record_of(&file.to_string());
    assert_eq!(metric(&record, "error_ratio"), 0.4, "4 and 4 of 20");
    assert_eq!(record.settings["aborted due to deadline"], "16");
    assert_eq!(record.errors.len(), 1);
}

#[test]
fn k6_in_each_of_its_forms() {
    let export = record("k6-export.json");
    assert_eq!(export.workload, "k6-http");
    rises(&export, "service");
    for name in ["k6-summary.json", "k6-metrics.json"] {
        let record = record(name);
        let count = metric(&record, "requests_per_s") * record.window_s;
        assert!(is_near(count, metric(&record, "requests"), 0.05), "{name}");
        rises(&record, "service");
        assert!(record.metrics.contains_key("service_p90_ns"), "{name}");
    }
}

/// Only an executor with a rate drops iterations.
#[test]
fn k6_that_dropped_iterations_warns() {
    let mut file = json_of("k6-metrics.json");
    file["dropped_iterations"] = json!({"values": {"count": 7, "rate": 3.5}});
    let record = record_of(&file.to_string());
    assert_eq!(record.warnings[0].kind, WarningKind::Unsent);
    file["dropped_iterations"] = Value::Null;
    assert!(record_of(&file.to_string()).warnings.is_empty());
}

#[test]
fn wrk() {
    let (record, text) = (record("wrk.txt"), fixture("wrk.txt"));
    assert_eq!(record.workload, "wrk-http");
    assert_eq!(metric(&record, "requests_per_s"), number(&text, "Requests/sec:"));
    let rate = metric(&record, "requests") / record.window_s;
    assert!(is_near(rate, metric(&record, "requests_per_s"), 0.02), "two digits of a second");
    assert!(metric(&record, "service_max_ns") >= metric(&record, "service_mean_ns"));
    assert_eq!(metric(&record, "error_ratio"), 0.0);
    let whole = crate::record("wrk-latency.txt");
    rises(&whole, "service");
    let twice = refusal(&format!("{text}{text}"));
    assert!(twice.contains("put each into a file of its own"), "{twice}");
}

/// An answer after the timeout is a request that was counted.
#[test]
fn wrk_with_errors() {
    let text = fixture("wrk.txt").replace(
        "Requests/sec:",
        "  Socket errors: connect 2, read 3, write 5, timeout 100\n  Non-2xx or 3xx responses: 7\n\
         Requests/sec:",
    );
    let record = record_of(&text);
    let requests = metric(&record, "requests");
    assert!(is_near(metric(&record, "error_ratio"), 17.0 / (requests + 10.0), 1e-9));
    assert_eq!(record.errors.values().sum::<u64>(), 17);
    assert_eq!(record.settings["timeouts"], "100");
}

#[test]
fn wrk_without_an_answer_has_no_latency() {
    let record = record_of(
        "Running 1m test @ http://10.0.0.2/\n  2 threads and 4 connections\n\
         \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
         \x20   Latency     0.00us    0.00us   0.00us    -nan%\n\
         \x20   Req/Sec     0.00      0.00     0.00      -nan%\n\
         \x20 0 requests in 1.00m, 0.00B read\n\
         \x20 Socket errors: connect 4, read 0, write 0, timeout 0\n\
         Requests/sec:      0.00\nTransfer/sec:       0.00B\n",
    );
    assert_eq!((record.window_s, metric(&record, "error_ratio")), (60.0, 1.0));
    assert!(!record.metrics.keys().any(|name| name.ends_with("_ns")));
}

#[test]
fn wrk2_counts_from_when_requests_were_due() {
    let (record, text) = (record("wrk2.txt"), fixture("wrk2.txt"));
    assert_eq!(record.workload, "wrk2-http-open");
    rises(&record, "response");
    assert!(record.metrics.contains_key("response_p9999_ns"));
    assert!(record.job.get("schedule").is_none(), "it does not state the rate");
    assert!(record.job["params"].get("rate").is_none());
    // With --u_latency both are there.
    assert!(metric(&record, "service_p50_ns") <= metric(&record, "response_p50_ns"));
    let as_wrk = files(&[("a", &text)], Some("wrk")).map(|imported| imported.records);
    assert!(as_wrk.unwrap_err().contains("--tool wrk2"));
}

/// A short run without --latency looks like one of wrk, unless the tool is named.
#[test]
fn wrk2_can_be_named() {
    let text = fixture("wrk.txt");
    let named = files(&[("a", &text)], Some("wrk2")).expect("the same lines").records.remove(0);
    assert_eq!(named.workload, "wrk2-http-open");
    assert!(named.metrics.contains_key("response_mean_ns"));
}

#[test]
fn hey() {
    let (record, text) = (record("hey.txt"), fixture("hey.txt"));
    assert_eq!(record.workload, "hey-http");
    rises(&record, "service");
    assert!(is_near(record.window_s, number(&text, "Total:"), 1e-9));
    let stated = number(&text, "Requests/sec:");
    assert!(is_near(metric(&record, "requests_per_s"), stated, 1e-3), "all were answered");
    assert_eq!(record.statuses["200"], metric(&record, "requests") as u64);
    let (cut, _) = text.split_once("Status code distribution:").unwrap();
    assert!(refusal(cut).contains("Status code distribution:"), "{}", refusal(cut));
    let twice = refusal(&format!("{text}{text}"));
    assert!(twice.contains("put each into a file of its own"), "{twice}");
}

#[test]
fn hey_with_errors() {
    let text = fixture("hey.txt");
    let failed = format!("{}\nError distribution:\n  [41]\tGet \"x\": EOF\n", text.trim_end());
    let record = record_of(&failed);
    let requests = metric(&record, "requests");
    assert!(is_near(metric(&record, "error_ratio"), 41.0 / (requests + 41.0), 1e-9));
    assert!(is_near(metric(&record, "requests_per_s"), requests / record.window_s, 1e-9));
    assert_eq!(record.errors["Get \"x\": EOF"], 41);
}

#[test]
fn h2load() {
    let (record, text) = (record("h2load.txt"), fixture("h2load.txt"));
    assert_eq!(record.workload, "h2load-http");
    assert!(metric(&record, "service_max_ns") >= metric(&record, "service_mean_ns"));
    assert_eq!(metric(&record, "requests"), number(&text, "\nrequests: "));
    let protocol = text.split_once("Application protocol: ").unwrap().1.lines().next();
    assert_eq!(record.job["params"]["protocol"].as_str(), protocol);
    let (cut, _) = text.split_once("time for request").unwrap();
    assert!(refusal(cut).contains("time for request"), "{}", refusal(cut));
    let twice = refusal(&format!("{text}{text}"));
    assert!(twice.contains("put each into a file of its own"), "{twice}");
}

#[test]
fn h2load_without_an_answer_has_no_latency() {
    let record = record_of(
        "starting benchmark...\n\
         spawning thread #0: 1 total client(s). 10 total requests\n\n\
         finished in 1.00ms, 0.00 req/s, 0B/s\n\
         requests: 10 total, 1 started, 0 done, 0 succeeded, 10 failed, 10 errored, 0 timeout\n\
         status codes: 0 2xx, 0 3xx, 0 4xx, 0 5xx\n\
         \x20                    min         max         mean         sd        +/- sd\n\
         time for request:        0us         0us         0us         0us     0.00%\n",
    );
    assert_eq!((metric(&record, "error_ratio"), record.errors["no answer"]), (1.0, 10));
    assert!(!record.metrics.keys().any(|name| name.ends_with("_ns")));
}
