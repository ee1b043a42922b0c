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
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700))
            .expect("a mode");
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
    let number =
        listing.split_once("(process ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
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
        assert!(
            listing.lines().any(|line| line.split_whitespace().next() == Some(place)),
            "{place} in {listing}"
        );
    }
    // Inside a pod there are the pod's links, and processes see their own tree.
    let links = hand.says(&["exec", "overlay@b", "--", "ip", "-o", "link"]);
    assert_eq!(links.lines().count(), 2, "{links}");
    assert!(links.contains(" mtu 1450 "), "{links}");
    let node = hand.says(&["exec", "b", "--", "ip", "-o", "link", "show", "vxlan0"]);
    assert!(node.contains("vxlan0"), "{node}");
    assert_eq!(hand.says(&["exec", "b", "--", "cat", "/proc/1/comm"]).lines().count(), 1);
    assert_eq!(hand.lab(&["exec", "a", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(
        hand.lab(&["exec", "a", "--", "sh", "-c", "kill -TERM $$"]).status.code(),
        Some(143)
    );
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
    assert!(
        text(&hand.lab(&["ls"]).stderr).contains("no lab stands"),
        "people see that it was looked"
    );
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

/// Processes of the labs whose folder this is.
fn processes(hand: &Hand) -> Vec<u32> {
    let mark = format!("XDG_RUNTIME_DIR={}", hand.folder.path().display());
    let pids = std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    let ours = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    pids.filter(ours).collect()
}

#[test]
fn an_up_that_is_killed_leaves_no_lab_that_nobody_finds() {
    let hand = Hand::new();
    if !possible("an_up_that_is_killed_leaves_no_lab_that_nobody_finds", &hand) {
        return;
    }
    let begun = Instant::now();
    hand.says(&["down"]);
    let _ = hand.lab(&["up"]);
    let takes = begun.elapsed();
    hand.says(&["down"]);
    let file = hand.folder.path().join("hopbench/lab.json");
    // Moments all over the time that it takes, and the one when the file has just been written.
    for step in 0..16_u32 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hopbench"));
        command.args(["lab", "up"]).env("XDG_RUNTIME_DIR", hand.folder.path());
        let mut up = command.stdout(std::process::Stdio::null()).spawn().expect("the program");
        let start = Instant::now();
        while if step < 12 { start.elapsed() < takes * step / 12 } else { !file.exists() } {
            assert!(start.elapsed() < Duration::from_secs(60), "no lab in a minute");
            std::hint::spin_loop();
        }
        up.kill().expect("a kill");
        up.wait().expect("its end");
        // Where the machine is busy, processes take long to end.
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            // Listed, or gone.
            let listed = hand.says(&["ls"]);
            let left = processes(&hand);
            if !listed.is_empty() {
                // One that ended since then is looked at once more.
                if left.contains(&holder(&listed)) && hand.lab(&["down"]).status.success() {
                    assert_eq!(processes(&hand), [0; 0], "after `down`");
                    break;
                }
            } else if left.is_empty() {
                break;
            }
            assert!(
                Instant::now() < end,
                "step {step}: processes {left:?} are left, and no lab is listed"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!hand.folder.path().join("hopbench").exists(), "step {step}");
    }
}

#[test]
fn a_holder_whose_lab_nobody_keeps_ends() {
    let hand = Hand::new();
    if !possible("a_holder_whose_lab_nobody_keeps_ends", &hand) {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_hopbench"));
    command.args(["lab", "hold", "quickstart"]).env("XDG_RUNTIME_DIR", hand.folder.path());
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let mut holder = command.stderr(std::process::Stdio::piped()).spawn().expect("the program");
    let end = Instant::now() + Duration::from_secs(10);
    while holder.try_wait().expect("a state").is_none() {
        if Instant::now() > end {
            holder.kill().expect("a kill");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let done = holder.wait_with_output().expect("its words");
    assert!(text(&done.stdout).contains("\"overlay@a\""), "the lab stood: {}", text(&done.stdout));
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    assert!(
        text(&done.stderr).contains("cannot say that the lab stands"),
        "{}",
        text(&done.stderr)
    );
}

#[test]
fn of_two_labs_of_one_name_one_stands() {
    let hand = Hand::new();
    if !possible("of_two_labs_of_one_name_one_stands", &hand) {
        return;
    }
    hand.says(&["down"]);
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hopbench"));
        command.args(["lab", "up"]).env("XDG_RUNTIME_DIR", hand.folder.path());
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the program")
    };
    let both = [start(), start()].map(|up| up.wait_with_output().expect("its end"));
    let codes: std::collections::BTreeSet<_> = both.iter().map(|done| done.status.code()).collect();
    assert_eq!(codes, [Some(0), Some(2)].into(), "{both:?}");
    let refused = both.iter().find(|done| !done.status.success()).expect("one");
    assert!(text(&refused.stderr).contains("stands already"), "{}", text(&refused.stderr));
    assert_eq!(hand.says(&["ls"]).matches("(process ").count(), 1);
    hand.says(&["down"]);
    // The refused one's own namespaces may still be ending.
    let end = Instant::now() + Duration::from_secs(10);
    while !processes(&hand).is_empty() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(processes(&hand), [0; 0], "of either");
}

#[test]
fn a_state_file_that_cannot_be_read_stays() {
    let hand = Hand::new();
    if !possible("a_state_file_that_cannot_be_read_stays", &hand) {
        return;
    }
    let file = hand.folder.path().join("hopbench/other.json");
    std::fs::write(&file, "{\"name\": 7}").expect("a file");
    let listed = hand.lab(&["ls"]);
    assert_eq!(listed.status.code(), Some(3));
    assert!(text(&listed.stdout).starts_with("lab (process "), "{}", text(&listed.stdout));
    for told in
        [&listed, &hand.lab(&["down", "--name", "other"]), &hand.lab(&["up", "--name", "other"])]
    {
        assert_eq!(told.status.code(), Some(3));
        assert!(
            text(&told.stderr).contains("other.json: not the state of a lab"),
            "{}",
            text(&told.stderr)
        );
    }
    hand.says(&["down"]);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "{\"name\": 7}");
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
