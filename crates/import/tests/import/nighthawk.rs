//! Nighthawk's own JSON.

use hopbench_model::WarningKind;
use serde_json::{Value, json};

use crate::{fixture, is_near, metric, record, record_of, refusal, rises};

fn file() -> Value {
    serde_json::from_str(&fixture("nighthawk.json")).expect("a fixture of JSON")
}

/// The entry of a list that has this text in this field.
fn entry<'v>(list: &'v mut Value, field: &str, text: &str) -> &'v mut Value {
    let list = list.as_array_mut().expect("a list");
    list.iter_mut().find(|entry| entry[field] == text).expect("the entry")
}

fn global(file: &mut Value) -> &mut Value {
    entry(&mut file["results"], "name", "global")
}

/// A time of the file, ns.
fn ns(value: &Value) -> f64 {
    let text = value.as_str().and_then(|text| text.strip_suffix('s')).expect("a time");
    text.parse::<f64>().expect("a number") * 1e9
}

#[test]
fn all_workers_together_are_read() {
    let (record, mut file) = (record("nighthawk.json"), file());
    assert_eq!(record.workload, "nighthawk-http-paced");
    rises(&record, "service");
    let workers = (file["results"].as_array().expect("a list").len() - 1) as u64;
    let options = file["options"].clone();
    let of_all = |name: &str| options[name].as_u64().expect("a number") * workers;
    assert_eq!(record.job["params"]["qps"], of_all("requests_per_second"));
    assert_eq!(record.job["connections"], of_all("connections"));
    let global = global(&mut file);
    assert!(is_near(record.window_s * 1e9, ns(&global["execution_duration"]), 1e-9));
    let counter = entry(&mut global["counters"], "name", "benchmark.http_2xx");
    let answered: f64 = counter["value"].as_str().expect("a text").parse().expect("a number");
    assert_eq!(metric(&record, "requests"), answered);
    assert_eq!(record.statuses["2xx"], answered as u64);
    let per_s = answered / record.window_s;
    assert!(is_near(metric(&record, "requests_per_s"), per_s, 1e-9));
    assert_eq!(metric(&record, "error_ratio"), 0.0);
    let times = "benchmark_http_client.request_to_response";
    let times = entry(&mut global["statistics"], "id", times);
    assert!(is_near(metric(&record, "service_mean_ns"), ns(&times["mean"]), 1e-9));
    assert!(is_near(metric(&record, "service_max_ns"), ns(&times["max"]), 1e-9));
    assert!(record.environment.client["tool"].starts_with("Nighthawk "));
}

/// Its percentiles are its own. That for p99 is the first one from there on, and is named.
#[test]
fn a_percentile_that_it_does_not_state_has_the_next_one() {
    let (record, mut file) = (record("nighthawk.json"), file());
    let times = "benchmark_http_client.request_to_response";
    let times = entry(&mut global(&mut file)["statistics"], "id", times);
    let list = times["percentiles"].as_array().expect("a list").clone();
    let first = |from: f64| {
        let is_it = |entry: &&Value| entry["percentile"].as_f64().expect("a number") >= from;
        list.iter().find(is_it).expect("a percentile")
    };
    for (from, name) in [(0.5, "p50"), (0.9, "p90"), (0.99, "p99")] {
        let found = metric(&record, &format!("service_{name}_ns"));
        assert!(is_near(found, ns(&first(from)["duration"]), 1e-9), "{name}");
    }
    let stated = first(0.99)["percentile"].as_f64().expect("a number") * 100.0;
    let told = record.explanation.iter().any(|line| line.contains("p99 is its "));
    assert_eq!(told, !is_near(stated, 99.0, 1e-9), "{:?}", record.explanation);
    // Old versions have the ends among the percentiles only.
    for name in ["min", "max"] {
        times.as_object_mut().expect("an object").remove(name);
    }
    let old = record_of(&file.to_string());
    for name in ["service_min_ns", "service_max_ns"] {
        assert!(is_near(metric(&old, name), metric(&record, name), 0.01), "{name}");
    }
}

#[test]
fn failures_and_requests_that_were_not_sent() {
    let mut file = file();
    let counters = [
        ("benchmark.http_2xx", "900"),
        ("benchmark.http_5xx", "60"),
        ("benchmark.stream_resets", "30"),
        ("benchmark.stream_resets_before_headers", "30"),
        ("benchmark.pool_connection_failure", "10"),
        ("benchmark.pool_overflow", "7"),
    ];
    let counters = counters.map(|(name, value)| json!({"name": name, "value": value}));
    global(&mut file)["counters"] = json!(counters);
    let record = record_of(&file.to_string());
    assert_eq!((metric(&record, "requests"), metric(&record, "error_ratio")), (960.0, 0.1));
    assert_eq!((record.errors["the stream was reset"], record.errors["no connection"]), (30, 10));
    assert_eq!(record.warnings[0].kind, WarningKind::Unsent);
    global(&mut file)["counters"] = json!([]);
    let none = record_of(&file.to_string());
    assert!(!none.metrics.keys().any(|name| name.ends_with("_ns")), "nothing was answered");
}

#[test]
fn settings_of_other_versions() {
    let mut file = file();
    file["options"]["protocol"] = json!({"value": "HTTP2"});
    file["options"]["open_loop"] = json!(true);
    let alone = global(&mut file).clone();
    file["results"] = json!([alone]);
    let record = record_of(&file.to_string());
    let params = &record.job["params"];
    assert_eq!((&params["http2"], &params["open_loop"]), (&json!(true), &json!(true)));
    assert_eq!(params["qps"], file["options"]["requests_per_second"], "it had one worker");
    global(&mut file).as_object_mut().expect("an object").remove("execution_duration");
    file["options"]["duration"] = json!("5s");
    assert_eq!(record_of(&file.to_string()).window_s, 5.0, "as it was to take");
    file["options"].as_object_mut().expect("an object").remove("requests_per_second");
    assert_eq!(record_of(&file.to_string()).workload, "nighthawk-http");
}

#[test]
fn what_is_malformed_is_refused_with_its_field() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut file = file();
        change(global(&mut file));
        refusal(&file.to_string())
    };
    let length = refused(&|global| global["execution_duration"] = json!("soon"));
    let expected = "execution_duration: found `soon`, expected a time like `0.000123456s`";
    assert!(length.contains(expected), "{length}");
    let none = refused(&|global| global["execution_duration"] = json!("0s"));
    assert!(none.contains("expected a time of more than 0"), "{none}");
    let count = refused(&|global| global["counters"][0]["value"] = json!("many"));
    assert!(count.contains("counters.0.value: found `many`, expected a number"), "{count}");
    let times = refused(&|global| global["statistics"] = json!([]));
    assert!(times.contains("statistics: found `[]`, expected the statistic"), "{times}");
    let text = fixture("nighthawk.json");
    let cut = refusal(&text[..text.len() / 2]);
    assert!(cut.starts_with("a.file line ") && cut.contains(" column "), "{cut}");
}
