//! Disks that refuse: full ones and read-only ones, on mounts that nobody else sees.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output};

use hopbench_agent::hello;
use hopbench_model::{FaultKind, RunStatus};
use hopbench_run::new_run;
use hopbench_run::results::{Folder, read};

use crate::bed::Bed;
use crate::follower::{Follower, contents, resume, run};
use crate::plans::{latency, path, plan};

/// Names the test that is inside.
const MARK: &str = "HOPBENCH_TEST_INSIDE";

/// Runs `body` in a mount namespace of its own; without the right to one the test is skipped aloud.
fn inside(body: impl FnOnce()) {
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    // The test harness names the thread of a test after it.
    let this = std::thread::current();
    let test = this.name().expect("the thread of a test");
    // Who owns its own directory in /proc is root.
    let root = fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(if root {
            &["--mount"][..]
        } else {
            &["--mount", "--user", "--map-root-user"]
        });
        command
    };
    let tried = unshare().args(["mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !tried.as_ref().is_ok_and(|out| out.status.success()) {
        let required = std::env::var("HOPBENCH_REQUIRE_NETNS").is_ok_and(|v| v == "1");
        assert!(!required, "{test} needs a mount namespace (HOPBENCH_REQUIRE_NETNS=1): {tried:?}");
        // Not `println`, which is kept back when the test passes.
        let _ = writeln!(std::io::stdout(), "\nSKIP {test}: no mount namespace here: {tried:?}");
        return;
    }
    let mut again = unshare();
    again
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(MARK, test);
    let Output { status, stdout, stderr } = again.output().unwrap();
    let story = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success() && story.contains("1 passed"), "inside: {story}");
}

fn mount(options: &str, at: &Path) {
    let done = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(at)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn a_full_disk_ends_the_run_and_loses_nothing() {
    inside(|| {
        let dir = tempfile::tempdir().unwrap();
        mount("size=64k", dir.path());
        let plan = plan(vec![path("x", 1, 1)], latency(&[1, 64]), 20);
        let mut follower = Follower::default();
        let fault =
            run(plan, &dir.path().join("r"), &mut Bed::default(), &mut follower).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Measuring, "{fault}");
        assert!(fault.text.contains("No space left") && fault.text.contains("--resume"), "{fault}");
        let at = dir.path().join("r");
        let (file, records, notes) = read(&at).unwrap();
        assert!(notes.is_empty(), "no half line is left: {notes:?}");
        assert!(
            !records.is_empty() && records.len() == follower.done,
            "{} of {}",
            records.len(),
            follower.done
        );
        assert_ne!(file.status, RunStatus::Complete);
        // With room, the rest follows.
        let remounted = Command::new("mount")
            .args(["-o", "remount,size=16m"])
            .arg(dir.path())
            .output()
            .unwrap();
        assert!(remounted.status.success(), "{remounted:?}");
        let mut rest = Follower::default();
        let ended = resume(&at, &mut Bed::default(), &mut rest).unwrap();
        assert_eq!((ended.good + records.len(), rest.started.len()), (40, ended.good));
        let (file, all) = contents(&at);
        assert_eq!((file.status, all.len()), (RunStatus::Complete, 40));
        assert_eq!(all[..records.len()], records);
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_starts() {
    inside(|| {
        let dir = tempfile::tempdir().unwrap();
        mount("ro,size=64k", dir.path());
        let run_file =
            new_run(plan(vec![path("x", 1, 1)], latency(&[1]), 1), String::new(), &hello())
                .unwrap();
        for at in [dir.path().to_owned(), dir.path().join("new")] {
            let fault = Folder::create(&at, run_file.clone()).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Environment);
            assert!(fault.text.contains("read-only") && fault.text.contains("--out"), "{fault}");
        }
    });
}
