//! A variable of a server program, against the value that a subject gives it.

use hopbench_model::printable;

/// Characters of a value that are told.
const MOST_VALUE: usize = 100;

/// The value in words; as an error if it must be another, with both. `found`: the value, or none
/// where the variable is not set, or why the value is not known.
///
/// # Errors
/// When there is a `wanted` value, and the variable does not have it.
pub fn variable(found: Result<Option<&str>, &str>, wanted: Option<&str>) -> Result<String, String> {
    let told = match found {
        Ok(Some(value)) => printable::excerpt(value, MOST_VALUE),
        Ok(None) => "not set".to_owned(),
        Err(why) => why.to_owned(),
    };
    match wanted.filter(|wanted| found != Ok(Some(*wanted))) {
        None => Ok(told),
        Some(wanted) => Err(format!("{told}, expected {}", printable::excerpt(wanted, MOST_VALUE))),
    }
}
