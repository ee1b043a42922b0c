//! YAML files that the command line names.

use std::fs::File;
use std::io::{ErrorKind, Read as _};

use hopbench_model::Fault;
use hopbench_scenario::MOST_BYTES;

/// Reads the file that the argument `argument` names, or says which names that are no files would
/// have been right.
pub(in crate::cmd) fn read(argument: &str, name: &str, known: &[&str]) -> Result<String, Fault> {
    let refuse = |why: String| Fault::input(format!("{argument}: found `{name}`, {why}"));
    let unreadable = |error: std::io::Error| {
        let nearest = known
            .iter()
            .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
        let nearest = nearest.filter(|known| {
            error.kind() == ErrorKind::NotFound && strsim::jaro_winkler(known, name) > 0.85
        });
        let meant = nearest.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
        refuse(format!(
            "expected a file that can be read ({error}), or one of {}{meant}",
            known.join(", ")
        ))
    };
    let file = File::open(name).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // One byte more, so that a file that is too long shows.
    file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MOST_BYTES {
        return Err(refuse("expected a file of at most 1MiB".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        refuse(format!("expected UTF-8; byte {} is none", error.utf8_error().valid_up_to()))
    })
}
