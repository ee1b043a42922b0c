//! Standard output.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stdout};

use hopbench_model::Fault;

/// Prints `text` as it is.
///
/// # Errors
/// Output that cannot be written, to a full disk for one. A reader that has seen enough (`| head`) is no error.
pub(crate) fn print(text: impl Display) -> Result<(), Fault> {
    let mut out = stdout().lock();
    match out.write_all(text.to_string().as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| Fault::environment(format!("cannot write to standard output: {error}"))),
    }
}

/// Prints `text` and ends the line.
///
/// # Errors
/// As [`print()`].
pub(crate) fn say(text: impl Display) -> Result<(), Fault> {
    print(format_args!("{text}\n"))
}
