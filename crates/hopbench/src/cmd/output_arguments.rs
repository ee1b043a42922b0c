//! `--format` and `--output` of the commands that report on results folders.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, value_parser};
use hopbench_model::Fault;
use hopbench_run::results;

use crate::output::print;

/// The format where the command line names none.
const FORMAT: &str = "table";

/// Both flags; `formats` are the names that there are. What the help says of each follows.
pub(super) fn arguments(formats: Vec<&'static str>, how: &'static str, where_to: &'static str) -> [Arg; 2] {
    let format = Arg::new("format").long("format").short('f').value_name("FORMAT").default_value(FORMAT);
    let output = Arg::new("output").long("output").short('o').value_name("FILE");
    [format.value_parser(formats).help(how), output.value_parser(value_parser!(PathBuf)).help(where_to)]
}

/// In which format a report is asked for, and where it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output<'a> {
    pub(super) format: &'a str,
    /// The file or folder; absent: standard output.
    pub(super) file: Option<&'a Path>,
}

impl<'a> Output<'a> {
    /// What the command line says.
    ///
    /// # Errors
    /// The file is part of what was measured.
    pub(super) fn of(matches: &'a ArgMatches) -> Result<Self, Fault> {
        let format = matches.get_one::<String>("format").map_or(FORMAT, String::as_str);
        let file = matches.get_one::<PathBuf>("output").map(PathBuf::as_path);
        file.map_or(Ok(()), spare)?;
        Ok(Self { format, file })
    }

    /// Writes a report there.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self, text: &str) -> Result<(), Fault> {
        self.file.map_or_else(|| print(text), |file| write(file, text))
    }

    /// That there is no such format.
    pub(super) fn unknown(&self) -> Fault {
        Fault::input(format!("there is no format `{}`", self.format))
    }
}

/// Refuses to write over what a results folder holds of its run: no report brings it back.
///
/// # Errors
/// `file` is such a file, or a link to one.
fn spare(file: &Path) -> Result<(), Fault> {
    // Of a file that is not there yet, the folder is.
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let resolved = file
        .canonicalize()
        .or_else(|_| std::io::Result::Ok(parent.canonicalize()?.join(file.file_name().unwrap_or_default())));
    let original = |file: &Path| {
        let name = file.file_name().and_then(|name| name.to_str());
        let beside = file.parent().is_some_and(|dir| dir.join("run.json").is_file());
        beside && name.is_some_and(|name| results::ORIGINALS.contains(&name))
    };
    if original(file) || resolved.is_ok_and(|file: PathBuf| original(&file)) {
        let text = format!(
            "--output: {} is part of what was measured, and a report would take its place; choose another file",
            file.display()
        );
        return Err(Fault::input(text));
    }
    Ok(())
}

/// Writes a file as a whole or not at all: who looks at it meanwhile sees the old one.
pub(super) fn write(file: &Path, text: &str) -> Result<(), Fault> {
    replace(file, |part| std::fs::write(part, text).map_err(|error| refused(file, &error)))
}

/// Puts what `write` leaves at the path that it is given in the place of `file`, or nothing.
pub(super) fn replace(file: &Path, write: impl FnOnce(&Path) -> Result<(), Fault>) -> Result<(), Fault> {
    // A device or a pipe is not replaced by a file.
    if file.exists() && !file.is_file() {
        return write(file);
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = file.with_file_name(name);
    let written = write(&part).and_then(|()| std::fs::rename(&part, file).map_err(|error| refused(file, &error)));
    written.inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}

/// Why a file cannot be written.
pub(super) fn refused(file: &Path, error: &std::io::Error) -> Fault {
    Fault::environment(format!("cannot write {}: {error}; choose another --output", file.display()))
}
