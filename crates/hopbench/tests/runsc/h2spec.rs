//! The target of `serve --http` under h2spec, which sends what HTTP/2 forbids, and sees what
//! follows.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::lab::namespace::test_name;
use crate::lab::program::Running;
use crate::lab::wait::S;
use crate::lab::{Agent, Turn};

/// The least number of tests that it has.
const LEAST: u32 = 140;
/// How long all of them may take, ns: most wait for nothing.
const PATIENCE: u64 = 400 * S;

#[test]
fn the_target_passes_all_of_h2spec() {
    passes(&[]);
}

#[test]
fn the_target_passes_all_of_h2spec_over_tls() {
    passes(&["--tls", "--insecure"]);
}

/// Runs all tests, the strict ones among them, against a target of its own.
fn passes(more: &[&str]) {
    let Some(h2spec) = program() else { return };
    let _turn = Turn::shared();
    let mut agent = Agent::insecure(&["--http"]);
    let mut command = Command::new(h2spec);
    // Answers need a body. Whatever is to follow has 2 s.
    command.args(["--strict", "--path", "/?size=100", "--timeout", "2"]);
    command.args(["--port", &agent.port.to_string()]).args(more);
    let done = Running::start(&mut command).finish_within(PATIENCE);
    let failures = done.stdout.find("Failures:").map_or("", |at| &done.stdout[at..]);
    let Some([all, passed, skipped, failed]) = sums(&done.stdout) else {
        panic!("it did not come to its end: {}", done.story())
    };
    assert_eq!((failed, skipped), (0, 0), "of {all}, {passed} passed\n{failures}");
    assert!(all >= LEAST && passed == all, "found {all} tests, expected at least {LEAST}");
    assert_eq!(done.code, Some(0), "{}", done.story());
    assert!(agent.runs(), "the agent is gone");
}

/// The numbers of the line `146 tests, 115 passed, 0 skipped, 31 failed`.
fn sums(said: &str) -> Option<[u32; 4]> {
    let words = ["tests", "passed", "skipped", "failed"];
    said.lines().find_map(|line| {
        let parts: Vec<&str> = line.trim().split(", ").collect();
        let number = |at: usize| parts.get(at)?.strip_suffix(words[at])?.trim().parse::<u32>().ok();
        Some([number(0)?, number(1)?, number(2)?, number(3)?])
    })
}

/// Where h2spec is: in `PATH`, or where the project's script puts it. Without it this test is
/// skipped, or fails where it is required.
fn program() -> Option<PathBuf> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/go-part.sh");
    let told = Command::new(script).args(["--folder", "h2spec"]).output().expect("a shell");
    assert!(told.status.success(), "{script}: {}", String::from_utf8_lossy(&told.stderr));
    let built = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain([built]);
    let found = folders.find_map(|folder| Some(folder.join("h2spec")).filter(|it| it.is_file()));
    if found.is_none() {
        let required = std::env::var("HOPBENCH_REQUIRE_H2SPEC").is_ok_and(|value| value == "1");
        assert!(!required, "{} needs h2spec (HOPBENCH_REQUIRE_H2SPEC=1)", test_name());
        // Not `println`: what that prints is kept back when the test passes, and a skip is to be
        // seen.
        let why = "no `h2spec` here; `scripts/go-part.sh h2spec` builds it";
        let _ = writeln!(std::io::stdout(), "\nSKIP {}: {why}", test_name());
    }
    found
}
