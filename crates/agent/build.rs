//! The commit of this build: `HOPBENCH_COMMIT` if it is set, or else what git says.

use std::path::Path;
use std::process::Command;

/// The repository's folder, seen from this crate.
const ROOT: &str = "../..";

fn main() {
    println!("cargo::rerun-if-env-changed=HOPBENCH_COMMIT");
    // Sources inside of another repository are not of its commit.
    if std::env::var_os("HOPBENCH_COMMIT").is_some() || !Path::new(ROOT).join(".git").exists() {
        return;
    }
    // In a worktree this is not below `.git`. A file that is not there would run this each time.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])
        .filter(|log| Path::new(log).exists())
    {
        println!("cargo::rerun-if-changed={log}");
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo::rustc-env=HOPBENCH_COMMIT={commit}");
    }
}

/// What git prints; `None` if it is not there or fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(["-C", ROOT]).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
