//! The lab of the tests: whatever ends a test, nothing of its lab is left.

use std::collections::BTreeSet;
use std::path::Path;

use crate::lab::Pair;
use crate::lab::namespace::{enter, inside, is_inside, outside};
use crate::lab::wait::{S, pause, until};

/// Where the inner test says which namespaces it made.
fn note() -> std::path::PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab-itself")
}

/// Killed from outside while a lab stands and an agent runs in it.
#[test]
fn killing_a_test_leaves_nothing() {
    if is_inside() {
        return inside(build_and_stay);
    }
    let Some(_turn) = outside() else {
        return;
    };
    let note = note();
    let _ = std::fs::remove_file(&note);
    let test = enter();
    let text = until(20 * S, || {
        std::fs::read_to_string(&note).ok().filter(|text| text.ends_with("done\n"))
    });
    let text = text.expect("a lab");
    let spaces: BTreeSet<&str> = text.lines().filter(|line| line.starts_with("net:")).collect();
    assert_eq!(spaces.len(), 3, "{spaces:?}");
    assert!(users_of(&spaces) >= 1, "no process is in the lab");
    test.signal("KILL");
    let gone = until(5 * S, || (users_of(&spaces) == 0).then_some(()));
    assert!(gone.is_some(), "{} processes are left", users_of(&spaces));
    assert!(!mounted("/run/netns/fabric"), "a namespace is left in this mount namespace");
    let _ = std::fs::remove_file(&note);
}

/// The inner half: it stays until it is killed.
fn build_and_stay() {
    let lab = Pair::build();
    let _agent = lab.agent(&[]);
    let names = ["a", "b", "fabric"].map(|host| lab.shell(host, "readlink /proc/self/ns/net"));
    std::fs::write(note(), format!("{}done\n", names.concat())).expect("a note");
    pause(60 * S);
}

/// Processes in one of these network namespaces.
fn users_of(spaces: &BTreeSet<&str>) -> usize {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let space = |path: &Path| {
        std::fs::read_link(path.join("ns/net")).ok().map(|l| l.to_string_lossy().into_owned())
    };
    processes.filter(|p| space(&p.path()).is_some_and(|s| spaces.contains(s.as_str()))).count()
}

fn mounted(path: &str) -> bool {
    std::fs::read_to_string("/proc/self/mounts").is_ok_and(|text| text.contains(path))
}
