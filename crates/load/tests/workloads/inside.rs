//! Tests inside a network namespace of their own: the test binary runs itself again under
//! `unshare`.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::rig::alone;

/// Set in the process that runs inside the namespace.
const INSIDE: &str = "HOPBENCH_TEST_INSIDE";

/// Runs `body`, which is all of a test, in a new user and network namespace with loopback up, after
/// the shell commands `setup`. A shell variable `WRAP` that `setup` sets stands in front of the
/// command that runs it. Where namespaces are not to be had it says so and returns; with
/// `HOPBENCH_REQUIRE_NETNS=1` it fails.
pub(crate) fn inside(setup: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        body();
        return;
    }
    // The pipes of the program inside are open files of this process.
    let _alone = alone();
    let this = std::thread::current();
    let name = this.name().unwrap_or_default();
    if let Err(why) = available() {
        assert!(
            std::env::var_os("HOPBENCH_REQUIRE_NETNS").is_none_or(|v| v != "1"),
            "{name}: {why}"
        );
        // Past the capture of the test harness: a test that did not run must be seen.
        let _: std::io::Result<()> = writeln!(std::io::stderr(), "SKIP {name}: {why}");
        return;
    }
    let script = format!("set -e\nip link set lo up\n{setup}\nexec ${{WRAP:-}} \"$0\" \"$@\"");
    let output = Command::new("unshare")
        .args(["-Urn", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{name} inside its namespace:\n{text}"
    );
}

fn available() -> Result<(), String> {
    let output = Command::new("unshare")
        .args(["-Urn", "sh", "-c", "ip link set lo up"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`unshare` cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "no network namespace is permitted: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}
