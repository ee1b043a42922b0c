//! Changes by the command line: `--only`, `--rounds`, `--time`, `--seed`.

use hopbench_model::units::Span;
use hopbench_model::{Plan, SECOND};
use hopbench_scenario::{Overrides, read};

use crate::common::{lines, vocabularies};

const TEXT: &str = "name: x\nrounds: 2\nseed: 5\nbaseline: host\na-a: false\n\
                    paths: {host: host@a -> host@b, overlay: overlay@a -> overlay@b, overlay2: \
                    overlay@a -> overlay@c}\n\
                    workloads:\n  latency: {rr: {size: [64, 4096], time: 1s}}\n  \
                    bulk: {stream: {connections: [1, 4]}}\n  \
                    echo: {ping: {count: 3, every: 10ms}}\n";

fn with(overrides: &Overrides) -> Result<Plan, String> {
    read("x.yaml", TEXT, &vocabularies(), overrides)
        .map(|resolved| resolved.plan)
        .map_err(|problems| lines(&problems))
}

fn only(filters: &[&str]) -> Result<Vec<String>, String> {
    let only = filters.iter().map(|f| (*f).to_owned()).collect();
    let plan = with(&Overrides { only, ..Overrides::default() })?;
    let shown = |cell: &hopbench_model::Cell| {
        let (path, point) = plan.at(*cell);
        let values: Vec<_> = point.point.values().map(ToString::to_string).collect();
        format!("{} {} {}", path.name, point.workload, values.join(","))
            .replace('"', "")
            .trim()
            .to_owned()
    };
    // Nothing is kept that no cell needs.
    for index in 0..plan.paths.len() {
        assert!(plan.cells.iter().any(|cell| cell.path == index));
    }
    for index in 0..plan.points.len() {
        assert!(plan.cells.iter().any(|cell| cell.point == index));
    }
    Ok(plan.cells.iter().map(shown).collect())
}

#[test]
fn filters_keep_what_they_select() {
    assert_eq!(only(&[]).expect("all").len(), 15);
    assert_eq!(
        only(&["path=overlay*,workload=latency,size=64"]).expect("two"),
        ["overlay latency 64B", "overlay2 latency 64B"]
    );
    assert_eq!(
        only(&["workload=rr,path=host"]).expect("by kind"),
        ["host latency 64B", "host latency 4KiB"]
    );
    assert_eq!(only(&["size=4096,path=host"]).expect("the same size"), ["host latency 4KiB"]);
    assert_eq!(
        only(&["connections=4,path=host", "path=overlay?,workload=echo"]).expect("either"),
        ["host bulk 4", "overlay2 echo"]
    );
    let plan = with(&Overrides { only: vec!["path=overlay*".to_owned()], ..Overrides::default() })
        .expect("a plan");
    assert_eq!(plan.baseline, None, "there is nothing to compare with");
    let plan = with(&Overrides { only: vec!["path=host".to_owned()], ..Overrides::default() })
        .expect("a plan");
    assert_eq!(plan.baseline.as_deref(), Some("host"));
}

#[test]
fn a_baseline_that_no_filter_selects_is_told() {
    let notes = |filters: &[&str], subjects: &[&str]| {
        let [only, subjects] = [filters, subjects]
            .map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let overrides = Overrides { only, subjects, ..Overrides::default() };
        let read = read("x.yaml", TEXT, &vocabularies(), &overrides);
        read.map_err(|problems| lines(&problems)).expect("a plan").notes
    };
    let told = "baseline host: --only does not select it, so nothing is compared; add --only \
                path=host";
    assert_eq!(notes(&["path=overlay*"], &[]), [told]);
    for filters in [&[][..], &["path=*"], &["path=overlay,workload=rr", "path=host"]] {
        assert!(notes(filters, &[]).is_empty(), "{filters:?}");
    }
    // Then each path is compared with itself.
    let with_subject = notes(&["path=overlay*"], &["new=mtu: 1400"]);
    assert!(with_subject.iter().all(|note| !note.contains("--only")), "{with_subject:?}");
}

#[test]
fn a_filter_that_selects_nothing_is_told_what_there_is() {
    assert_eq!(
        only(&["path=over"]).unwrap_err(),
        "--only: found `path=over`, which selects no cell, expected connections of 1, 4; path of \
         host, overlay, overlay2; size of 64B, 4KiB; workload of latency, bulk, echo"
    );
    assert!(
        only(&["path=host", "path=nothing"]).unwrap_err().contains("`path=nothing`"),
        "each filter must select"
    );
    assert_eq!(
        only(&["sise=64"]).unwrap_err(),
        "--only: found `sise`, expected one of connections, path, size, workload; did you mean \
         `size`?"
    );
    assert_eq!(
        only(&["host"]).unwrap_err(),
        "--only: found `host`, expected KEY=PATTERN, like path=overlay* or workload=rr,size=64"
    );
}

#[test]
fn the_command_line_wins() {
    let overrides = Overrides {
        rounds: Some(7),
        time: Some(Span(2 * SECOND)),
        seed: Some(8),
        new_seed: 3,
        ..Overrides::default()
    };
    let plan = with(&overrides).expect("a plan");
    assert_eq!((plan.rounds, plan.seed), (7, 8));
    for point in &plan.points {
        let expected = if point.workload == "echo" { 30_000_000 - 100 } else { 2 * SECOND };
        assert_eq!(point.job.timing.window_ns, expected, "{}", point.workload);
        assert!(!point.point.contains_key("time"));
        assert_eq!(point.job.seed, 8);
    }
    assert_eq!(with(&Overrides::default()).expect("a plan").seed, 5, "the scenario's");
    let text = TEXT.replace("seed: 5\n", "");
    let new =
        read("x.yaml", &text, &vocabularies(), &Overrides { new_seed: 3, ..Overrides::default() });
    assert_eq!(new.expect("a plan").plan.seed, 3);
}

#[test]
fn what_is_wrong_with_the_command_line_is_told_of_it() {
    let wrong = Overrides { rounds: Some(0), time: Some(Span(0)), ..Overrides::default() };
    assert_eq!(
        with(&wrong).unwrap_err(),
        "--rounds: found `0`, expected 1 to 1000\n--time: found `0ns`, expected at least 1ms"
    );
}
