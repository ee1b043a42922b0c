//! Trials in the formats of other tools, read as those tools read them.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{MeshMode, Record, Via};
use hopbench_report::export::{Export, Exported, trial_format};
use serde_json::Value;

use super::fixture::Made;
use super::mesh::{self, mesh};

/// What the job of Istio's kit asks its script for.
const ISTIO_COLUMNS: &str = "StartTime,ActualDuration,Labels,NumThreads,ActualQPS,p50,p90,p99,\
    p999,cpu_mili_avg_istio_proxy_fortioclient,cpu_mili_avg_istio_proxy_fortioserver,\
    cpu_mili_avg_istio_proxy_istio-ingressgateway,mem_Mi_avg_istio_proxy_fortioclient,\
    mem_Mi_avg_istio_proxy_fortioserver,mem_Mi_avg_istio_proxy_istio-ingressgateway";

fn export(made: &Made, format: &str) -> (String, Vec<Exported>, Vec<String>) {
    let mut export = Export::new(trial_format(format).unwrap(), &made.run);
    let trials = made.records.iter().filter_map(|record| export.add(record)).collect();
    (export.head().to_owned(), trials, export.notes())
}

/// The text of a whole run.
pub(crate) fn text(made: &Made, format: &str) -> String {
    let (head, trials, _) = export(made, format);
    trials.iter().fold(head, |out, trial| out + &trial.text)
}

fn objects(made: &Made) -> Vec<Value> {
    export(made, "fortio")
        .1
        .iter()
        .map(|trial| serde_json::from_str(&trial.text).unwrap())
        .collect()
}

/// A run with one trial of these service times, ns.
pub(crate) fn one(samples: &[u64], change: impl Fn(&mut Record)) -> Made {
    let mut made = mesh(1);
    made.records.retain(|record| {
        record.workload == "web" && record.path == "both" && record.point["rate"] == 1000
    });
    assert_eq!(made.records.len(), 1);
    let record = &mut made.records[0];
    record.latency.insert("service_ns".to_owned(), mesh::of(samples));
    record.latency.insert(
        "response_ns".to_owned(),
        mesh::of(&samples.iter().map(|ns| ns * 2).collect::<Vec<_>>()),
    );
    record.statuses = BTreeMap::from([("200".to_owned(), samples.len() as u64)]);
    change(record);
    made
}

/// What the kit's script makes of a result: its row by the names of its columns.
fn converted(data: &Value) -> BTreeMap<String, String> {
    let mut row = BTreeMap::new();
    for key in ["Labels", "StartTime", "RunType"] {
        row.insert(key.to_owned(), data[key].as_str().unwrap().to_owned());
    }
    let asked = data["RequestedQPS"].as_str().unwrap();
    let asked = if asked == "max" { 99_999_999.0 } else { asked.parse::<f64>().unwrap() };
    row.insert("RequestedQPS".to_owned(), asked.round().to_string());
    row.insert("ActualQPS".to_owned(), data["ActualQPS"].as_f64().unwrap().round().to_string());
    row.insert("NumThreads".to_owned(), data["NumThreads"].as_u64().unwrap().to_string());
    row.insert(
        "ActualDuration".to_owned(),
        (data["ActualDuration"].as_u64().unwrap() / 1_000_000_000).to_string(),
    );
    for percentile in data["DurationHistogram"]["Percentiles"].as_array().unwrap() {
        // The column is called as the number is written.
        let name = format!("p{}", percentile["Percentile"]).replace('.', "");
        row.insert(name, ((percentile["Value"].as_f64().unwrap() * 1e6) as u64).to_string());
    }
    let calls = data["Sizes"]["Count"].as_u64().unwrap();
    assert!(calls > 0, "a division by zero");
    let good = data["RetCodes"].get("200").map_or(0, |n| n.as_u64().unwrap());
    row.insert(
        "errorPercent".to_owned(),
        (100.0 * (calls - good) as f64 / calls as f64).to_string(),
    );
    row.insert("Payload".to_owned(), (data["Sizes"]["Avg"].as_f64().unwrap() as u64).to_string());
    row
}

