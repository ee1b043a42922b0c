//! The profiles of a results folder: `profile/profile.json`, and folded stacks beside it.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use hopbench_model::{Fault, Folded, PROFILE_SCHEMA, PROFILES, ProfileFile, Profiles, printable};
use hopbench_sys::file;
use serde_json::Value;

use super::disk::unreadable;

/// The file that describes them.
pub(crate) const PROFILE_FILE: &str = "profile.json";
/// Cells that may have one: a session makes far fewer.
const MOST_CELLS: usize = 1000;
/// Bytes that a file of them may have: no profile comes near.
const MOST_BYTES: u64 = 64 << 20;

/// The name of the file of a cell's folded stacks that none of `others` has.
pub(crate) fn folded_name(path: &str, workload: &str, others: &[&str]) -> String {
    let name = printable::file_name(&format!("{path}.{workload}"));
    let numbered = (2..).map(|number| format!("{name}-{number}.folded"));
    let all = std::iter::once(format!("{name}.folded")).chain(numbered);
    let mut free = all.filter(|name| others.iter().all(|other| other != name));
    free.next().unwrap_or_default()
}

/// The description of the profiles in a results folder; `None` where there are none.
///
/// # Errors
/// A file of another version of hopbench, one that is damaged or cannot be read.
pub fn profile_file(dir: &Path) -> Result<Option<ProfileFile>, Fault> {
    let path = dir.join(PROFILES).join(PROFILE_FILE);
    let text = match text(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| unreadable(&path, &error))?,
    };
    let again = "remove it, and make the profiles again";
    let damaged = |error: serde_json::Error| {
        Fault::input(format!("{} is damaged: {error}; {again}", path.display()))
    };
    let value: Value = serde_json::from_str(&text).map_err(damaged)?;
    // Before all else: what another version wrote may have other fields.
    let found = value.get("schema").and_then(Value::as_str).unwrap_or("nothing");
    if found != PROFILE_SCHEMA {
        return Err(Fault::input(format!(
            "{}: schema: found `{found}`, expected `{PROFILE_SCHEMA}`; use the hopbench that wrote \
             it, or {again}",
            path.display()
        )));
    }
    let file: ProfileFile = serde_json::from_value(value).map_err(damaged)?;
    if file.cells.len() > MOST_CELLS {
        return Err(Fault::input(format!(
            "{}: found {} cells, expected at most {MOST_CELLS}; {again}",
            path.display(),
            file.cells.len()
        )));
    }
    Ok(Some(file))
}

/// The profiles in a results folder with their stacks; `None` where there are none.
///
/// # Errors
/// A file of another version of hopbench, one that is damaged or cannot be read.
pub fn profiles(dir: &Path) -> Result<Option<Profiles>, Fault> {
    let Some(file) = profile_file(dir)? else { return Ok(None) };
    let mut folded = BTreeMap::new();
    for name in file.cells.iter().filter_map(|cell| cell.folded.as_ref()) {
        if folded.contains_key(name) {
            continue;
        }
        let path = dir.join(PROFILES).join(name);
        if Path::new(name).file_name().is_none_or(|own| own != name.as_str()) {
            return Err(Fault::input(format!(
                "{PROFILES}/{PROFILE_FILE}: found the file `{name}`, expected one in {PROFILES}"
            )));
        }
        let text = text(&path).map_err(|error| unreadable(&path, &error))?;
        let read = Folded::parse(&text)
            .map_err(|why| Fault::input(format!("{} is damaged: {why}", path.display())))?;
        folded.insert(name.clone(), read);
    }
    Ok(Some(Profiles { file, folded }))
}

/// The text of a file.
fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    file::regular(path)?.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_name_leads_nowhere_else_and_is_free() {
        assert_eq!(folded_name("overlay", "web", &[]), "overlay.web.folded");
        assert_eq!(folded_name("../x", "a b", &[]), ".._x.a_b.folded");
        let taken = ["a.b.folded", "a.b-2.folded"];
        assert_eq!(folded_name("a", "b", &taken), "a.b-3.folded");
    }

    #[test]
    fn profiles_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(profiles(dir.path()), Ok(None));
        let folder = dir.path().join(PROFILES);
        fs::create_dir(&folder).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        let cell = |folded: &str| {
            format!(
                r#"{{"path": "p", "workload": "w", "point": "", "folded": "{folded}",
                "samples_per_cpu_s": 997, "window_s": 2.0, "samples": 3, "other_samples": 1,
                "idle_samples": 0, "lost_samples": 0}}"#
            )
        };
        let file = |schema: &str, folded: &str| {
            let cell = cell(folded);
            format!(r#"{{"schema": "{schema}", "run_id": "r", "cells": [{cell}]}}"#)
        };
        write(PROFILE_FILE, &file(PROFILE_SCHEMA, "p.w.folded"));
        assert!(profiles(dir.path()).is_err(), "the stacks are missing");
        write("p.w.folded", "client;main 3\n");
        let read = profiles(dir.path()).unwrap().unwrap();
        assert_eq!(read.folded["p.w.folded"].total(), 3);
        assert_eq!((read.file.cells[0].samples, &read.file.cells[0].count), (3, &None));
        write("p.w.folded", "client;main\n");
        assert!(profiles(dir.path()).unwrap_err().text.contains("line 1"));
        for (schema, folded, told) in [
            ("hopbench.profile/9", "p.w.folded", "found `hopbench.profile/9`, expected"),
            (PROFILE_SCHEMA, "../run.json", "expected one in"),
            (PROFILE_SCHEMA, "..", "expected one in"),
        ] {
            write(PROFILE_FILE, &file(schema, folded));
            let fault = profiles(dir.path()).unwrap_err();
            assert!(fault.text.contains(told), "{fault}");
        }
        write(PROFILE_FILE, r#"{"schema": "hopbench.profile/9", "profiles": {}}"#);
        let fault = profiles(dir.path()).unwrap_err();
        assert!(fault.text.contains("found `hopbench.profile/9`"), "other fields: {fault}");
        write(PROFILE_FILE, "{");
        assert!(profiles(dir.path()).unwrap_err().text.contains("is damaged"));
    }
}
