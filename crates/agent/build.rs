//! The commit of this build: `HOPBENCH_COMMIT` if it is set, or else what git says.

use std::path::Path;
use std::process::Command;

/// The repository's folder, seen from this crate.
const ROOT: &str = "../..";

fn main() {
    println!("cargo::rerun-if-env-changed=HOPBENCH_COMMIT");
    if std::env::var_os("HOPBENCH_COMMIT").is_some() {
        return;
    }
    let log = Path::new(ROOT).join(".git/logs/HEAD");
    // A file that is not there would run this script in each build.
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=HOPBENCH_COMMIT={commit}");
    }
}

/// The first 12 digits of the commit, if this is a repository and git is there.
fn commit() -> Option<String> {
    let output = Command::new("git")
        .args(["-C", ROOT, "rev-parse", "--short=12", "HEAD"])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!commit.is_empty()).then_some(commit)
}
