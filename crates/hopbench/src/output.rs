//! Standard output and standard error: the only files of this program that print.
//!
//! Whatever is printed goes through the sanitizer here, [`printable`], whoever wrote it: nobody has
//! to remember it elsewhere. Only what is no text, such as archives, goes out as it is.
#![allow(clippy::print_stderr)]

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::path::Path;

use hopbench_model::{Fault, printable};
use hopbench_report::campaign::Screen;
use hopbench_sys::terminal;

use crate::invocation;

mod bar;

pub(crate) use bar::Bar;

/// The name of a file that means standard output.
const STDOUT: &str = "-";

/// Whether a path means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == STDOUT
}

/// Refuses `-` where a folder is written.
pub(crate) fn refuse_stdout(path: &Path) -> Result<(), Fault> {
    if is_stdout(path) {
        return Err(Fault::input(
            "--output: found `-`, expected a folder: what is left is several files (`./-` is a \
             folder)",
        ));
    }
    Ok(())
}

/// Prints `text`: its lines stay lines, and on a terminal what is bold or dim stays so. A reader
/// that has seen enough (`| head`) is no error.
pub(crate) fn print(text: impl Display) -> Result<(), Fault> {
    let text = text.to_string();
    let shown = if stdout().is_terminal() {
        printable::styled(&text).into()
    } else {
        printable::lines(&text)
    };
    written(stdout().lock().write_all(shown.as_bytes()))
}

/// The room for the answer of a run on standard output: that of a terminal, else 80 columns and 40
/// lines. `folder` is the run's as the user names it.
pub(crate) fn screen(folder: &str, has_report: bool) -> Screen<'_> {
    let usual = Screen { folder, has_report, ..Screen::default() };
    match terminal::size() {
        Some((width, height)) => Screen { width, height, is_styled: is_styled(), ..usual },
        None => usual,
    }
}

/// Whether texts for a terminal may be bold or dim: unless the variable `NO_COLOR` says otherwise.
pub(crate) fn is_styled() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints `text` and ends the line.
pub(crate) fn say(text: impl Display) -> Result<(), Fault> {
    print(format_args!("{text}\n"))
}

/// Prints bytes that are no text, such as an archive, with whatever `write` writes. Standard output
/// must not be a terminal.
pub(crate) fn print_bytes<T>(
    write: impl FnOnce(&mut dyn Write) -> Result<T, Fault>,
) -> Result<T, Fault> {
    if stdout().is_terminal() {
        return Err(Fault::input(
            "--output: found `-` with a terminal, expected a pipe or a file: it is an archive",
        ));
    }
    let mut out = io::BufWriter::new(stdout().lock());
    let done = write(&mut out)?;
    written(out.flush())?;
    Ok(done)
}

fn written(result: io::Result<()>) -> Result<(), Fault> {
    match result.and_then(|()| stdout().flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| {
            Fault::environment(format!("cannot write to standard output: {error}"))
        }),
    }
}

/// A line on standard error with our name before it. Further lines of others' words are indented,
/// so that none of them is taken for a line of ours. Nobody may be there to read it.
pub(crate) fn tell(text: impl Display) {
    remark(format_args!("{}: {text}", invocation::words()));
}

/// As [`tell`], without our name.
pub(crate) fn remark(text: impl Display) {
    let _ = writeln!(
        stderr(),
        "{}",
        printable::lines(&text.to_string().trim_end().replace('\n', "\n  "))
    );
}

/// Prints what the parser of the command line has to say. That is help and versions as they are,
/// and of what is wrong the arguments without characters that steer. The exit code.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    let plain = error.render().to_string();
    let typed = invocation::typed(&plain);
    if typed != plain {
        let shown = printable::lines(&typed);
        let _ = if error.use_stderr() {
            stderr().write_all(shown.as_bytes())
        } else {
            stdout().write_all(shown.as_bytes())
        };
        return u8::try_from(error.exit_code()).unwrap_or(2);
    }
    // Whoever reads on a terminal gets the parser's colours, unless an argument has some of its
    // own.
    if plain == printable::lines(&plain) {
        let _ = error.print();
    } else {
        let _ = write!(stderr(), "{}", printable::lines(&plain));
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}
