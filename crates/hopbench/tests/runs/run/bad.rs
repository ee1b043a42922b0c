//! Circumstances in which nothing, or not everything, can be measured.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hopbench_model::RunStatus;

use crate::lab::bench::FILES;
use crate::lab::namespace::{inside, outside, shell};
use crate::lab::program::{Running, run};
use crate::lab::user::is_root;
use crate::lab::wait::{S, until};
use crate::lab::{Bench, Finished, User};

const SHORT: &str = "
name: short
rounds: 1
time: 200ms
warmup: 20ms
interval: 50ms
paths: {host: host@a -> host@b, bridge: bridge@a -> bridge@b}
workloads: {ask: {rr: {size: 64B}}, bulk: stream}
";

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect()
}

/// A run that was refused: with this exit code, one sentence that says all of this, and no word of
/// a panic.
fn refused(done: &Finished, code: i32, words: &[&str]) {
    assert_eq!((done.code, done.stdout.as_str()), (Some(code), ""), "{}", done.story());
    for word in words {
        assert!(done.stderr.contains(word), "nothing about `{word}`: {}", done.story());
    }
    assert!(done.stderr.lines().all(|line| line.starts_with("hopbench: ")), "{}", done.story());
}

#[test]
fn a_folder_that_cannot_be_used_is_refused_before_anything_is_built() {
    for user in User::all() {
        let bench = Bench::new(user, SHORT);
        let out = bench.out();
        // With something in it.
        fs::create_dir(&out).expect("a folder");
        fs::write(out.join("mine"), "precious").expect("a file");
        refused(&bench.run(&[]), 2, &["--out", &out.to_string_lossy(), "not empty", "--resume"]);
        assert_eq!(names(&out), ["mine"]);
        // Without a run in it.
        refused(&bench.resume(&[]), 2, &["no results folder", "run.json"]);
        assert_eq!(names(&out), ["mine"]);
        // What a run that was killed at its very beginning leaves is in nobody's way; beside
        // something else it is.
        fs::write(out.join("run.json.tmp"), "{").expect("a file");
        refused(&bench.run(&[]), 2, &["not empty"]);
        fs::remove_dir_all(&out).expect("gone");
        refused(&bench.resume(&[]), 2, &["no", &out.to_string_lossy()]);
        assert!(!out.exists());
        // A file where the folder should be.
        fs::write(&out, "precious").expect("a file");
        let done = bench.run(&[]);
        assert!(matches!(done.code, Some(2 | 3)), "{}", done.story());
        refused(&done, done.code.unwrap_or(0), &[&out.to_string_lossy()]);
        assert_eq!(fs::read_to_string(&out).expect("still a file"), "precious");
    }
}

/// In the lab the user is root, but only of what belongs to that user.
#[test]
fn a_folder_that_may_not_be_written_to_is_told() {
    let Some(_turn) = outside() else {
        return;
    };
    // Root may write anywhere.
    let user = if is_root() { User::Nobody } else { User::Caller };
    let bench = Bench::new(user, SHORT);
    let to = |folder: &str| run(&mut bench.command(&["run", &bench.scenario(), "--out", folder]));
    refused(
        &to("/hopbench-results"),
        3,
        &["cannot make /hopbench-results", "may write to, with --out"],
    );
    refused(&to("/proc/results"), 3, &["cannot make /proc/results", "check the path"]);
    if is_root() {
        let roots = User::Caller.folder();
        fs::set_permissions(roots.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
        let name = roots.path().to_string_lossy();
        refused(&to(&name), 3, &["cannot write", &name, "may write to, with --out"]);
        assert!(names(roots.path()).is_empty());
    }
    assert!(names(bench.work()).is_empty());
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, SHORT);
    let first = bench.start(&[]);
    let records =
        || fs::metadata(bench.out().join("records.jsonl")).is_ok_and(|file| file.len() > 0);
    assert!(until(20 * S, || records().then_some(())).is_some(), "no record");
    refused(&bench.run(&[]), 2, &["not empty"]);
    refused(
        &bench.resume(&[]),
        2,
        &["another hopbench is writing to", &bench.out().to_string_lossy()],
    );
    // A report may be had meanwhile.
    let report = run(&mut bench.command(&["report", &bench.out().to_string_lossy()]));
    assert_eq!(report.code, Some(0), "{}", report.story());
    let done = first.finish();
    assert_eq!(done.code, Some(0), "{}", done.story());
    bench.results().whole();
}

