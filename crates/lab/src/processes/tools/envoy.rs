//! The search for an Envoy that is new enough.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use hopbench_model::Fault;

use super::find::{cached, find, is_program, version};

/// The oldest version that will do. An older one does not count the entries of its access logs that
/// it has sent, or does not know all fields of our bootstraps.
const LEAST: Version = Version(1, 39, 0);
/// How to get one.
const REMEDY: &str =
    "scripts/install-envoy.sh fetches it; or put `envoy` into PATH, or name it with --envoy";
/// The same for an Envoy of a subject.
const REMEDY_OF_SUBJECT: &str = "let the subject's `envoy` be the path of one that is new enough";

/// The one that the user named.
static NAMED: OnceLock<PathBuf> = OnceLock::new();
/// The result of the last look at each program: every cell asks for it.
static LOOKED: Mutex<BTreeMap<PathBuf, Looked>> = Mutex::new(BTreeMap::new());

/// A program's file, and the version that it said it was, or why that is not known.
type Looked = (File, Result<Version, String>);

/// A program as it was looked at.
#[derive(Debug, PartialEq, Eq)]
struct File {
    changed: Option<SystemTime>,
    bytes: u64,
}

/// An Envoy that will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envoy {
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
    /// How it was found: `--envoy`, `PATH`, `cache`.
    pub(crate) source: &'static str,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Absent {
    pub(crate) why: String,
    pub(crate) remedy: &'static str,
}

/// A version of Envoy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u32, u32, u32);

