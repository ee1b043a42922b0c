//! `hopbench report` on a results folder.

use std::fs;
use std::path::Path;

use hopbench_model::{Record, RecordLines, RunFile, SharedParts, record_of_line};
use hopbench_stats::Histogram;
use serde_json::{Value, json};

use crate::lab::program;
use crate::lab::program::run;
use crate::made_up::folder;

#[test]
fn profiles_of_another_version_are_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    fs::create_dir(dir.path().join("profile")).unwrap();
    let file = dir.path().join("profile/profile.json");
    let newer = r#"{"schema": "hopbench.profile/9", "graphs": []}"#;
    fs::write(&file, newer).unwrap();
    let mut resumed = program(&["run", "--resume"]);
    let done = run(resumed.arg(dir.path()).args(["--resume-anyway", "--profile"]));
    assert_eq!(done.code, Some(2), "{}", done.story());
    for words in [
        "profile.json",
        "found `hopbench.profile/9`",
        "expected `hopbench.profile/1`",
        "use the hopbench that wrote it",
    ] {
        assert!(done.stderr.contains(words), "nothing about `{words}`: {}", done.story());
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), newer);
}

#[test]
fn a_folder_is_reported_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let report = |more: &[&str]| run(program(&["report"]).arg(dir.path()).args(more));
    let table = report(&["--details"]);
    assert_eq!(table.code, Some(0), "{}", table.story());
    assert_eq!(report(&["--format", "table"]).stdout, table.stdout);
    assert!(
        table.stdout.contains("made-up\nstatus: complete; trials: 4 of 4 trials used; "),
        "{}",
        table.stdout
    );
    // Both rounds have the ratio 0.5, whatever the round was like; the median is the mean of 4 and
    // 5 Gbit/s. Of two rounds the interval is Student's t of the logarithms with 1 degree of
    // freedom: a factor of exp(12.706 x ln(5 / 4) / 2) = 4.127.
    assert!(
        table.stdout.contains("4.500 [1.084, 18.458]  0.500 [0.500, 0.500]"),
        "{}",
        table.stdout
    );
    let json: Value = serde_json::from_str(&report(&["--format", "json"]).stdout).unwrap();
    assert_eq!(json["schema"], "hopbench.summary/1");
    assert_eq!(json["workloads"][0]["cells"][1]["figures"][0]["median"], 4.5e9);
    assert!(
        report(&["-f", "csv"]).stdout.starts_with("path,from,to,via,workload,kind,figure,median,")
    );
    assert!(report(&["-f", "markdown"]).stdout.starts_with("# made-up\n"));
    let file = dir.path().join("page.html");
    let written = report(&["-f", "html", "-o", file.to_str().unwrap()]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""), "{}", written.story());
    assert!(fs::read_to_string(&file).unwrap().starts_with("<!DOCTYPE html>"));
    let left: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "a part of a file was left: {left:?}");
}

/// Without flags the answer is printed, and it says how to see the rest.
#[test]
fn the_answer_comes_first() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let report = |more: &[&str]| run(program(&["report"]).arg(dir.path()).args(more));
    let answer = report(&[]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{}", answer.story());
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert!(lines.len() <= 40, "{}", answer.stdout);
    // Two rounds show no verdict: every path has its figure.
    let row = |name: &str| {
        lines.iter().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}"))
    };
    assert!(
        row("host").ends_with("9.00 Gbit/s") && row("bridge").ends_with("4.50 Gbit/s"),
        "{}",
        answer.stdout
    );
    let named = dir.path().to_str().unwrap();
    assert_eq!(
        lines.last(),
        Some(&format!("details          hopbench report {named} --details").as_str())
    );
    assert!(!answer.stdout.contains("report.html"), "there is none");
    fs::write(dir.path().join("report.html"), "").unwrap();
    assert!(report(&[]).stdout.contains(&format!("\nreport           {named}/report.html\n")));

    let one = report(&["--workload", "bulk"]);
    assert_eq!(
        (one.code, &one.stdout),
        (Some(0), &report(&["--details"]).stdout),
        "{}",
        one.story()
    );
    let none = report(&["--workload", "web"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(2), ""), "{}", none.story());
    assert!(
        none.stderr.contains("--workload: found `web`, expected one of bulk"),
        "{}",
        none.stderr
    );
    for both in [&["--details", "--format", "csv"][..], &["--workload", "bulk", "--format", "csv"]]
    {
        let refused = report(both);
        assert_eq!(
            (refused.code, refused.stdout.as_str()),
            (Some(2), ""),
            "{both:?}: {}",
            refused.story()
        );
    }
}

