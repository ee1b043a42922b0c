//! The removal of namespaces whose owner died.

use std::path::Path;

use anyhow::Result;

use super::ip::{PREFIX, ip};

/// Removes the namespaces of benches that no longer run.
///
/// # Errors
/// When `ip` refuses to delete one.
pub(super) fn stale() -> Result<()> {
    // No directory: no namespace was ever named here.
    let Ok(entries) = std::fs::read_dir("/run/netns") else {
        return Ok(());
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if owner(&name).is_some_and(|pid| !runs(pid)) {
            ip(&["netns", "del", &name])?;
        }
    }
    Ok(())
}

/// The pid in a name of ours.
fn owner(name: &str) -> Option<u32> {
    let (pid, letter) = name.strip_prefix(PREFIX)?.split_once('-')?;
    if matches!(letter, "f" | "c" | "s") { pid.parse().ok() } else { None }
}

fn runs(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ours_have_an_owner() {
        assert_eq!(owner("hopbench-bench-1234-c"), Some(1234));
        for other in ["hopbench-bench-1234-x", "hopbench-bench--c", "hopbench-1234-c", "production"]
        {
            assert_eq!(owner(other), None, "{other}");
        }
    }

    #[test]
    fn this_process_runs() {
        assert!(runs(std::process::id()));
        assert!(!runs(u32::MAX));
    }
}