impl Version {
    /// The one in `.../envoy  version: 9e55.../1.40.0/Clean/RELEASE/BoringSSL`.
    fn of(line: &str) -> Option<Self> {
        let (_, told) = line.split_once("version:")?;
        let [_, version, _, _, _] = told.split('/').collect::<Vec<_>>()[..] else { return None };
        // Builds that are no release have a word after a dash.
        let mut numbers = version.split('-').next()?.split('.').map(|number| number.parse().ok());
        let version = Self(numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Makes the labs of this process use this Envoy and no other. Once, before the first lab.
///
/// # Errors
/// A path at which there is no program.
pub fn use_envoy(path: &Path) -> Result<(), Fault> {
    let absolute = std::path::absolute(path).ok().filter(|path| is_program(path));
    let named = absolute.ok_or_else(|| {
        Fault::input(format!(
            "--envoy: found `{}`, expected the path of a program: Envoy",
            path.display()
        ))
    })?;
    if *NAMED.get_or_init(|| named.clone()) == named {
        Ok(())
    } else {
        Err(Fault::input("--envoy: given twice"))
    }
}

/// The Envoy that proxies run: the one that was named, or else the first of those in `PATH` and in
/// the cache that will do.
pub(crate) fn envoy() -> Result<Envoy, Absent> {
    let found = match NAMED.get() {
        Some(path) => vec![(path.clone(), "--envoy")],
        None => {
            let found = [(find("envoy"), "PATH"), (cached("envoy"), "cache")];
            found.into_iter().filter_map(|(path, source)| Some((path?, source))).collect()
        }
    };
    first_of(found).map_err(|why| Absent { why, remedy: REMEDY })
}

/// The Envoy at a path that a subject names.
pub(crate) fn envoy_at(path: &str) -> Result<Envoy, Absent> {
    let found = vec![(PathBuf::from(path), "a subject")];
    first_of(found).map_err(|why| Absent { why, remedy: REMEDY_OF_SUBJECT })
}

/// Why there is no Envoy that will do at a path that a subject names. `starts_nothing`: as far as
/// its file tells, which is not started to ask for its version.
pub(crate) fn lacking_envoy(path: &str, starts_nothing: bool) -> Option<Absent> {
    if !starts_nothing {
        return envoy_at(path).err();
    }
    let file = Path::new(path);
    let why = match file.metadata() {
        Ok(_) if is_program(file) => return None,
        Ok(_) => "it is no program".to_owned(),
        Err(error) => error.to_string(),
    };
    Some(Absent { why: format!("{path}: {why}"), remedy: REMEDY_OF_SUBJECT })
}

/// The first of these that will do, or why none does.
fn first_of(found: Vec<(PathBuf, &'static str)>) -> Result<Envoy, String> {
    let mut wrong = Vec::new();
    for (path, source) in found {
        match looked_at(&path) {
            Ok(version) if version >= LEAST => return Ok(Envoy { path, version, source }),
            Ok(version) => {
                wrong.push(format!(
                    "{} is version {version}; expected {LEAST} or newer",
                    path.display()
                ));
            }
            Err(why) => wrong.push(format!("{}: {why}", path.display())),
        }
    }
    Err(if wrong.is_empty() {
        "no program `envoy` in PATH or the cache folder".to_owned()
    } else {
        wrong.join("; ")
    })
}

/// The version of a program, asked for again only when its file has changed.
fn looked_at(path: &Path) -> Result<Version, String> {
    let metadata = path.metadata().map_err(|e| e.to_string())?;
    let file = File { changed: metadata.modified().ok(), bytes: metadata.len() };
    let mut looked = LOOKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, result)) = looked.get(path)
        && *known == file
    {
        return result.clone();
    }
    let line = version(path, "--version").map_err(|e| e.to_string());
    let result = line.and_then(|line| {
        Version::of(&line)
            .ok_or_else(|| format!("expected the version of an Envoy, it printed `{line}`"))
    });
    looked.insert(path.to_owned(), (file, result.clone()));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_as_numbers() {
        let of = |version: &str| {
            Version::of(&format!("/x/envoy  version: 9e55/{version}/Clean/RELEASE/BoringSSL"))
        };
        assert_eq!(of("1.40.0"), Some(Version(1, 40, 0)));
        assert_eq!(of("1.41.0-dev"), Some(Version(1, 41, 0)));
        assert_eq!(of("1.9.12").map(|version| version < LEAST), Some(true));
        assert_eq!(of("1.39.0").map(|version| version >= LEAST), Some(true));
        assert_eq!(of("1.38.9").map(|version| version >= LEAST), Some(false));
        for wrong in ["", "1.40", "1.40.0.1", "x.1.2"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(Version::of("nginx version: nginx/1.22.1"), None);
    }

    /// One in `PATH` that is too old does not hide the one that the project's script fetched.
    #[test]
    fn the_first_that_will_do_is_taken() {
        let folder = std::env::temp_dir().join(format!("hopbench-envoys-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let made = |version: &str| {
            let file = folder.join(version);
            let line =
                format!("{}  version: 9e55/{version}/Clean/RELEASE/BoringSSL", file.display());
            std::fs::write(&file, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
            std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
            file
        };
        let (old, new) = (made("1.32.0"), made("1.40.0"));
        let taken = |found: &[&PathBuf]| {
            first_of(found.iter().map(|path| ((*path).clone(), "PATH")).collect())
        };
        assert_eq!(taken(&[&old, &new]).map(|envoy| envoy.path), Ok(new.clone()));
        let why = taken(&[&old]).unwrap_err();
        assert_eq!(why, format!("{} is version 1.32.0; expected 1.39.0 or newer", old.display()));
        assert_eq!(taken(&[]).unwrap_err(), "no program `envoy` in PATH or the cache folder");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_look_at_an_envoy_of_a_subject_does_not_start_it() {
        let folder = std::env::temp_dir().join(format!("hopbench-look-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, started) = (folder.join("envoy"), folder.join("started"));
        std::fs::write(&file, format!("#!/bin/sh\ntouch '{}'\n", started.display())).unwrap();
        let lacking = |starts_nothing| {
            lacking_envoy(file.to_str().unwrap(), starts_nothing).map(|absent| absent.why)
        };
        let no_program = format!("{}: it is no program", file.display());
        assert_eq!(lacking(true), Some(no_program));
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        assert_eq!((lacking(true), started.exists()), (None, false));
        let why = lacking(false).unwrap();
        assert!(why.ends_with("--version: it printed nothing") && started.exists(), "{why}");
        std::fs::remove_dir_all(&folder).unwrap();
        let gone = lacking(true).unwrap();
        assert!(gone.contains("No such file"), "{gone}");
    }

    #[test]
    fn a_path_without_a_program_is_the_users_mistake() {
        for wrong in ["/no/such/envoy", "/etc/passwd", "/"] {
            let fault = use_envoy(Path::new(wrong)).unwrap_err();
            assert_eq!(fault.kind, hopbench_model::FaultKind::Input);
            assert!(
                fault.text.starts_with(&format!("--envoy: found `{wrong}`, expected ")),
                "{fault}"
            );
        }
    }
}
