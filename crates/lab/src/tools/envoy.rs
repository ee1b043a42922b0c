//! Envoy: where it is, and whether it is one that will do.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use hopbench_model::Fault;

use super::{cached, find, is_program, version};

/// What is older does not know all that the bootstraps say.
const LEAST: Version = Version(1, 31, 0);
/// How to get one.
const REMEDY: &str = "scripts/install-envoy.sh fetches it; or put `envoy` into PATH, or name it with --envoy";

/// The one that the user named.
static NAMED: OnceLock<PathBuf> = OnceLock::new();
/// What came of the last look at a program: it is asked about for every cell.
static LOOKED: Mutex<Option<(File, Result<Version, String>)>> = Mutex::new(None);

/// A program as it was looked at.
#[derive(Debug, PartialEq, Eq)]
struct File {
    path: PathBuf,
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
        Fault::input(format!("--envoy: found `{}`, expected the path of a program: Envoy", path.display()))
    })?;
    if *NAMED.get_or_init(|| named.clone()) == named { Ok(()) } else { Err(Fault::input("--envoy: given twice")) }
}

/// The Envoy that proxies run: the one that was named, or one in `PATH`, or one in the cache.
pub(crate) fn envoy() -> Result<Envoy, Absent> {
    let found = match NAMED.get() {
        Some(path) => Some((path.clone(), "--envoy")),
        None => find("envoy").map(|path| (path, "PATH")).or_else(|| Some((cached("envoy")?, "cache"))),
    };
    let absent = |why: String| Absent { why, remedy: REMEDY };
    let (path, source) = found.ok_or_else(|| absent("no program `envoy` in PATH or the cache folder".to_owned()))?;
    match looked_at(&path) {
        Ok(version) if version >= LEAST => Ok(Envoy { path, version, source }),
        Ok(version) => Err(absent(format!("{} is version {version}; expected {LEAST} or newer", path.display()))),
        Err(why) => Err(absent(format!("{}: {why}", path.display()))),
    }
}

/// The version of a program, asked for again only when its file has changed.
fn looked_at(path: &Path) -> Result<Version, String> {
    let metadata = path.metadata().map_err(|e| e.to_string())?;
    let file = File { path: path.to_owned(), changed: metadata.modified().ok(), bytes: metadata.len() };
    let mut looked = LOOKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, result)) = &*looked
        && *known == file
    {
        return result.clone();
    }
    let line = version(path, "--version").map_err(|e| e.to_string());
    let result = line.and_then(|line| {
        Version::of(&line).ok_or_else(|| format!("expected the version of an Envoy, it printed `{line}`"))
    });
    *looked = Some((file, result.clone()));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_as_numbers() {
        let of = |version: &str| Version::of(&format!("/x/envoy  version: 9e55/{version}/Clean/RELEASE/BoringSSL"));
        assert_eq!(of("1.40.0"), Some(Version(1, 40, 0)));
        assert_eq!(of("1.41.0-dev"), Some(Version(1, 41, 0)));
        assert_eq!(of("1.9.12").map(|version| version < LEAST), Some(true));
        assert_eq!(of("1.31.0").map(|version| version >= LEAST), Some(true));
        for wrong in ["", "1.40", "1.40.0.1", "x.1.2"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(Version::of("nginx version: nginx/1.22.1"), None);
    }

    #[test]
    fn a_path_without_a_program_is_the_users_mistake() {
        for wrong in ["/no/such/envoy", "/etc/passwd", "/"] {
            let fault = use_envoy(Path::new(wrong)).unwrap_err();
            assert_eq!(fault.kind, hopbench_model::FaultKind::Input);
            assert!(fault.text.starts_with(&format!("--envoy: found `{wrong}`, expected ")), "{fault}");
        }
    }
}
