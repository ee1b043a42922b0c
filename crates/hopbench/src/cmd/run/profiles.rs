//! The profiles of a results folder: their flame graphs, and what they say at the end of a run.

use std::path::Path;

use hopbench_model::{Fault, Profiles};
use hopbench_report::campaign::Summary;
use hopbench_report::{lines, profile};
use hopbench_run::results::{self, Folder};

use crate::output::{self, tell};

/// The profiles in a folder; `None` where there are none, or none that can be read.
pub(in crate::cmd) fn of(dir: &Path) -> Option<Profiles> {
    results::profiles(dir).unwrap_or_else(|fault| {
        tell(format_args!("no profiles: {fault}"));
        None
    })
}

/// Writes the flame graphs.
pub(super) fn write(folder: &Folder, profiles: &Profiles, summary: &Summary) -> Result<(), Fault> {
    let Some(summary) = &summary.profiles else { return Ok(()) };
    for (name, graph) in profile::graphs(profiles, summary) {
        let name = name.rsplit('/').next().unwrap_or(&name);
        folder.add_profile(name, graph.as_bytes())?;
    }
    Ok(())
}

/// Prints what paths differ by.
pub(super) fn say(folder: &str, summary: &Summary) -> Result<(), Fault> {
    let Some(profiles) = &summary.profiles else { return Ok(()) };
    output::say("")?;
    for sentence in profile::sentences(profiles, folder) {
        let is_entry = sentence.starts_with(' ');
        output::say(if is_entry { sentence } else { lines(&sentence) })?;
    }
    Ok(())
}
