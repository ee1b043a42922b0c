//! A whole `make bench`: its rows, their order, and the files of the results.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::bench::Bench;
use crate::bench::tools::Tools;
use crate::cli::Options;
use crate::lab::machine::Machine;
use crate::process::interrupt;
use crate::report::{self, RowReport, RowStatus, Section, SessionResults};
use crate::row::Row;
use crate::row::pairs;
use crate::rows::rows;

/// The rows that were asked for, all of them where none was.
///
/// # Errors
/// When a name fits no row.
pub(crate) fn chosen(only: &[String]) -> Result<Vec<Row>> {
    let mut rows = rows();
    for name in only {
        if !rows.iter().any(|row| row.name.starts_with(name)) {
            let known: Vec<String> = rows.into_iter().map(|row| row.name).collect();
            bail!("--only `{name}` fits no row; rows are {}", known.join(", "));
        }
    }
    rows.retain(|row| only.is_empty() || only.iter().any(|name| row.name.starts_with(name)));
    Ok(rows)
}

/// The reason why a row cannot run here, if there is one.
pub(crate) fn obstacle(row: &Row, tools: &Tools) -> Option<String> {
    let errors = row.needs.iter().filter_map(|peer| tools.peer(peer).err());
    let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
    (!errors.is_empty()).then(|| errors.join("; "))
}

/// The files that results go to.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    options: &'a Options,
    sections: Vec<Section>,
}

impl<'a> Files<'a> {
    /// Finds out before the measuring that a file cannot be written, not after.
    ///
    /// # Errors
    /// When one cannot, or a page has no place for the table.
    pub(crate) fn open(options: &'a Options) -> Result<Self> {
        for (flag, file) in [("--markdown", &options.markdown), ("--json", &options.json)] {
            if let Some(file) = file {
                let opened = File::options().create(true).append(true).open(file);
                opened.with_context(|| format!("{flag} {}", file.display()))?;
            }
        }
        Ok(Self { options, sections: Section::of(&options.into, "make bench")? })
    }

    fn save(&self, report: &SessionResults) -> Result<()> {
        let write = |file: &Path, text: String| {
            std::fs::write(file, text).with_context(|| file.display().to_string())
        };
        if let Some(file) = &self.options.markdown {
            write(file, report::markdown(report))?;
        }
        if let Some(file) = &self.options.json {
            write(file, report::json(report)?)?;
        }
        self.sections.iter().try_for_each(|section| section.write(&report::summary(report)))
    }
}

/// Measures the rows; files are written after each, so that what is measured is kept.
///
/// # Errors
/// When a file cannot be written. A row that fails is in the report; a signal ends the session
/// early.
pub(crate) fn measure(
    bench: &Bench,
    rows: Vec<Row>,
    files: &Files<'_>,
    mut progress: impl FnMut(&str),
) -> Result<SessionResults> {
    let options = files.options;
    let mut report = SessionResults {
        machine: Machine::this(),
        versions: versions(bench.tools()),
        run_s: options.time,
        pairs: options.pairs,
        most_pairs: pairs::most(options.pairs),
        rows: Vec::new(),
    };
    let plan = pairs::plan(options.pairs);
    for row in rows {
        if interrupt::asked() {
            break;
        }
        bench.take_commands();
        let mut runs = Vec::new();
        let outcome = match obstacle(&row, bench.tools()) {
            Some(why) => RowStatus::Skipped(why),
            None => match pairs::run(bench, &row, &plan, &mut runs, &mut progress) {
                Ok(()) => RowStatus::Measured,
                Err(error) => RowStatus::Failed(format!("{error:#}")),
            },
        };
        report.rows.push(RowReport::new(row, &plan, outcome, runs, bench.take_commands()));
        files.save(&report)?;
    }
    Ok(report)
}

fn versions(tools: &Tools) -> BTreeMap<String, String> {
    let mut versions = tools.versions();
    let printed = Command::new(tools.hopbench()).arg("--version").output().ok();
    let text = printed
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    let ours = text
        .lines()
        .next()
        .map(|line| line.trim_start_matches("hopbench ").trim())
        .filter(|line| !line.is_empty());
    versions.insert("hopbench".to_owned(), ours.unwrap_or("unknown").to_owned());
    versions
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    fn names(only: &[&str]) -> Vec<String> {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        chosen(&only).unwrap().into_iter().map(|row| row.name).collect()
    }

    #[test]
    fn a_file_that_cannot_be_written_is_found_out_early() {
        let options =
            |file: &str| Cli::try_parse_from(["hopbench-bench", "--json", file]).unwrap().options;
        let error = Files::open(&options("/nonexistent/x.json")).unwrap_err().to_string();
        assert!(error.contains("--json /nonexistent/x.json"), "{error}");
        let directory = tempfile::tempdir().unwrap();
        assert!(
            Files::open(&options(&directory.path().join("x.json").display().to_string())).is_ok()
        );
    }

    #[test]
    fn rows_are_chosen_by_the_start_of_their_name() {
        assert_eq!(names(&[]).len(), rows().len());
        assert_eq!(names(&["udp"]), ["udp", "udp-waking", "udp-uring", "udp-batch", "udp-gso"]);
        assert_eq!(
            names(&["http-closed-oha", "http-closed-hey", "udp-gso"]),
            ["udp-gso", "http-closed-hey-32", "http-closed-oha-32"],
            "the order is the table's"
        );
        let error = chosen(&["netperf".to_owned()]).err().unwrap().to_string();
        assert!(error.contains("stream-1"), "{error}");
    }
}