/// In a user namespace of its own, whose limits are its own.
#[test]
fn a_machine_without_user_namespaces_says_what_forbids_them() {
    if outside().is_none() {
        return;
    }
    let bench = Bench::new(User::Caller, SHORT);
    // Root there, but without the rights that make a user namespace needless.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all \
                  --inh-caps=-all \"$@\"";
    let mut command = bench.command(&[]);
    let binary = command.get_program().to_owned();
    let environment = std::mem::replace(&mut command, std::process::Command::new("unshare"));
    for (name, value) in environment.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.args(["-Ur", "sh", "-ec", script, "sh"]).arg(&binary).current_dir(bench.work());
    command.args(["run", &bench.scenario(), "--out", &bench.out().to_string_lossy()]);
    let done = run(&mut command);
    refused(
        &done,
        3,
        &["user.max_user_namespaces = 0", "sudo sysctl user.max_user_namespaces=", "sudo hopbench"],
    );
    assert!(names(bench.work()).is_empty(), "{:?}", names(bench.work()));
}

#[test]
fn a_folder_whose_run_never_began_is_taken() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, SHORT);
    fs::create_dir(bench.out()).expect("a folder");
    fs::write(bench.out().join("run.json.tmp"), "{").expect("a file");
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    assert_eq!(results.files, FILES.map(str::to_owned).into());
    results.whole();
}

/// A scenario that is wrong starts nothing, wherever it runs.
#[test]
fn what_is_wrong_leaves_nothing() {
    for user in User::all() {
        let bench = Bench::new(
            user,
            "name: x\npaths: {p: hots@a -> host@b}\nworkloads: {w: {rr: {siez: 1}}}\n",
        );
        refused(&bench.run(&[]), 2, &["did you mean `host`?", "did you mean `size`?"]);
        assert!(names(bench.work()).is_empty());
    }
}

/// A program that the scenario needs and that is not there: told before the lab is built.
#[test]
fn what_is_missing_is_told_with_the_remedy() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(
        User::Caller,
        "name: x\npaths: {p: 'bridge+runsc@a -> host@b'}\nworkloads: {w: rr}\n",
    );
    let done = bench.run(&[]);
    refused(&done, 3, &["runsc", "PATH"]);
    // A program that reads events is told that the run is over.
    let bench = Bench::new(
        User::Caller,
        "name: x\npaths: {p: 'bridge+runsc@a -> host@b'}\nworkloads: {w: rr}\n",
    );
    let done = bench.run(&["--json"]);
    let last = last_event(&done);
    assert_eq!(
        (done.code, &last["event"], &last["good"]),
        (Some(3), &"run_done".into(), &0.into()),
        "{}",
        done.story()
    );
    assert!(last["fault"].as_str().is_some_and(|text| text.contains("runsc")), "{last}");
}

/// The last line of a run with `--json`.
fn last_event(done: &Finished) -> serde_json::Value {
    let line = done.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {}", done.story()))
}

/// A run that ends with a fault reports on what it measured before.
#[test]
fn a_run_that_is_broken_off_leaves_its_report() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, SHORT);
    let out = bench.out();
    let started = bench.start(&[]);
    let lines =
        || fs::read_to_string(out.join("records.jsonl")).unwrap_or_default().lines().count();
    assert!(until(20 * S, || (lines() >= 1).then_some(())).is_some(), "no record");
    // From now on `run.json` cannot be replaced.
    fs::create_dir(out.join("run.json.tmp")).expect("a folder");
    let done = started.finish();
    assert_eq!(done.code, Some(4), "{}", done.story());
    assert!(
        done.stderr.contains("cannot write") && done.stderr.contains("run.json"),
        "{}",
        done.story()
    );
    assert!(done.stderr.contains("go on with `hopbench run --resume"), "{}", done.story());
    assert!(done.stdout.contains("bridge"), "no table: {}", done.story());
    for report in ["report.html", "summary.csv"] {
        assert!(
            fs::read_to_string(out.join(report)).is_ok_and(|text| text.contains("bridge")),
            "{report}"
        );
    }
    assert_eq!(lines(), 4);
}

