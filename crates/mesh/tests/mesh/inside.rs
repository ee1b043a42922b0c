//! A test once more, in a network of its own.
//!
//! The inner test is the first process of a process namespace: when it ends, however it ends, the
//! kernel kills the Envoys that it started.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

const MARK: &str = "HOPBENCH_MESH_TEST_INSIDE";

/// Runs `body`, which is all of a test, where `lo` is up and nothing else is there.
///
/// Without the right to make namespaces the test is skipped, which is printed; with
/// `HOPBENCH_REQUIRE_NETNS=1` it fails.
pub(crate) fn inside(body: impl FnOnce()) {
    if std::env::var_os(MARK).is_some() {
        shell("ip link set lo up").unwrap();
        return body();
    }
    let test = this_test();
    let root = std::fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
    let user = if root { "" } else { "--user --map-root-user" };
    let way = format!("unshare {user} --net --mount --pid --mount-proc --fork --kill-child");
    if let Err(why) = shell(&format!("{way} nft list ruleset && command -v ip setpriv")) {
        let required = std::env::var("HOPBENCH_REQUIRE_NETNS").is_ok_and(|value| value == "1");
        assert!(!required, "{test} needs namespaces (HOPBENCH_REQUIRE_NETNS=1): {why}");
        let _ = writeln!(std::io::stdout(), "\nSKIP {test}: {why}");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).args(way.split_whitespace()).arg(this);
    command
        .args(["--exact", &test, "--nocapture", "--test-threads", "1"])
        .env(MARK, &test)
        .env("PATH", path());
    let done = command.stdin(Stdio::null()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    // A name that no test has would be a success, too.
    assert!(done.status.success() && out.contains("1 passed"), "{}\n{out}\n{err}", done.status);
}

/// The path of the test that runs: the test harness names its thread so.
pub(crate) fn this_test() -> String {
    std::thread::current().name().expect("the thread of a test").to_owned()
}

/// What a line of shell prints, or why it failed.
pub(crate) fn shell(line: &str) -> Result<String, String> {
    let done = Command::new("sh")
        .args(["-ec", line])
        .env("PATH", path())
        .output()
        .map_err(|e| e.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stderr)) }
}

fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}
