//! `--format` and `--output` of the commands that report on results folders.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, value_parser};
use hopbench_model::{Fault, printable};
use hopbench_run::results;
use hopbench_sys::file::Replacement;

use super::format::{json_alias, named};
use crate::output::{is_stdout, print};

/// Both flags; `formats` are the names that there are. What the help says of each follows.
pub(in crate::cmd) fn arguments(
    formats: Vec<&'static str>,
    how: &'static str,
    where_to: &'static str,
) -> [Arg; 3] {
    let format = Arg::new("format").long("format").short('f').value_name("FORMAT");
    let output = Arg::new("output").long("output").short('o').alias("out").value_name("FILE");
    let output = output.value_parser(value_parser!(PathBuf)).help(where_to);
    [format.value_parser(formats).help(how), json_alias(), output]
}

/// In which format a report is asked for, and where it goes.
#[derive(Debug, Clone, Copy)]
pub(in crate::cmd) struct Output<'a> {
    pub(in crate::cmd) format: &'a str,
    /// The file or folder; absent, or `-` on the command line: standard output.
    pub(in crate::cmd) file: Option<&'a Path>,
}

impl<'a> Output<'a> {
    /// The output that the command line asks for; `usual` is the format where it names none.
    pub(in crate::cmd) fn of(matches: &'a ArgMatches, usual: &'static str) -> Result<Self, Fault> {
        let format = named(matches, usual);
        let file = matches
            .get_one::<PathBuf>("output")
            .map(PathBuf::as_path)
            .filter(|file| !is_stdout(file));
        file.map_or(Ok(()), spare)?;
        Ok(Self { format, file })
    }

    /// Writes a report there.
    pub(in crate::cmd) fn write(&self, text: &str) -> Result<(), Fault> {
        self.file.map_or_else(|| print(text), |file| write(file, text))
    }

    /// That there is no such format.
    pub(in crate::cmd) fn unknown(&self) -> Fault {
        Fault::input(format!("there is no format `{}`", self.format))
    }
}

/// Refuses to write over what a results folder holds of its run: no report brings it back.
fn spare(file: &Path) -> Result<(), Fault> {
    // Of a file that is not there yet, the folder is.
    let parent = file
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    let resolved = file.canonicalize().or_else(|_| {
        std::io::Result::Ok(parent.canonicalize()?.join(file.file_name().unwrap_or_default()))
    });
    let original = |file: &Path| {
        let name = file.file_name().and_then(|name| name.to_str());
        let beside = file.parent().is_some_and(|dir| dir.join("run.json").is_file());
        beside && name.is_some_and(|name| results::ORIGINALS.contains(&name))
    };
    if original(file) || resolved.is_ok_and(|file: PathBuf| original(&file)) {
        let text = format!(
            "--output: {} is part of what was measured, and a report would take its place; choose \
             another file",
            file.display()
        );
        return Err(Fault::input(text));
    }
    Ok(())
}

/// Writes a file as a whole or not at all: who looks at it meanwhile sees the old one.
pub(in crate::cmd) fn write(file: &Path, text: &str) -> Result<(), Fault> {
    replace(file, |put| put(text))
}

/// Puts what `write` gives to its argument in the place of `file`, or nothing. Like what is
/// printed, it is sanitized.
pub(in crate::cmd) fn replace(
    file: &Path,
    write: impl FnOnce(&mut dyn FnMut(&str) -> Result<(), Fault>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let failed = |error: std::io::Error| refused(file, &error);
    let mut out = BufWriter::new(Replacement::of(file).map_err(failed)?);
    write(&mut |text| out.write_all(printable::lines(text).as_bytes()).map_err(failed))?;
    let out = out.into_inner().map_err(|error| failed(error.into_error()))?;
    out.finish().map_err(failed)
}

/// Why a file cannot be written.
pub(in crate::cmd) fn refused(file: &Path, error: &std::io::Error) -> Fault {
    Fault::environment(format!("cannot write {}: {error}; choose another --output", file.display()))
}
