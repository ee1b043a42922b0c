//! Results folders of strangers: every report of one is text without control characters, or an
//! error is.
//!
//! The input is `run.json`, a line with a single `%`, and `records.jsonl`.
#![no_main]

use std::cell::OnceCell;

use hopbench_report::campaign::{RunData, SUMMARY_FORMATS};
use hopbench_run::results;
use libfuzzer_sys::fuzz_target;

const CUT: &[u8] = b"\n%\n";

thread_local! {
    /// One folder for all inputs, in memory where the machine has such.
    static FOLDER: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
}

fn folder() -> tempfile::TempDir {
    let fast = std::path::Path::new("/dev/shm");
    let made = if fast.is_dir() { tempfile::tempdir_in(fast) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}

fuzz_target!(|input: &[u8]| {
    let cut = input.windows(CUT.len()).position(|bytes| bytes == CUT);
    let (run, records) =
        cut.map_or((input, &[][..]), |at| (&input[..at], &input[at + CUT.len()..]));
    FOLDER.with(|cell| {
        let dir = cell.get_or_init(folder).path();
        std::fs::write(dir.join("run.json"), run).expect("run.json");
        std::fs::write(dir.join("records.jsonl"), records).expect("records.jsonl");
        let Ok((run, mut records)) = results::open(dir) else { return };
        let mut campaign = RunData::new(&run);
        for record in records.by_ref() {
            match record {
                Ok(record) => campaign.add(&record),
                Err(fault) => {
                    let _ = fault.to_string();
                    return;
                }
            }
        }
        let summary = campaign.into_summary();
        for format in SUMMARY_FORMATS {
            let text = (format.render)(&summary);
            let control = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'));
            assert_eq!(control, None, "{} has a control character", format.name);
        }
    });
});