#[test]
fn the_csv_has_the_columns_and_the_rows_of_the_kit() {
    let made = mesh(2);
    let (head, trials, notes) = export(&made, "istio-csv");
    assert_eq!(head, format!("{ISTIO_COLUMNS}\n"));
    let http = made
        .records
        .iter()
        .filter(|record| ["web", "pool"].contains(&record.workload.as_str()))
        .count();
    assert_eq!(trials.len(), http, "a row a trial");
    assert!(
        notes[0].ends_with("trials left out: istio-csv is for HTTP and gRPC only"),
        "{notes:?}"
    );
    let columns: Vec<_> = ISTIO_COLUMNS.split(',').collect();
    for (trial, object) in trials.iter().zip(objects(&made)) {
        let values: Vec<_> = trial.text.trim_end().split(',').collect();
        assert_eq!(values.len(), columns.len(), "{}", trial.text);
        // Through the kit's own conversion of our fortio results the row is the same.
        let row = converted(&object);
        for (column, value) in columns.iter().zip(&values).take(9) {
            let same = row[*column] == *value;
            // Cutting a double can lose the last microsecond.
            let near = column.starts_with('p')
                && row[*column].parse::<i64>().unwrap() + 1 == value.parse::<i64>().unwrap();
            assert!(same || near, "{column}: {value}, through fortio's JSON {}", row[*column]);
        }
        for value in &values[9..] {
            assert!(
                *value == "-" || value.parse::<f64>().is_ok_and(|number| number > 0.0),
                "{value}"
            );
        }
    }
}

#[test]
fn proxies_stand_in_the_columns_of_the_kit() {
    let made = one(&[1_000_000], |record| {
        let server =
            record.cost.proxies.iter().find(|proxy| proxy.name == "server-sidecar").unwrap();
        let mut second = server.clone();
        second.name = "server-sidecar#2".to_owned();
        record.cost.proxies.push(second);
        for proxy in &mut record.cost.proxies {
            let client = proxy.name == "client-sidecar";
            proxy.figures.insert("cores".to_owned(), if client { 0.25 } else { 0.1 });
            proxy
                .figures
                .insert("rss_bytes".to_owned(), if client { 52_428_800.0 } else { 1_048_576.0 });
        }
    });
    let row = text(&made, "istio-csv");
    assert!(row.ends_with(",250.000,200.000,-,50.000,2.000,-\n"), "{row}");
}

