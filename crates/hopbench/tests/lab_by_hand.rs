//! `hopbench lab`: up, walked around in, down; and what is left when its holder dies.
#![allow(clippy::disallowed_methods, reason = "a test waits as it likes")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A lab's commands with a folder for their state.
struct Hand {
    folder: tempfile::TempDir,
}

impl Hand {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).expect("a mode");
        Self { folder }
    }

    fn lab(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hopbench"));
        command.arg("lab").args(arguments).env("XDG_RUNTIME_DIR", self.folder.path());
        command.output().expect("the program")
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.lab(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.lab(&["down"]);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The process that `lab ls` names.
fn holder(listing: &str) -> u32 {
    let number = listing.split_once("(process ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("no process in {listing}"))
}

/// Whether labs can be had; a skip is said aloud, and fails where labs are required.
fn possible(test: &str, hand: &Hand) -> bool {
    let output = hand.lab(&["up"]);
    if output.status.success() {
        return true;
    }
    let required = std::env::var("HOPBENCH_REQUIRE_NETNS").is_ok_and(|v| v == "1");
    let why = text(&output.stderr);
    assert!(!required && output.status.code() == Some(3), "{test}: {why}");
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "\nSKIP {test}: {}", why.trim().replace('\n', "; "));
    false
}

#[test]
fn a_lab_by_hand_is_walked_around_in() {
    let hand = Hand::new();
    if !possible("a_lab_by_hand_is_walked_around_in", &hand) {
        return;
    }
    let listing = hand.says(&["ls"]);
    for place in ["a", "b", "c", "overlay@a", "overlay@b", "eni@b"] {
        assert!(listing.lines().any(|line| line.split_whitespace().next() == Some(place)), "{place} in {listing}");
    }
    // Inside a pod there are the pod's links, and processes see their own tree.
    let links = hand.says(&["exec", "overlay@b", "--", "ip", "-o", "link"]);
    assert_eq!(links.lines().count(), 2, "{links}");
    assert!(links.contains(" mtu 1450 "), "{links}");
    let node = hand.says(&["exec", "b", "--", "ip", "-o", "link", "show", "vxlan0"]);
    assert!(node.contains("vxlan0"), "{node}");
    assert_eq!(hand.says(&["exec", "b", "--", "cat", "/proc/1/comm"]).lines().count(), 1);
    assert_eq!(hand.lab(&["exec", "a", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(hand.lab(&["exec", "a", "--", "sh", "-c", "kill -TERM $$"]).status.code(), Some(143));
    let wrong = hand.lab(&["exec", "bridge@z", "--", "true"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("`bridge@z`; it has a, b, c"), "{}", text(&wrong.stderr));
    // A name is taken once.
    assert_eq!(hand.lab(&["up"]).status.code(), Some(2));
    let holder = holder(&listing);
    hand.says(&["down"]);
    // Whoever inherited it may not have collected it yet; what is dead has no program.
    assert!(std::fs::read_link(format!("/proc/{holder}/exe")).is_err());
    assert_eq!(hand.says(&["ls"]), "");
    assert_eq!(hand.lab(&["down"]).status.code(), Some(2));
}

#[test]
fn nothing_is_left_of_a_lab_whose_holder_was_killed() {
    let hand = Hand::new();
    if !possible("nothing_is_left_of_a_lab_whose_holder_was_killed", &hand) {
        return;
    }
    let folder = hand.folder.path().join("hopbench");
    let state = std::fs::read_to_string(folder.join("lab.json")).expect("a state file");
    let state: serde_json::Value = serde_json::from_str(&state).expect("JSON");
    let keeper = state["keeper"]["pid"].as_u64().expect("a process");
    let namespace = std::fs::read_link(format!("/proc/{keeper}/ns/net")).expect("a namespace");
    let holder = holder(&hand.says(&["ls"])).to_string();
    assert!(Command::new("kill").args(["-KILL", &holder]).status().expect("kill").success());
    let end = Instant::now() + Duration::from_secs(5);
    while Path::new(&format!("/proc/{keeper}/ns")).exists()
        && std::fs::read_link(format!("/proc/{keeper}/ns/net")).is_ok()
    {
        assert!(Instant::now() < end, "process {keeper} lives on in {}", namespace.display());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(hand.says(&["ls"]), "");
    assert!(!folder.exists(), "stale state is removed, and the folder with it");
}

#[test]
fn a_folder_that_others_can_use_is_refused() {
    let hand = Hand::new();
    let folder = hand.folder.path().join("hopbench");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let output = hand.lab(&["ls"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("only you can use"), "{}", text(&output.stderr));
}
