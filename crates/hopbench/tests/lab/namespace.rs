//! A test once more, inside namespaces of its own.
//!
//! ```text
//!   test ── setpriv --pdeathsig KILL ── unshare ── test, with the mark: user (unless root), mount,
//!                                                  network and process namespaces
//! ```
//!
//! The inner test is the first process of its process namespace: when it ends, however it ends, the
//! kernel kills whatever it started, and with the last process go the namespaces. When the outer
//! test dies, `unshare` is killed, and kills the inner one.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::OnceLock;

use super::program::{PATIENCE, Running, run};
use super::turn::Turn;

/// Holds the name of the test that is inside: of the only one that its process runs.
const MARK: &str = "HOPBENCH_TEST_INSIDE";

/// What leads into new namespaces; another program and its arguments are to follow.
fn way_in() -> Vec<&'static str> {
    let mut way = vec![
        "setpriv",
        "--pdeathsig",
        "KILL",
        "unshare",
        "--net",
        "--mount",
        "--pid",
        "--mount-proc",
    ];
    way.extend(["--fork", "--kill-child"]);
    if !is_root() {
        way.extend(["--user", "--map-root-user"]);
    }
    way
}

fn is_root() -> bool {
    // A process owns its own directory in /proc.
    std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

/// The full name of the test that runs on this thread, as `--exact` takes it.
pub(crate) fn test_name() -> String {
    if let Ok(name) = std::env::var(MARK) {
        return name;
    }
    // The test harness names the thread of a test after it, and no other thread.
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main");
    name.expect("the thread of a test").to_owned()
}

/// Runs `body`, the whole of a test, in namespaces of its own where `lo` is up and `ip netns`
/// works.
///
/// Without the right to make namespaces the test is skipped, which is printed; with
/// `HOPBENCH_REQUIRE_NETNS=1` it fails instead.
pub(crate) fn inside(body: impl FnOnce()) {
    inside_within(PATIENCE, body);
}

/// The same for a body that takes longer than most, but at most `patience` ns.
pub(crate) fn inside_within(patience: u64, body: impl FnOnce()) {
    inside_with(outside, patience, body);
}

/// The same for a body that measures.
pub(crate) fn inside_alone(body: impl FnOnce()) {
    inside_with(outside_alone, PATIENCE, body);
}

fn inside_with(outside: fn() -> Option<Turn>, patience: u64, body: impl FnOnce()) {
    if is_inside() {
        // `/run` becomes ours, so that `ip netns` can keep its files there.
        shell(SET_UP);
        body();
        return;
    }
    let Some(_turn) = outside() else {
        return;
    };
    let finished = enter().finish_within(patience);
    // A name that no test has would be a success, too.
    let passed = finished.code == Some(0) && finished.stdout.contains("1 passed");
    assert!(passed, "inside the namespaces: {}", finished.story());
}

/// Whether this is the inner half of a test.
pub(crate) fn is_inside() -> bool {
    std::env::var_os(MARK).is_some()
}

/// The turn of a test that needs namespaces; `None`: it is skipped.
pub(crate) fn outside() -> Option<Turn> {
    if can_enter() { Some(Turn::shared()) } else { None }
}

/// The same for a test that measures: it is alone.
pub(crate) fn outside_alone() -> Option<Turn> {
    if can_enter() { Some(Turn::alone()) } else { None }
}

/// Whether there can be namespaces for this test; if not, that is said.
fn can_enter() -> bool {
    static POSSIBLE: OnceLock<Result<(), String>> = OnceLock::new();
    match POSSIBLE.get_or_init(possible) {
        Ok(()) => true,
        Err(why) => {
            skip(why);
            false
        }
    }
}

/// Starts this test inside new namespaces.
pub(crate) fn enter() -> Running {
    let test = test_name();
    let way = way_in();
    let this = std::env::current_exe().expect("the path of this program");
    let mut command = Command::new(way[0]);
    command.args(&way[1..]).arg(this);
    command.args(["--exact", &test, "--nocapture", "--test-threads", "1"]);
    Running::start(command.env(MARK, test))
}

/// Whether there can be namespaces here, and if not, why.
fn possible() -> Result<(), String> {
    let way = way_in();
    for tool in ["ip", "tc", "nft", "nsenter", "setpriv", "unshare"] {
        let found =
            run(Command::new("sh").args(["-c", &format!("command -v {tool}")]).env("PATH", path()));
        if found.code != Some(0) {
            return Err(format!("`{tool}` is not installed"));
        }
    }
    let tried =
        run(Command::new(way[0]).args(&way[1..]).args(["sh", "-c", SET_UP]).env("PATH", path()));
    if tried.code == Some(0) { Ok(()) } else { Err(tried.stderr.trim().replace('\n', "; ")) }
}

const SET_UP: &str = "mount -t tmpfs tmpfs /run && ip link set lo up";

/// Runs a line of shell that must succeed; its output.
pub(crate) fn shell(line: &str) -> String {
    let done = run(Command::new("sh").args(["-ec", line]).env("PATH", path()));
    assert_eq!(done.code, Some(0), "`{line}`: {}", done.story());
    done.stdout
}

/// The path with the directories of system tools, which are not on everybody's.
pub(crate) fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

/// Says that this test was not run, or fails where it has to be.
fn skip(why: &str) {
    let test = test_name();
    let required = std::env::var("HOPBENCH_REQUIRE_NETNS").is_ok_and(|v| v == "1");
    assert!(!required, "{test} needs namespaces (HOPBENCH_REQUIRE_NETNS=1): {why}");
    // Not `println`: what that prints is kept back when the test passes, and a skip is to be seen.
    let _ = writeln!(std::io::stdout(), "\nSKIP {test}: {why}");
}