#[test]
fn results_keep_every_rule_of_their_readers() {
    for object in objects(&mesh(1)) {
        let raw = object["DurationHistogram"]["Percentiles"].as_array().unwrap();
        let names: Vec<String> = raw.iter().map(|p| p["Percentile"].to_string()).collect();
        assert_eq!(names, ["50", "75", "90", "99", "99.9"], "50.0 would be column p500");
        assert_eq!(object["RunType"], "HTTP");
        let time = object["StartTime"].as_str().unwrap();
        assert!(time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
        assert!(object["RequestedQPS"].is_string() && object["ActualDuration"].is_u64());
        assert_eq!(object["ActualDuration"], 2_000_000_000u64);
        assert_eq!(object["RequestedDuration"], "2s");
        assert!(object["RetCodes"].is_object() && object["RetCodes"]["200"].is_u64());
        for absent in ["error", "message", "exception", "exceptionDetails"] {
            assert!(object.get(absent).is_none(), "{absent}");
        }
        let histogram = &object["DurationHistogram"];
        let data = histogram["Data"].as_array().unwrap();
        assert_eq!(
            (&data[0]["Start"], &data[data.len() - 1]["End"]),
            (&histogram["Min"], &histogram["Max"])
        );
        assert_eq!(
            data.iter().map(|b| b["Count"].as_u64().unwrap()).sum::<u64>(),
            histogram["Count"].as_u64().unwrap()
        );
        assert_eq!(data[data.len() - 1]["Percent"], 100.0);
        assert!(object["Sizes"].get("Percentiles").is_none() && object["Sizes"]["Data"].is_null());
        let label = object["Labels"].as_str().unwrap();
        assert!(!label.contains([' ', ',']), "{label}");
    }
}

/// A percentile as fortio reads it from its buckets: a straight line within each.
fn interpolated(object: &Value, percentile: f64) -> f64 {
    let data = object["DurationHistogram"]["Data"].as_array().unwrap();
    let number = |bucket: &Value, name: &str| bucket[name].as_f64().unwrap();
    let mut before = 0.0;
    for bucket in data {
        let percent = number(bucket, "Percent");
        if percent >= percentile {
            let (start, end) = (number(bucket, "Start"), number(bucket, "End"));
            return start + (percentile - before) / (percent - before) * (end - start);
        }
        before = percent;
    }
    object["DurationHistogram"]["Max"].as_f64().unwrap()
}

#[test]
fn reading_between_the_ends_of_buckets_does_no_harm() {
    // A body near 1.2 ms and 2 % of calls at 150 ms: with buckets of 1 ms the median would read 26
    // % too much.
    let samples: Vec<u64> =
        (0..5000).map(|i| if i % 50 == 0 { 150_000_000 } else { 1_150_000 + i * 30 }).collect();
    let mut sorted = samples.clone();
    sorted.sort_unstable();
    let object = &objects(&one(&samples, |_| {}))[0];
    for percentile in [50.0, 75.0, 90.0, 97.0, 99.0, 99.9] {
        let truth = sorted[(percentile / 100.0 * 5000.0) as usize - 1] as f64 / 1e9;
        let read = interpolated(object, percentile);
        assert!((read / truth - 1.0).abs() < 0.002, "p{percentile}: {read} for {truth}");
    }
    let response = &object["Hopbench"]["latency"]["response_ns"];
    let read = hopbench_stats::Histogram::from_base64(response["hdr"].as_str().unwrap()).unwrap();
    assert_eq!(read.count(), 5000);
    assert!(read.percentile(50.0) > 2 * 1_150_000, "the response time is there, and another");
}

/// Of gRPC, a call that was refused has an answer with the status of one that was not.
#[test]
fn calls_that_were_refused_are_no_success() {
    let made = one(&[1_000_000; 90], |record| {
        record.statuses.insert("200".to_owned(), 95);
        record.errors.insert("grpc_unavailable".to_owned(), 5);
    });
    let object = &objects(&made)[0];
    assert_eq!(object["RetCodes"], serde_json::json!({"200": 90, "-1": 5}));
    assert_eq!(object["ErrorsDurationHistogram"]["Count"], 5);
}

#[test]
fn calls_that_failed_are_counted_as_such() {
    let made = one(&[1_000_000; 90], |record| {
        // As the client counts: every answer by its status, and those from 400 on among the
        // failures, too, by the class of the status or by what a proxy says of it.
        for (status, count) in [("204", 3), ("404", 1), ("503", 4)] {
            record.statuses.insert(status.to_owned(), count);
        }
        for (reason, count) in [
            ("status_5xx", 2),
            ("status_4xx", 1),
            ("503 UF", 2),
            ("other", 1),
            ("connect_refused", 1),
        ] {
            record.errors.insert(reason.to_owned(), count);
        }
    });
    let object = &objects(&made)[0];
    assert_eq!(
        object["RetCodes"],
        serde_json::json!({"200": 90, "204": 3, "404": 1, "503": 4, "-1": 2})
    );
    assert_eq!(object["Sizes"]["Count"], 100);
    assert_eq!(
        object["ErrorsDurationHistogram"],
        serde_json::json!({"Count": 10, "Data": null}),
        "no invented times"
    );
    assert_eq!(object["DurationHistogram"]["Count"], 90, "those that succeeded");
    assert_eq!(converted(object)["errorPercent"], "10");
    assert_eq!(object["ActualQPS"], 50.0, "100 calls in 2 s");
    // A proxy's word can stand for answers of any class; more answers than failures are no failures
    // without an answer.
    let late = one(&[1_000_000; 90], |record| {
        record.metrics.insert("requests_per_s".to_owned(), 30.0);
        record.metrics.insert("error_ratio".to_owned(), 0.25);
    });
    assert_eq!(
        objects(&late)[0]["ActualQPS"],
        40.0,
        "what was due and came after the window is not in it"
    );
    let fewer = one(&[1_000_000; 9], |record| {
        record.statuses.insert("503".to_owned(), 1);
        record.errors.clear();
    });
    assert_eq!(objects(&fewer)[0]["RetCodes"], serde_json::json!({"200": 9, "503": 1}));
    let only_errors = one(&[1_000_000], |record| record.statuses.clear());
    assert!(objects(&only_errors).is_empty(), "no call at all");
}

#[test]
fn threads_connections_and_rates_are_those_of_all_clients() {
    let mut made = one(&[1_000_000], |_| {});
    made.run.plan.paths.iter_mut().for_each(|path| path.clients = 3);
    let object = &objects(&made)[0];
    for (field, value) in [("NumThreads", 48), ("NumConnections", 48), ("SocketCount", 48)] {
        assert_eq!(object[field], value, "{field}");
    }
    assert_eq!(
        (object["RequestedQPS"].as_str(), object["Sockets"].as_array().map(Vec::len)),
        (Some("3000"), Some(48))
    );
    assert_eq!(object["Labels"], "ade0001_qps_3000_c_48_1024_plain_both");
    let row = text(&made, "istio-csv");
    assert!(row.lines().nth(1).unwrap().contains("_qps_3000_c_48_1024_plain_both,48,"), "{row}");
}

#[test]
fn labels_say_what_the_plotter_looks_for_and_tell_trials_apart() {
    let made = mesh(1);
    let labels: Vec<String> =
        objects(&made).iter().map(|object| object["Labels"].as_str().unwrap().to_owned()).collect();
    let of = |path: &str, workload: &str| {
        let at = made.records.iter().filter(|r| ["web", "pool"].contains(&r.workload.as_str()));
        let at = at.clone().position(|r| r.path == path && r.workload == workload).unwrap();
        labels[at].as_str()
    };
    // The digits of `made-up-0001` that are hexadecimal.
    assert_eq!(of("none", "web"), "ade0001_qps_100_c_16_1024_none_no_istio");
    assert_eq!(of("both", "pool"), "ade0001_qps_0_c_8_1024_plain_both");
    assert_eq!(of("both-stats", "web"), "ade0001_qps_100_c_16_1024_stats_both");
    assert_eq!(of("server", "web"), "ade0001_qps_100_c_16_1024_plain_serveronly");
    assert_eq!(of("client", "web"), "ade0001_qps_100_c_16_1024_plain_clientonly");
    assert_eq!(
        of("gateway", "web"),
        "ade0001_qps_100_c_16_1024_plain_gateway-web-rate=100_ingress"
    );
    assert_eq!(
        of("gateway-server", "web"),
        "ade0001_qps_100_c_16_1024_plain_gateway-server-web-rate=100_ingress"
    );
    assert_eq!(
        labels.iter().collect::<BTreeSet<_>>().len(),
        labels.len(),
        "one round: every label once"
    );
}

#[test]
fn every_trial_has_a_file_of_its_own() {
    let mut made = mesh(2);
    let long = "a path with a very long name, blanks and commas ".repeat(4);
    made.run.plan.paths.push(mesh::path(&long, Via::Direct, MeshMode::Both, "plain"));
    let path = made.run.plan.paths.len() - 1;
    let mut more: Vec<Record> = made.records.iter().filter(|r| r.path == "both").cloned().collect();
    more.iter_mut().for_each(|record| record.path.clone_from(&long));
    made.records.extend(more);
    let cells: Vec<_> =
        (0..made.run.plan.points.len()).map(|point| hopbench_model::Cell { path, point }).collect();
    made.run.plan.cells.extend(cells);
    let (_, trials, _) = export(&made, "fortio");
    let names: BTreeSet<&str> = trials.iter().map(|trial| trial.file.as_deref().unwrap()).collect();
    assert_eq!(names.len(), trials.len());
    for name in names {
        let stem = name.strip_suffix(".json").unwrap();
        assert!(
            stem.len() <= 96 + 4 && stem.starts_with("2026-03-01-120001_ade0001_qps_"),
            "{stem}"
        );
        assert!(
            stem.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')),
            "{stem}"
        );
    }
    assert!(text(&made, "istio-csv").lines().all(|line| line.split(',').count() == 15));
}

#[test]
fn trials_in_no_figure_are_left_out_and_counted() {
    let mut made = mesh(1);
    made.records.retain(|record| record.workload == "web");
    let all = made.records.len();
    made.records[0].error = Some("there is no evidence of the path".to_owned());
    made.records[1].incomplete = Some("^C".to_owned());
    made.records[2].run_id = "another".to_owned();
    made.records[3].path = "unknown".to_owned();
    made.records[4].latency.clear();
    let (_, trials, notes) = export(&made, "fortio");
    assert_eq!(trials.len(), all - 5);
    assert_eq!(
        notes,
        ["5 trials left out: in no figure, or without an answer; `hopbench report` says why"]
    );
}