/// The lab's own `/run` hides the machine's: what would be written there would be lost.
#[test]
fn results_below_run_are_refused() {
    let bench = Bench::new(User::Caller, SHORT);
    let done =
        run(&mut bench.command(&["run", &bench.scenario(), "--out", "/run/hopbench-results"]));
    refused(&done, 2, &["/run/hopbench-results", "a /run of its own", "--out"]);
    let done = run(bench.command(&["run", &bench.scenario()]).current_dir("/run"));
    refused(&done, 2, &["/run/results/", "a /run of its own", "--out"]);
    assert!(!Path::new("/run/hopbench-results").exists() && names(bench.work()).is_empty());
}

/// Figures of two builds are not mixed unless somebody wants that.
#[test]
fn a_run_of_another_build_goes_on_only_when_told() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, SHORT);
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let file = bench.out().join("run.json");
    let text = fs::read_to_string(&file).expect("run.json");
    let mut run: hopbench_model::RunFile = serde_json::from_str(&text).expect("JSON");
    run.environment.insert("commit".to_owned(), "abcdef".to_owned());
    fs::write(&file, serde_json::to_string(&run).expect("JSON")).expect("written");
    refused(&bench.resume(&[]), 2, &["--resume", "commit abcdef", "--resume-anyway"]);
    assert_eq!(bench.results().run, run, "nothing was changed");
    let done = bench.resume(&["--resume-anyway"]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let after = bench.results().run;
    assert_eq!((after.session, after.status), (2, RunStatus::Complete));
    assert!(
        after.notes.iter().any(|note| note.contains("another commit (it was abcdef")),
        "{:?}",
        after.notes
    );
}

/// A disk that is full in the middle: what was written stays whole, and the rest can be measured
/// later.
#[test]
fn a_full_disk_loses_nothing() {
    inside(|| {
        let bench = Bench::new(User::Caller, &SHORT.replace("rounds: 1", "rounds: 20"));
        let out = bench.out();
        fs::create_dir(&out).expect("a folder");
        shell(&format!("mount -t tmpfs -o size=256k tmpfs {}", out.display()));
        let done = bench.run(&["--json"]);
        assert_eq!(done.code, Some(4), "{}", done.story());
        let last = last_event(&done);
        assert_eq!(
            (&last["event"], &last["status"]),
            (&"run_done".into(), &"incomplete".into()),
            "{last}"
        );
        assert!(
            last["fault"].as_str().is_some_and(|text| text.contains("No space left on device")),
            "{last}"
        );
        for word in ["No space left on device", "make room", "--resume"] {
            assert!(done.stderr.contains(word), "nothing about `{word}`: {}", done.story());
        }
        assert!(!done.stderr.contains("panicked"), "{}", done.story());
        let results = bench.results();
        assert_eq!(results.cut, 0, "half a record");
        assert!((1..80).contains(&results.records.len()), "{} records", results.records.len());
        shell(&format!("mount -o remount,size=64m {}", out.display()));
        let done = Running::start(&mut bench.command(&["run", "--resume", &out.to_string_lossy()]))
            .finish();
        assert_eq!(done.code, Some(0), "{}", done.story());
        let after = bench.results();
        assert_eq!(after.run.status, RunStatus::Complete);
        let kept = results
            .records
            .iter()
            .zip(&results.lines)
            .filter(|(record, _)| record.incomplete.is_none());
        for (_, line) in kept {
            assert!(after.lines.contains(line), "a record was lost: {line:.200}");
        }
        after.whole();
    });
}

/// No trial could ever be in it.
#[test]
fn a_run_without_a_cell_that_can_be_measured_leaves_no_folder() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(
        User::Caller,
        "name: x\ntime: 200ms\npaths: {p: macvlan@a -> host@a}\nworkloads: {w: rr}\n",
    );
    let done = bench.run(&[]);
    refused(&done, 3, &["path p cannot exist: the kernel keeps", "leave this path out"]);
    assert!(!done.stderr.contains("missing"), "{}", done.story());
    assert!(!bench.out().exists(), "{:?}", names(&bench.out()));
}
