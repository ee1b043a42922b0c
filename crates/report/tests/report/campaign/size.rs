//! A large run: 10 000 cells in 3 rounds take bounded memory, and no format takes long.

use std::process::Command;
use std::time::Instant;

use hopbench_model::{Cell, Record, RunFile, Schedule, Via};
use hopbench_report::campaign::{RunData, SUMMARY_FORMATS};
use serde_json::json;

use super::fixture::{self, Costs, Noise};

/// Resident at most, over the whole process with every format rendered in turn, bytes.
const MOST_BYTES: u64 = 200_000_000;
/// For a build without optimisation on a machine that does other things; 5 s is the goal of a
/// release build.
const MOST_S: u64 = 60;

fn large() -> RunFile {
    let kinds = ["host", "bridge", "overlay", "eni", "ptp"];
    let paths = (0..100)
        .map(|i| {
            fixture::path(
                &format!("path-{i}"),
                (kinds[i % 5], "a"),
                (kinds[i / 20], "b"),
                Via::Direct,
            )
        })
        .collect();
    let points = (0..100)
        .map(|i| {
            let values = [("connections", json!(i + 1))];
            fixture::point("web", &values, fixture::job("http", json!({}), Schedule::Closed, i + 1))
        })
        .collect();
    fixture::run("large (made up)", paths, points, 3, Some("path-0"))
}

/// Not a test by itself: the other one runs it as a process of its own, whose memory it can see.
#[test]
#[ignore = "run by a_large_run_takes_bounded_memory_and_time"]
fn report_of_a_large_run() {
    let run = large();
    let mut noise = Noise::default();
    let latency = fixture::distribution(90_000.0, &mut noise);
    let mut campaign = RunData::new(&run);
    let template: Vec<Record> = run.plan.cells[..100]
        .iter()
        .map(|cell| {
            fixture::record(
                &run,
                *cell,
                1,
                Costs { speed: 1.0, latency: 1.0, cpu: 1.0 },
                &mut noise,
            )
        })
        .collect();
    let mut count = 0;
    let begun = Instant::now();
    for round in 1..=3 {
        for Cell { path, point } in &run.plan.cells {
            let mut record = template[*point].clone();
            record.round = round;
            record.path.clone_from(&run.plan.paths[*path].name);
            record.metrics.insert("requests_per_s".to_owned(), 1000.0 * (1.0 + noise.next()));
            record.latency.insert("service_ns".to_owned(), latency.clone());
            // As the command does: a line is read, used and forgotten.
            let line = serde_json::to_string(&record).unwrap();
            campaign.add(&serde_json::from_str(&line).unwrap());
            count += 1;
        }
    }
    let summary = campaign.into_summary();
    assert_eq!((count, summary.run.used_trials), (30_000, 30_000));
    assert_eq!(summary.workloads[0].cells.len(), 10_000);
    println!("summary, {}", peak());
    for format in SUMMARY_FORMATS {
        let text = (format.render)(&summary);
        println!("{} {} bytes, {}", format.name, text.len(), peak());
        assert!(text.len() < 80_000_000, "{}: {} bytes", format.name, text.len());
    }
    println!("took {} ms", begun.elapsed().as_millis());
    println!("{}", peak());
}

/// The most memory that was resident so far: `VmHWM: 189000 kB`.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("VmHWM:")).unwrap().to_owned()
}

#[test]
fn a_large_run_takes_bounded_memory_and_time() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "campaign::size::report_of_a_large_run", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let number = |start: &str| -> u64 {
        let line = text
            .lines()
            .rfind(|line| line.contains(start))
            .unwrap_or_else(|| panic!("no {start}: {text}"));
        line.split(start).nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap()
    };
    let resident = number("VmHWM:") * 1024;
    assert!(resident <= MOST_BYTES, "{resident} bytes resident\n{text}");
    assert!(number("took ") <= MOST_S * 1000, "{text}");
}