/// The unit of throughput may be asked for. What programs read has its base units all the same.
#[test]
fn throughput_is_shown_in_the_unit_that_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let report = |more: &[&str]| run(program(&["report"]).arg(dir.path()).args(more));
    let answer = report(&["--units", "MB/s"]);
    let row = answer.stdout.lines().find(|line| line.starts_with("bridge"));
    assert!(row.is_some_and(|row| row.ends_with("562 MB/s")), "{}", answer.story());
    let details = report(&["--details", "--units", "MB/s"]).stdout;
    assert!(details.contains("562 [135, 2307]  0.500") && details.contains("MB/s"), "{details}");
    assert!(report(&["--units", "MiB/s", "-f", "markdown"]).stdout.contains("received, MiB/s"));
    for format in ["csv", "json"] {
        let plain = report(&["-f", format]).stdout;
        assert_eq!(report(&["-f", format, "--units", "GB/s"]).stdout, plain, "{format}");
    }
    let unknown = report(&["--units", "mb"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""), "{}", unknown.story());
    let known = "Mbit/s, Gbit/s, MB/s, GB/s, MiB/s";
    assert!(
        unknown.stderr.contains("'mb'") && unknown.stderr.contains(known),
        "{}",
        unknown.stderr
    );
}

/// `-` is standard output, everywhere, and no file.
#[test]
fn a_dash_is_standard_output() {
    let dir = tempfile::tempdir().unwrap();
    folder_of_http(dir.path());
    let another = tempfile::tempdir().unwrap();
    folder(another.path());
    for name in ["run.json", "records.jsonl"] {
        let path = another.path().join(name);
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("\"r1\"", "\"r2\"")).unwrap();
    }
    let work = tempfile::tempdir().unwrap();
    let (one, other) = (dir.path().to_str().unwrap(), another.path().to_str().unwrap());
    for arguments in [
        &["report", one][..],
        &["report", one, "-f", "html"],
        &["report", one, "-f", "istio-csv"],
        &["report", one, "-f", "fortio"],
        &["compare", other, other],
    ] {
        let usual = run(program(arguments).current_dir(work.path()));
        for flag in [&["--output", "-"][..], &["-o", "-"], &["--out", "-"]] {
            let dashed = run(program(&[arguments, flag].concat()).current_dir(work.path()));
            assert_eq!(
                (dashed.code, &dashed.stdout),
                (usual.code, &usual.stdout),
                "{}",
                dashed.story()
            );
        }
    }
    // A folder is none.
    for arguments in
        [&["run", "quickstart", "--output", "-"][..], &["doctor", "--noise", "--output", "-"]]
    {
        let refused = run(program(arguments).current_dir(work.path()));
        assert_eq!(refused.code, Some(2), "{}", refused.story());
        assert!(
            refused.stderr.contains("--output: found `-`, expected a folder"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(fs::read_dir(work.path()).unwrap().count(), 0, "no file named `-`");
}

/// A link under the name of the part that is written, and under that of the report, leads nowhere.
#[test]
fn a_report_follows_no_link() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let work = tempfile::tempdir().unwrap();
    let (victim, page) = (work.path().join("victim"), work.path().join("page"));
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, &page).unwrap();
    let written = run(program(&["report", "-o"]).arg(&page).arg(dir.path()));
    assert_eq!(written.code, Some(0), "{}", written.story());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(
        fs::read_to_string(&page)
            .unwrap()
            .starts_with("made-up  2 paths x 1 workload, 2 rounds, 4 trials")
    );
}

/// Cells that a spreadsheet would take for formulas are text.
#[test]
fn no_cell_is_a_formula() {
    let hostile = |make: fn(&Path)| {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path());
        for name in ["run.json", "records.jsonl"] {
            let path = dir.path().join(name);
            let text = fs::read_to_string(&path).unwrap();
            let text = text.replace("\"bulk\"", "\"=1+1\"").replace("\"host\"", "\"@SUM(A1)\"");
            fs::write(&path, text.replace("\"2026-03-01T12:00:00Z\"", "\"-2+3\"")).unwrap();
        }
        dir
    };
    let (bulk, http) = (hostile(folder), hostile(folder_of_http));
    for (format, dir, first) in
        [("csv", &bulk, "\n'@SUM(A1),"), ("searches", &bulk, ""), ("istio-csv", &http, "\n'-2+3,")]
    {
        let done = run(program(&["report", "-f", format]).arg(dir.path()));
        assert_eq!(done.code, Some(0), "{}", done.story());
        let formula = |cell: &str| {
            cell.starts_with(['=', '+', '-', '@']) && cell != "-" && cell.parse::<f64>().is_err()
        };
        let cells = done.stdout.split(['\n', ',', '"']);
        assert_eq!(
            cells.filter(|cell| formula(cell)).collect::<Vec<_>>(),
            Vec::<&str>::new(),
            "{format}"
        );
        assert!(done.stdout.contains(first), "{format}: {}", done.stdout);
    }
}

