//! The tables as a terminal wants them: as wide as it is, of all workloads or of one.

use hopbench_analysis::Summary;

use super::topics;
use crate::WIDTH;
use crate::document::terminal;

/// The choice of tables, and their width.
#[derive(Debug, Clone, Copy)]
pub struct Details<'a> {
    /// Columns; fewer than 80 are taken for 80.
    pub width: usize,
    /// The only workload; absent: all.
    pub workload: Option<&'a str>,
}

impl Details<'_> {
    /// The tables of a run; `None` where it has no such workload.
    pub fn text(&self, summary: &Summary) -> Option<String> {
        let width = self.width.max(WIDTH);
        match self.workload {
            None => Some(terminal(&topics::document(summary), width)),
            Some(name) => Some(terminal(&topics::document(&only(summary, name)?), width)),
        }
    }

    /// The workloads that were measured or searched by name, each once.
    pub fn workloads(summary: &Summary) -> Vec<&str> {
        let measured = summary.workloads.iter().map(|workload| workload.name.as_str());
        let mut names: Vec<&str> = Vec::new();
        for name in measured.chain(summary.searches.iter().map(|search| search.workload.as_str())) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// The same run with what is said of one workload; `None` where there is no such.
fn only(summary: &Summary, name: &str) -> Option<Summary> {
    if !Details::workloads(summary).contains(&name) {
        return None;
    }
    let mut one = summary.clone();
    one.workloads.retain(|workload| workload.name == name);
    one.searches.retain(|search| search.workload == name);
    one.failures.retain(|failure| failure.workload == name);
    one.warnings.retain(|warning| warning.workload == name);
    Some(one)
}
