//! Sweeps over the size: a row a size, columns of each path.

use hopbench_model::{Schedule, Via};
use serde_json::json;

use super::fixture::{self, Costs, Made};
use super::{render, summary};

/// Exchanges and bulk over these sizes on two paths, of which the second is half as fast.
fn swept(exchanges: &[&str], bulk: &[&str]) -> Made {
    let paths =
        ["host", "bridge"].map(|kind| fixture::path(kind, (kind, "a"), (kind, "b"), Via::Direct));
    let of = |name: &'static str, kind: &'static str| {
        move |size: &&str| {
            let job = fixture::job(kind, json!({"size": size}), Schedule::Closed, 1);
            fixture::point(name, &[("size", json!(size))], job)
        }
    };
    let points = bulk.iter().map(of("bandwidth", "stream"));
    let points = points.chain(exchanges.iter().map(of("latency", "rr"))).collect();
    let run = fixture::run("sizes", paths.into(), points, 3, Some("host"));
    let mut made = fixture::measured(run, |_| Costs { speed: 1.0, latency: 1.0, cpu: 1.0 });
    for record in &mut made.records {
        let is_small = record.point["size"] == "1B";
        let slow = if record.path == "host" { 1.0 } else { 2.0 };
        let rate = if is_small { 2e6 } else { 8e9 };
        if let Some(received) = record.metrics.get_mut("received_bits_per_s") {
            *received = rate / slow;
        }
        for latency in record.latency.values_mut() {
            latency.p50 = if is_small { 20_000 } else { 60_000 } * slow as u64;
        }
    }
    made
}

fn lines(page: &str, from: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| line.trim() != from).skip(1);
    lines.map(|line| line.trim_end().to_owned()).take(4).collect()
}

#[test]
fn latency_and_bandwidth_of_a_path_stand_side_by_side() {
    let made = swept(&["1B", "4KiB"], &["1B", "4KiB"]);
    let page = render(&made, "table");
    assert_eq!(
        lines(&page, "latency and bandwidth by size"),
        [
            "                         host                 bridge",
            "  size  RTT p50      received  RTT p50      received",
            "             us                     us",
            "  1B       20.0  2.000 Mbit/s     40.0  1.000 Mbit/s",
        ]
    );
    let markdown = render(&made, "markdown");
    assert!(markdown.contains(
        "| size | host, RTT p50, us | host, received | bridge, RTT p50, us | bridge, received |"
    ));
    assert!(render(&made, "html").contains("colspan=\"2\">bridge</th>"));
    assert!(!page.contains("\nlatency by size"));
}

#[test]
fn what_was_not_measured_is_a_dash() {
    let mut made = swept(&["1B", "4KiB"], &["1B", "4KiB"]);
    made.records.retain(|record| record.path == "host" || record.workload == "latency");
    let page = render(&made, "table");
    let row = lines(&page, "latency and bandwidth by size")[3].clone();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["1B", "20.0", "2.000", "Mbit/s", "40.0", "-"]
    );
}

#[test]
fn other_sizes_have_a_table_of_their_own_and_one_size_has_none() {
    let page = render(&swept(&["1B", "64B"], &["1B", "4KiB"]), "table");
    assert!(
        page.contains("  latency by size\n") && page.contains("  bandwidth by size\n"),
        "{page}"
    );
    let made = swept(&["1B", "64B"], &["1B"]);
    assert_eq!(summary(&made).workloads.len(), 2);
    let page = render(&made, "table");
    assert!(page.contains("  latency by size\n") && !page.contains("bandwidth by size"), "{page}");
}