#[test]
fn what_cannot_be_reported_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let none = run(program(&["report"]).arg(dir.path()));
    assert_eq!(none.code, Some(2), "{}", none.story());
    assert!(none.stderr.contains("run.json"), "{}", none.stderr);
    let gone = run(program(&["report"]).arg(dir.path().join("gone")));
    assert_eq!(gone.code, Some(2), "{}", gone.story());
    assert!(
        gone.stderr.contains("gone does not exist") && !gone.stderr.contains("run.json"),
        "{}",
        gone.stderr
    );
    fs::write(dir.path().join("file"), "").unwrap();
    let file = run(program(&["report"]).arg(dir.path().join("file")));
    assert_eq!(file.code, Some(2), "{}", file.story());
    assert!(file.stderr.contains("file is a file; expected a results folder"), "{}", file.stderr);
    fs::remove_file(dir.path().join("file")).unwrap();
    folder(dir.path());
    let format = run(program(&["report", "--format", "pdf"]).arg(dir.path()));
    assert_eq!(format.code, Some(2), "{}", format.story());
    assert!(format.stderr.contains("html"), "the formats are named: {}", format.stderr);
    let nowhere = run(program(&["report", "-o", "/proc/nowhere/report.txt"]).arg(dir.path()));
    assert_eq!(nowhere.code, Some(3), "{}", nowhere.story());
    assert!(nowhere.stderr.contains("/proc/nowhere/report.txt"), "{}", nowhere.stderr);
}

#[test]
fn a_report_takes_the_place_of_nothing_that_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let link = dir.path().join("page.html");
    std::os::unix::fs::symlink(dir.path().join("records.jsonl"), &link).unwrap();
    let before = ["run.json", "records.jsonl"].map(|name| fs::read(dir.path().join(name)).unwrap());
    for name in [
        "run.json",
        "records.jsonl",
        "superseded.jsonl",
        "agents.log",
        "trials.log",
        "page.html",
        "./run.json",
    ] {
        let refused = run(program(&["report", ".", "-o", name]).current_dir(dir.path()));
        assert_eq!(refused.code, Some(2), "{name}: {}", refused.story());
        assert!(refused.stderr.contains("part of what was measured"), "{name}: {}", refused.stderr);
    }
    assert_eq!(
        ["run.json", "records.jsonl"].map(|name| fs::read(dir.path().join(name)).unwrap()),
        before
    );
    assert!(!dir.path().join("agents.log").exists());
    // Elsewhere these are names like others.
    let elsewhere = tempfile::tempdir().unwrap();
    let written = run(program(&["report"])
        .arg(dir.path())
        .arg("-o")
        .arg(elsewhere.path().join("agents.log")));
    assert_eq!(written.code, Some(0), "{}", written.story());
}

/// The same folder with an HTTP workload in the place of the other, and two trials that answered.
fn folder_of_http(dir: &Path) {
    folder(dir);
    let file = dir.join("run.json");
    let mut run: Value =
        serde_json::from_str(&fs::read_to_string(&file).expect("run.json")).expect("JSON");
    run["plan"]["points"][0]["job"]["workload"] = json!("http");
    run["plan"]["points"][0]["job"]["schedule"] = json!({"rate": 500.0});
    fs::write(&file, run.to_string()).expect("written");
    let mut histogram = Histogram::new();
    [1_000_000, 2_000_000, 4_000_000].iter().for_each(|ns| histogram.record(*ns));
    let lines = fs::read_to_string(dir.join("records.jsonl")).expect("records");
    let lines = lines.lines().enumerate().map(|(index, line)| {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        if index < 2 {
            record["statuses"] = json!({"200": 3});
            record["latency"] = json!({ "service_ns": histogram.summary() });
        }
        record.to_string() + "\n"
    });
    fs::write(dir.join("records.jsonl"), lines.collect::<String>()).expect("written");
}

