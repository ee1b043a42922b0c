//! Profiles in reports: which functions grew is said only of paths that the rounds tell apart.

use std::collections::BTreeMap;

use hopbench_model::{Folded, PROFILE_SCHEMA, ProfileFile, ProfiledCell, Profiles};
use hopbench_report::campaign::{Details, ProfileOwner, Summary};

use super::fixture::Made;
use super::{campaign, figures};

/// The profile of a path, with so many samples of a proxy.
fn cell(path: &str, samples: u64) -> (ProfiledCell, Folded) {
    let folded = Folded::parse(&format!("client;main 100\nclient-sidecar;[envoy] {samples}\n"));
    let cell = ProfiledCell {
        path: path.to_owned(),
        workload: "bulk".to_owned(),
        point: String::new(),
        folded: Some(format!("{path}.bulk.folded")),
        problem: None,
        samples_per_cpu_s: 1000,
        window_s: 2.0,
        samples: 100 + samples,
        other_samples: 0,
        idle_samples: 0,
        lost_samples: 0,
        throttled: 0,
        libraries: BTreeMap::new(),
        count: None,
    };
    (cell, folded.unwrap())
}

/// The run with profiles of both paths: of `other` the proxy takes far more.
fn profiled(made: &Made) -> Summary {
    let (cells, folded): (Vec<ProfiledCell>, Vec<Folded>) =
        [cell("base", 100), cell("other", 900)].into_iter().unzip();
    let names = cells.iter().filter_map(|cell| cell.folded.clone());
    let folded = names.zip(folded).collect();
    let file = ProfileFile {
        schema: PROFILE_SCHEMA.to_owned(),
        run_id: made.run.run_id.clone(),
        notes: Vec::new(),
        cells,
    };
    campaign(made).with_profiles(Some(Profiles { file, folded })).into_summary()
}

/// The part of the details that is about profiles, as one line.
fn told(summary: &Summary) -> String {
    let text = Details { width: 80, workload: None }.text(summary).unwrap();
    let (_, text) = text.split_once("\nProfiles\n").unwrap_or_else(|| panic!("{text}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_grew_is_said_of_paths_that_differ_and_of_no_others() {
    const CAUTION: &str = "Each profile is one trial.";
    // Every round is 10 % slower on the other path.
    let apart = profiled(&figures::made(&[(8e9, 7.2e9), (4e9, 3.6e9), (2e9, 1.8e9)]));
    let text = told(&apart);
    assert!(text.contains("client-sidecar [envoy] 50.0 % 90.0 %"), "{text}");
    assert!(text.contains(CAUTION) && !text.contains("No function"), "{text}");
    assert!(text.contains("Flame graph: profile/other-vs-base.bulk.svg"), "{text}");

    for (rates, verdict) in [
        (vec![(8e9, 7.9e9), (7.8e9, 8e9), (8.1e9, 8.05e9)], "not decided"),
        (vec![(8e9, 1e9)], "too few rounds"),
    ] {
        let alike = profiled(&figures::made(&rates));
        let [difference] = &alike.profiles.as_ref().unwrap().differences[..] else {
            panic!("{alike:?}")
        };
        assert!(difference.grew.is_empty(), "{difference:?}");
        let text = told(&alike);
        let why = "No function is listed: the rounds do not tell the two apart (";
        assert!(text.contains(&format!("{why}{verdict}")), "{text}");
        assert!(!text.contains(CAUTION) && !text.contains("grew by"), "{text}");
    }
}

#[test]
fn no_path_is_cut_in_the_table_of_samples() {
    let mut summary = profiled(&figures::made(&[(8e9, 7.2e9), (4e9, 3.6e9), (2e9, 1.8e9)]));
    let other = &mut summary.profiles.as_mut().unwrap().cells[1];
    other.path = "sidecars-with-policy.new".to_owned();
    for name in ["gateway", "server", "server-sidecar", "softirq"] {
        other.owners.push(ProfileOwner { name: name.to_owned(), samples: 10, value: 0.01 });
    }
    let text = Details { width: 80, workload: None }.text(&summary).unwrap();
    let (_, text) = text.split_once("\nProfiles\n").unwrap();
    let table: Vec<&str> = text.lines().take_while(|line| !line.contains(".svg")).collect();
    let rows = table.iter().filter(|line| line.contains("sidecars-with-policy.new  bulk")).count();
    assert!(rows >= 2, "a block for the columns that did not fit: {table:?}");
    assert!(table.iter().all(|line| line.len() <= 80 && !line.contains('~')), "{table:?}");
}

#[test]
fn a_long_function_has_the_room_that_the_other_columns_leave() {
    const NAME: &str = "Envoy::Http::ConnectionManagerImpl::ActiveStream::decodeHeaders";
    let mut summary = profiled(&figures::made(&[(8e9, 7.2e9), (4e9, 3.6e9), (2e9, 1.8e9)]));
    summary.profiles.as_mut().unwrap().differences[0].grew[0].frame = NAME.to_owned();
    let lines = |width: usize, name: &str| -> Vec<usize> {
        let text = Details { width, workload: None }.text(&summary).unwrap();
        let with_it = text.lines().filter(|line| line.contains(name));
        with_it.map(|line| line.chars().count()).collect()
    };
    // Each of the three columns of figures comes in a block of its own.
    assert_eq!(lines(80, "  client-sidecar  Envoy::Http::Connec~tream::decodeHeaders  "), [80; 3]);
    // All fit beside as much of the name as there is room for, or beside the whole name.
    assert_eq!(lines(160, NAME).len(), 1);
    assert_eq!(lines(120, "  Envoy::Http::Conn~eam::decodeHeaders  "), [120]);
}
