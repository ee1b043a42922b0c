//! The run of a test in a sandbox of its own.
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};

use hopbench_lab::sandbox::{Entered, enter};

/// Holds the name of the test that is to go inside.
const MARK: &str = "HOPBENCH_LAB_TEST_INSIDE";

/// Runs `body`, which is all of a test, in the namespaces that the product makes for a lab.
/// This program runs the test once more inside.
///
/// Without the right to make namespaces the test is skipped, which is printed; with
/// `HOPBENCH_REQUIRE_NETNS=1` it fails instead.
pub(crate) fn inside(body: impl FnOnce()) {
    if is_inside() {
        match enter() {
            Ok(Entered::Inside) => body(),
            Ok(Entered::Outside(code)) => {
                assert_eq!(code, ExitCode::SUCCESS, "inside the namespaces");
            }
            Err(fault) => panic!("no namespaces: {fault}"),
        }
        return;
    }
    let test = this_test();
    if let Some(why) = impossible() {
        return skip(&test, &why);
    }
    let this = std::env::current_exe().expect("the path of this program");
    let mut command = Command::new(this);
    command.args(["--exact", &test, "--nocapture", "--test-threads", "1"]).env(MARK, &test);
    let done = command.stdin(Stdio::null()).output().expect("this program");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    // A name that no test has would be a success, too.
    assert!(done.status.success() && out.contains("1 passed"), "{}\n{out}\n{err}", done.status);
    let _ = std::io::stderr().write_all(&done.stderr);
}

/// Whether this process was started to run one test inside.
pub(crate) fn is_inside() -> bool {
    std::env::var_os(MARK).is_some()
}

/// The path of the test that runs: its thread is named so. The process that runs it inside may have
/// no thread for it.
pub(crate) fn this_test() -> String {
    let of_thread = || std::thread::current().name().unwrap_or_default().to_owned();
    std::env::var(MARK).unwrap_or_else(|_| of_thread())
}

/// Why there can be no namespaces here, by what the system's own tools say.
pub(crate) fn impossible() -> Option<String> {
    for tool in ["ip", "tc", "unshare"] {
        if shell(&format!("command -v {tool}")).is_err() {
            return Some(format!("`{tool}` is not installed"));
        }
    }
    let root =
        std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    let user = if root { "" } else { "-Ur" };
    shell(&format!("unshare {user} -nmpf --mount-proc true")).err()
}

/// Says that a test was not run, or fails where it has to be.
pub(crate) fn skip(test: &str, why: &str) {
    skip_unless("HOPBENCH_REQUIRE_NETNS", test, why);
}

/// The same for a test that has to be run only where `variable` is 1.
pub(crate) fn skip_unless(variable: &str, test: &str, why: &str) {
    let required = std::env::var(variable).is_ok_and(|v| v == "1");
    assert!(!required, "{test} cannot run here ({variable}=1): {why}");
    // Not `println`: what that prints is kept back when the test passes, and a skip is to be seen.
    let _ = writeln!(std::io::stdout(), "\nSKIP {test}: {why}");
}

/// What a line of shell prints, or why it failed.
pub(crate) fn shell(line: &str) -> Result<String, String> {
    let mut command = Command::new("sh");
    let done =
        command.args(["-ec", line]).env("PATH", path()).output().map_err(|e| e.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stderr)) }
}

/// The path with the directories of system tools, which are not on everybody's.
pub(crate) fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}
