//! The trials of a run in formats of other tools, one by one as they are read. A run can have more
//! of them than memory.

use std::fs;
use std::path::Path;

use hopbench_model::{Fault, Record, RunFile};
use hopbench_report::export::{Export, TrialFormat};

use crate::cmd::arguments::output::{refused, replace, write as write_file};
use crate::output::{print, tell};

/// Prints the trials, or writes them into one file, or each into a file of its own where `output`
/// is a folder.
pub(super) fn write(
    format: &'static TrialFormat,
    run: &RunFile,
    records: impl Iterator<Item = Result<Record, Fault>>,
    output: Option<&Path>,
) -> Result<(), Fault> {
    let mut export = Export::new(format, run);
    match output {
        None => {
            print(export.head())?;
            for record in records {
                if let Some(trial) = export.add(&record?) {
                    print(trial.text)?;
                }
            }
        }
        Some(path) if is_folder(path) => {
            fs::create_dir_all(path).map_err(|error| refused(path, &error))?;
            for record in records {
                let Some(trial) = export.add(&record?) else {
                    continue;
                };
                let Some(name) = trial.file else {
                    return Err(Fault::input(format!(
                        "--output: {} is one file, not a folder",
                        format.name
                    )));
                };
                let file = path.join(name);
                write_file(&file, &trial.text)?;
            }
        }
        Some(path) => replace(path, |put| {
            put(export.head())?;
            for record in records {
                if let Some(trial) = export.add(&record?) {
                    put(&trial.text)?;
                }
            }
            Ok(())
        })?,
    }
    export.notes().iter().for_each(tell);
    Ok(())
}

/// Whether a path means a folder: one that is there, or that ends as one.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}
