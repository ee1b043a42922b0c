//! Files of other tools: records that can be written and read again, or a problem with its place.
#![no_main]

use hopbench_import::{Given, import, tools};
use hopbench_model::Record;
use libfuzzer_sys::fuzz_target;

/// Two rounds of one path, by the content of the file or as the output of a tool.
fn check(content: &str, tool: Option<&str>) {
    let given = || Given { path: "a".to_owned(), file: "a.txt".to_owned(), content };
    match import(&[given(), given()], tool, Some("a")) {
        Ok(all) => {
            assert_eq!((all.records.len(), all.plan.contradiction()), (2, None));
            let written = serde_json::to_string(&all.plan).expect("a plan can be written");
            let read: hopbench_model::Plan = serde_json::from_str(&written).expect("and read");
            assert!(read.is_imported());
            for record in all.records {
                assert!(record.proof.is_empty() && record.window_s.is_finite());
                let odd = record.metrics.iter().find(|(_, value)| !value.is_finite());
                assert_eq!(odd, None, "a figure is no number");
                let text = serde_json::to_string(&record).expect("a record can be written");
                let read: Record = serde_json::from_str(&text).expect("and read");
                assert_eq!(read, record);
            }
        }
        Err(problems) => {
            assert_eq!(problems.len(), 2, "one for each file");
            assert!(problems.iter().all(|problem| problem.at.starts_with("a.txt ")));
        }
    }
}

fuzz_target!(|content: &str| {
    check(content, None);
    tools().for_each(|tool| check(content, Some(tool)));
});
