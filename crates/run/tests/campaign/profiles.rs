//! Profiles after the rounds: they cost the run nothing, whatever becomes of them.

use std::io::{self, Write};
use std::path::Path;

use hopbench_agent::hello;
use hopbench_meter::profile::Access;
use hopbench_model::{Plan, Profiles, RunStatus};
use hopbench_run::results::{Folder, Resumed, profiles};
use hopbench_run::{Campaign, Ended, Finished, Profiling, new_run};
use serde_json::json;

use crate::bed::{Bed, Trouble};
use crate::follower::{Follower, contents};
use crate::plans::{job, path, plan, point};

/// The plan of these tests: two paths, the first the baseline.
fn two_paths() -> Plan {
    let points = vec![point("ask", &[], job("rr", json!({"size": "1B"}), 2, 20))];
    let plan = plan(vec![path("x", 1, 1), path("y", 1, 1)], points, 2);
    Plan { baseline: Some("x".to_owned()), ..plan }
}

/// What the kernel allows; `None` where it forbids everything.
fn allowed() -> Option<Access> {
    match Access::now() {
        Ok(access) => Some(access),
        Err(why) => {
            let required = std::env::var("HOPBENCH_REQUIRE_PERF").is_ok_and(|value| value == "1");
            assert!(!required, "HOPBENCH_REQUIRE_PERF=1: {why}");
            let _ = writeln!(io::stderr(), "SKIP: {why}");
            None
        }
    }
}

/// Runs the plan, or goes on with it, and profiles all paths.
fn profiled(dir: &Path, bed: &mut Bed, follower: &mut Follower, access: Access) -> Ended {
    let plan = two_paths();
    let profiling = Profiling::of(&plan, &[], || Ok(access)).unwrap();
    let (folder, resumed) = if dir.join("run.json").exists() {
        Folder::resume(dir).unwrap()
    } else {
        let run = new_run(plan, "name: test\n".to_owned(), &hello()).unwrap();
        (Folder::create(dir, run).unwrap(), Resumed::default())
    };
    let campaign = Campaign::resume(folder, resumed, hello()).with_profiles(Some(profiling));
    let Finished { ended, fault, .. } = campaign.run(bed, follower);
    assert_eq!(fault, None);
    ended
}

fn read(dir: &Path) -> Profiles {
    profiles(dir).unwrap().expect("profiles")
}

#[test]
fn a_profile_is_in_no_record_and_one_that_fails_costs_only_itself() {
    let Some(access) = allowed() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (mut bed, mut follower) = (Bed::default(), Follower::default());
    bed.trouble.insert("y".to_owned(), Trouble::NoProof);
    let ended = profiled(dir.path(), &mut bed, &mut follower, access);
    assert_eq!(ended, Ended { good: 2, errors: 2, ..Ended::default() });
    let (_, records) = contents(dir.path());
    assert_eq!(records.len(), 4, "two paths in two rounds");
    assert!(records.iter().all(|record| record.window_s < 1.0));

    let Profiles { file, folded } = read(dir.path());
    let [x, y] = &file.cells[..] else { panic!("{file:?}") };
    let stacks = &folded[x.folded.as_ref().unwrap()];
    assert_eq!((x.path.as_str(), &x.problem, x.samples), ("x", &None, stacks.total()));
    // Both ends are threads of this process.
    assert!(stacks.roots().contains_key("server"), "{:?}", stacks.roots());
    assert!(x.count.as_ref().is_some_and(|count| count.unit == "request" && count.number > 0.0));
    assert!((x.window_s - 2.0).abs() < 0.2, "{x:?}");
    assert_eq!((y.path.as_str(), &y.folded), ("y", &None));
    assert!(y.problem.as_ref().is_some_and(|why| why.contains("did not take the path")), "{y:?}");
    let told = |words: &str| follower.notes.iter().any(|note| note.starts_with(words));
    assert!(told("profile 1 of 2, x ask: ") && told("profile 2 of 2, y ask: none"), "{follower:?}");
}

#[test]
fn an_interrupted_profile_leaves_the_run_whole_and_is_made_later() {
    let Some(access) = allowed() else { return };
    let dir = tempfile::tempdir().unwrap();
    // The rounds have fewer ticks than this, and two profiles have more.
    let mut hasty = Follower { enough_after_ticks: Some(60), ..Follower::default() };
    let ended = profiled(dir.path(), &mut Bed::default(), &mut hasty, access);
    assert_eq!(ended, Ended { good: 4, ..Ended::default() });
    let told = |note: &String| note.starts_with("profiles: interrupted after ");
    assert!(hasty.notes.iter().any(told), "{:?}", hasty.notes);
    let (run, records) = contents(dir.path());
    assert_eq!((run.status, records.len()), (RunStatus::Complete, 4));
    let made = profiles(dir.path()).unwrap().map_or(0, |profiles| profiles.file.cells.len());
    assert!(made < 2, "{made} of 2 profiles");

    let ended = profiled(dir.path(), &mut Bed::default(), &mut Follower::default(), access);
    assert_eq!(ended, Ended::default(), "nothing was missing");
    assert_eq!(contents(dir.path()).1, records);
    assert!(read(dir.path()).file.cells.iter().all(|cell| cell.folded.is_some()));
}

#[test]
fn profiles_of_another_version_stay_as_they_are() {
    let Some(access) = allowed() else { return };
    let dir = tempfile::tempdir().unwrap();
    let run = new_run(two_paths(), "name: test\n".to_owned(), &hello()).unwrap();
    drop(Folder::create(dir.path(), run).unwrap());
    let newer = r#"{"schema": "hopbench.profile/9", "graphs": []}"#;
    let file = dir.path().join("profile/profile.json");
    std::fs::create_dir(dir.path().join("profile")).unwrap();
    let (all, none) = (Ended { good: 4, ..Ended::default() }, Ended::default());
    // And those that are damaged.
    for (text, told, expected) in
        [(newer, "found `hopbench.profile/9`", all), ("{", " is damaged: ", none)]
    {
        std::fs::write(&file, text).unwrap();
        let mut follower = Follower::default();
        let ended = profiled(dir.path(), &mut Bed::default(), &mut follower, access);
        assert_eq!(ended, expected);
        let is_told = |note: &String| note.starts_with("no profiles: ") && note.contains(told);
        assert!(follower.notes.iter().any(is_told), "{:?}", follower.notes);
        let is_trial = |note: &String| note.starts_with("profile 1 of ");
        assert!(!follower.notes.iter().any(is_trial), "{:?}", follower.notes);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}