#[test]
fn trials_are_written_for_other_tools() {
    let dir = tempfile::tempdir().unwrap();
    folder_of_http(dir.path());
    let report = |more: &[&str]| run(program(&["report"]).arg(dir.path()).args(more));
    let csv = report(&["--format", "istio-csv"]);
    assert_eq!(csv.code, Some(0), "{}", csv.story());
    let rows: Vec<&str> = csv.stdout.lines().collect();
    assert_eq!(rows.len(), 3, "{}", csv.stdout);
    assert!(rows[1].starts_with("2026-03-01T12:00:00Z,1,1_qps_500_c_1_0_none_"), "{}", rows[1]);
    assert!(rows[1].ends_with("_no_istio,1,3,2000,4001,4001,4001,-,-,-,-,-,-"), "{}", rows[1]);
    assert!(
        csv.stderr.contains("2 trials left out: in no figure, or without an answer"),
        "{}",
        csv.stderr
    );
    let fortio = report(&["--format", "fortio"]);
    let objects: Vec<Value> =
        fortio.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["DurationHistogram"]["Count"], 3);
    // A file is written as a whole, a folder gets a file a trial, by the result's name.
    let file = dir.path().join("kit.csv");
    assert_eq!(report(&["-f", "istio-csv", "-o", file.to_str().unwrap()]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), csv.stdout);
    let results = dir.path().join("fortio");
    let written = report(&["-f", "fortio", "-o", &format!("{}/", results.display())]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""), "{}", written.story());
    for object in &objects {
        let file = results.join(format!("{}.json", object["ID"].as_str().unwrap()));
        let read: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(read, *object);
    }
    assert_eq!(fs::read_dir(&results).unwrap().count(), 2, "nothing else is there");
    let refused = report(&["-f", "istio-csv", "-o", results.to_str().unwrap()]);
    assert_eq!(refused.code, Some(2), "{}", refused.story());
}

/// A folder as a version before `hopbench.record/2` wrote it, and the same records as they are
/// written now.
#[test]
fn a_folder_of_older_records_says_the_same() {
    let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/results/some");
    let seed = fs::read_to_string(seed).expect("a folder in one file");
    let (run_json, lines) = seed.split_once("\n%\n").expect("run.json and records");
    let mut run: RunFile = serde_json::from_str(run_json).expect("run.json");
    let mut now = RecordLines::default();
    let new_lines = lines.lines().map(|line| {
        assert!(line.starts_with("{\"schema\":\"hopbench.record/1\""), "{line}");
        let mut record = record_of_line(line.as_bytes(), &SharedParts::default()).expect("old");
        record.schema = hopbench_model::RECORD_SCHEMA.to_owned();
        record.concise();
        now.line(&record).expect("JSON")
    });
    let new_lines: String = new_lines.collect();
    assert!(new_lines.len() * 10 < lines.len() * 9, "{} of {}", new_lines.len(), lines.len());
    run.shared = now.parts().clone();
    let new_run = serde_json::to_string(&run).expect("JSON");
    let [old, new] = [(run_json, lines), (&new_run, &new_lines)].map(|(run, records)| {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("run.json"), run).expect("written");
        fs::write(dir.path().join("records.jsonl"), records).expect("written");
        dir
    });
    for format in ["markdown", "table", "istio-csv", "fortio", "csv", "json"] {
        let report = |dir: &Path| run_report(dir, format);
        assert_eq!(report(old.path()), report(new.path()), "{format}");
    }
}

/// The record of a lab, with the meters of two nodes and the evidence of four interfaces, as a run
/// of many rounds writes it: most of it is in its first two records.
#[test]
fn a_record_among_many_is_small() {
    let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/results/full");
    let seed = fs::read_to_string(seed).expect("a folder in one file");
    let (_, old) = seed.split_once("\n%\n").expect("run.json and a record");
    let first = record_of_line(old.as_bytes(), &SharedParts::default()).expect("a record");
    let mut lines = RecordLines::default();
    let line = |round| {
        let mut record = Record { round, ..first.clone() };
        // What no two trials share.
        record.proof[0].evidence =
            format!("flow 0 from 10.128.4.3:{} to 10.128.36.3:7474", 34_364 + round);
        for proof in &mut record.proof[5..9] {
            proof.evidence = format!(
                "received {} bytes in 340 packets (at least 335 in 1); sent 22923 bytes in 342 \
                 packets (at least 335 in 1)",
                22_767 + round
            );
        }
        for latency in record.latency.values_mut() {
            let histogram = Histogram::from_base64(&latency.hdr).expect("a histogram");
            *latency = histogram.summary();
        }
        record.concise();
        lines.line(&record).expect("JSON").len()
    };
    let sizes: Vec<usize> = (1..=20).map(line).collect();
    assert!(old.len() > 9_000, "{}", old.len());
    assert!(sizes[2..].iter().all(|size| *size < SMALL), "{sizes:?}");
    let shared = serde_json::to_string(lines.parts()).expect("JSON").len();
    assert!(shared < old.len() / 2, "{shared}");
}

/// A record of a cell whose parts are known, bytes: 900 of them are less than 5 MB.
const SMALL: usize = 4600;

fn run_report(dir: &Path, format: &str) -> String {
    let done = run(program(&["report", "-f", format]).arg(dir));
    assert_eq!(done.code, Some(0), "{}", done.story());
    done.stdout
}
