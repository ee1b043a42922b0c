//! The check for files that the inside of the lab cannot see.

use std::path::{Path, PathBuf};

use hopbench_model::Fault;

/// Inside, an empty file system of the lab's own is here: what is written to it is gone with the
/// lab.
const HIDDEN: &str = "/run";

/// Refuses a folder of results, or a scenario's file, that cannot be seen from inside. That is one
/// below `/run`, by itself or through the working directory or a link.
pub(in crate::cmd) fn refuse(results: &Path, scenario: Option<&Path>) -> Result<(), Fault> {
    let named = [
        Some(("the results", results, "--output")),
        scenario.map(|file| ("the scenario", file, "its path")),
    ];
    for (what, path, how) in named.into_iter().flatten() {
        let real = real(path);
        if real.starts_with(HIDDEN) {
            return Err(Fault::input(format!(
                "{what} would be in {}, and the lab has a {HIDDEN} of its own. What is below it is \
                 lost there; take another folder with {how}",
                real.display()
            )));
        }
    }
    Ok(())
}

/// The path without links; its end may not exist yet.
fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = path.ancestors().find_map(|known| Some((known, known.canonicalize().ok()?)));
    let Some((known, real)) = known else {
        return path;
    };
    path.strip_prefix(known).map_or_else(|_| real.clone(), |rest| real.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_run_is_refused_however_it_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/run", &link).expect("a link");
        for hidden in [Path::new("/run/results"), Path::new("/run"), &link.join("deep/er")] {
            let fault = refuse(hidden, None).expect_err("hidden");
            assert!(
                fault.text.contains("the results") && fault.text.contains("--output"),
                "{fault}"
            );
            assert!(
                refuse(dir.path(), Some(hidden)).expect_err("hidden").text.contains("the scenario")
            );
        }
        assert_eq!(refuse(&dir.path().join("run/x"), Some(Path::new("/runner/x.yaml"))), Ok(()));
    }
}
