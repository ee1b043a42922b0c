//! Imported records as `analysis` sees them: every kind has figures.

use hopbench_analysis::RunData;
use hopbench_model::{RUN_SCHEMA, RunFile, RunStatus};

use crate::{files, fixture};

#[test]
fn every_tool_has_a_main_figure() {
    let of_json = ["iperf3-tcp.json", "iperf3-udp.json", "fortio.json", "oha.json"];
    let of_text = ["wrk.txt", "netperf-rr.txt", "netperf-crr.txt"];
    for name in of_json.into_iter().chain(of_text).chain(["nighthawk.json"]) {
        let text = fixture(name);
        let imported = files(&[("a", &text), ("b", &text)], None).expect("an output");
        let run = RunFile {
            schema: RUN_SCHEMA.to_owned(),
            run_id: String::new(),
            status: RunStatus::Complete,
            session: 1,
            started_at: "2026-03-01T12:00:00Z".to_owned(),
            ended_at: None,
            plan: imported.plan,
            scenario: String::new(),
            environment: Default::default(),
            testbed: Default::default(),
            failures: Vec::new(),
            skipped: Vec::new(),
            stopped: Vec::new(),
            spent_ns: 0,
            spared_trials: 0,
            notes: imported.notes,
            shared: Default::default(),
        };
        let mut data = RunData::new(&run);
        imported.records.iter().for_each(|record| data.add(record));
        let summary = data.into_summary();
        assert!(summary.failures.is_empty(), "{name}: {:?}", summary.failures);
        assert_eq!((summary.run.testbed, summary.run.imported), ("imported", true));
        assert_eq!((summary.run.used_trials, summary.run.planned_trials), (2, 2));
        let main = summary.workloads[0].main_figure();
        assert!(main.is_some_and(|figure| figure.better.is_less() || !figure.is_latency), "{name}");
        assert!(!summary.workloads[0].setting.contains("engine"), "{name}: it is not stated");
        assert_eq!(summary.paths[0].way, "");
    }
}
