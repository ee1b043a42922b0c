//! The search for a program, and its version.

use std::env;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hopbench_model::{Nanos, SECOND};

use super::bounded::bounded;

/// Folders that an ordinary user's `PATH` often lacks although what lies there needs no right.
const MORE: &[&str] =
    &["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];

/// The path of a program, from `PATH` and the folders of system programs.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(MORE.iter().map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

/// The same for what the scripts of this project installed, which is in the user's cache.
pub(crate) fn cached(program: &str) -> Option<PathBuf> {
    let of = |name: &str| env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let cache = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")))?;
    Some(cache.join("hopbench/bin").join(program)).filter(|file| is_program(file))
}

/// A program that has not printed its version by then hangs.
const MOST_VERSION_NS: Nanos = 5 * SECOND;

/// The version that a program prints when it is called with `argument`: the first line.
pub(crate) fn version(program: &Path, argument: &str) -> io::Result<String> {
    version_within(program, argument, MOST_VERSION_NS)
}

fn version_within(program: &Path, argument: &str, most_ns: Nanos) -> io::Result<String> {
    let output = bounded(Command::new(program).arg(argument), most_ns)
        .map_err(|error| io::Error::new(error.kind(), format!("{argument}: {error}")))?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{argument}: {}", output.status)));
    }
    // Some print it to standard error.
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned)
        .ok_or_else(|| io::Error::other(format!("{argument}: it printed nothing")))
}

pub(super) fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_what_is_printed_wherever() {
        let shell = find("sh").unwrap();
        let printed = |script: &str| {
            let folder = env::temp_dir().join(format!(
                "hopbench-version-{}-{}",
                std::process::id(),
                script.len()
            ));
            std::fs::write(&folder, script).unwrap();
            let version = version_within(&shell, folder.to_str().unwrap(), SECOND);
            std::fs::remove_file(&folder).unwrap();
            version.map_err(|e| e.to_string().rsplit(": ").next().unwrap_or_default().to_owned())
        };
        assert_eq!(printed("echo; echo 'x 1.2'; echo more"), Ok("x 1.2".to_owned()));
        assert_eq!(printed("echo 'y 3' >&2"), Ok("y 3".to_owned()));
        assert_eq!(printed("true"), Err("it printed nothing".to_owned()));
        assert_eq!(printed("exit 3"), Err("3".to_owned()));
        // Neither one that hangs nor one that leaves somebody with its output is waited for.
        let start = hopbench_sys::clock::now();
        assert_eq!(printed("echo z 1; sleep 30; true"), Err("it did not end within 1s".to_owned()));
        assert_eq!(printed("sleep 30 & echo z 4"), Ok("z 4".to_owned()));
        assert!(hopbench_sys::clock::now() - start < 20 * SECOND);
    }

    #[test]
    fn a_program_is_found_and_a_folder_is_none() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("no-such-program-anywhere"), None);
        // In every PATH there is a folder whose parent folder holds it by name.
        assert_eq!(find("."), None);
    }
}
