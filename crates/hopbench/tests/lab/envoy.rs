//! The real Envoy of this machine.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Where Envoy is. Where it is not, the test is skipped, or fails where it is wanted.
pub(crate) fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
    let folders = std::env::split_paths(&path).chain(cache.map(|cache| cache.join("hopbench/bin")));
    let found = folders.map(|folder| folder.join("envoy")).find(|program| program.is_file());
    if found.is_none() {
        let wanted = std::env::var_os("HOPBENCH_REQUIRE_ENVOY").is_some_and(|value| value == "1");
        assert!(
            !wanted,
            "HOPBENCH_REQUIRE_ENVOY=1, but there is no envoy in PATH or the cache folder"
        );
        // Not `println`: what that prints is kept back when the test passes, and a skip is to be
        // seen.
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let why = "no envoy in PATH or the cache folder; scripts/install-envoy.sh fetches it";
        let _ = writeln!(std::io::stdout(), "\nSKIP {test}: {why}");
    }
    found
}

/// Whether a process is one.
pub(crate) fn is_envoy(pid: u32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.ends_with("envoy"))
}
