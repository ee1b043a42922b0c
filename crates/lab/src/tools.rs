//! Programs of this machine that a lab uses.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Folders that an ordinary user's `PATH` often lacks although what lies there needs no right.
const MORE: &[&str] = &["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];

/// Where a program is, looked for in `PATH` and in the folders of system programs.
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

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_and_a_folder_is_none() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("no-such-program-anywhere"), None);
        // In every PATH there is a folder whose parent folder holds it by name.
        assert_eq!(find("."), None);
    }
}
