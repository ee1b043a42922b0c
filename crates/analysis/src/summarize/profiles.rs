//! The profiles of a run: values for each request, and the difference of two profiles.

use std::collections::BTreeMap;

use hopbench_model::number::{counted, percentage};
use hopbench_model::{Folded, PROFILES, ProfiledCell, Profiles, printable};

use crate::summary::Outcome::Saturated;
use crate::summary::{
    CellSummary, FrameGrowth, ProfileDifference, ProfileOwner, ProfileSummary, ProfileUnit,
    ProfilesSummary, Verdict, WorkloadSummary,
};

/// The frames of a difference that are named, the surest.
const MOST_FRAMES: usize = 5;
/// The share of samples that may be lost without a word.
const MOST_LOST: f64 = 0.01;

/// A profile, as one side of a difference.
#[derive(Debug, Clone, Copy)]
pub struct ProfileSide<'a> {
    /// What it is called.
    pub label: &'a str,
    /// Its stacks.
    pub folded: &'a Folded,
    /// The value of one sample, in the unit of the other side.
    pub of_sample: f64,
}

/// How the rounds tell a cell apart from the one that it is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    /// By the main figure.
    Mainly,
    /// By another figure alone.
    Aside,
    /// Not at all: the verdict on the main figure.
    Not(String),
}

/// The summary of profiles, with each path against the one that `of` names; `told` says how the
/// rounds tell the two apart.
pub(super) fn summary<'p>(
    profiles: &Profiles,
    of: impl Fn(&str) -> Option<&'p str>,
    told: impl Fn(&ProfiledCell) -> Told,
) -> ProfilesSummary {
    let cells = &profiles.file.cells;
    let against = |cell: &ProfiledCell| {
        let path = of(&cell.path)?;
        let is_base = |other: &&ProfiledCell| {
            other.path == path && other.workload == cell.workload && other.point == cell.point
        };
        let mut difference = difference_of(profiles, cells.iter().find(is_base)?, cell)?;
        let rank = match told(cell) {
            Told::Mainly => 0,
            Told::Aside => 1,
            Told::Not(verdict) => {
                difference.not_told_apart = Some(verdict);
                difference.grew.clear();
                2
            }
        };
        Some((rank, difference))
    };
    let mut differences: Vec<(u8, ProfileDifference)> = cells.iter().filter_map(against).collect();
    differences.sort_by(|(a_rank, a), (b_rank, b)| {
        a_rank.cmp(b_rank).then_with(|| change(b).total_cmp(&change(a)))
    });
    let differences = differences.into_iter().map(|(_, difference)| difference).collect();
    ProfilesSummary {
        notes: profiles.file.notes.clone(),
        cells: cells.iter().map(|cell| one(profiles, cell)).collect(),
        differences,
    }
}

/// How a cell is told apart from the one that it is compared with. A rate that only one of the two
/// carries is such a difference, and so is CPU time alone.
pub(super) fn told(workloads: &[WorkloadSummary], profiled: &ProfiledCell) -> Told {
    let no_verdict = || "no verdict".to_owned();
    let is_it =
        |cell: &&CellSummary| cell.path == profiled.path && cell.point_label == profiled.point;
    let workload = workloads.iter().find(|workload| workload.name == profiled.workload);
    let found = workload.and_then(|workload| Some((workload, workload.cells.iter().find(is_it)?)));
    let Some((workload, cell)) = found else { return Told::Not(no_verdict()) };
    let is_called = |verdict: &Verdict| verdict.outcome.is_called() || verdict.outcome == Saturated;
    let main = workload.comparison(cell).and_then(|ratio| ratio.verdict.as_ref());
    if main.is_some_and(is_called) {
        return Told::Mainly;
    }
    let figures = cell.figures.iter();
    let mut verdicts = figures.filter_map(|figure| figure.ratio.as_ref()?.verdict.as_ref());
    if verdicts.any(is_called) {
        return Told::Aside;
    }
    Told::Not(main.map_or_else(no_verdict, |verdict| verdict.text.clone()))
}

/// How much the values of both sides differ, whichever is larger: 0 where they are the same.
fn change(difference: &ProfileDifference) -> f64 {
    let ratio = difference.path_value / difference.base_value;
    if ratio.is_nan() { 0.0 } else { ratio.ln().abs() }
}

/// The stacks of a cell; `None` where it has none.
fn folded<'a>(profiles: &'a Profiles, cell: &ProfiledCell) -> Option<&'a Folded> {
    profiles.folded.get(cell.folded.as_ref()?)
}

/// The unit of a cell's values.
fn unit(cell: &ProfiledCell) -> ProfileUnit {
    match &cell.count {
        Some(count) if count.number > 0.0 => ProfileUnit::CpuUsPer(count.unit.clone()),
        _ => ProfileUnit::Share,
    }
}

/// The value of one sample of a cell in this unit.
fn of_sample(cell: &ProfiledCell, folded: &Folded, unit: &ProfileUnit) -> f64 {
    match (unit, &cell.count) {
        (ProfileUnit::CpuUsPer(_), Some(count)) => cell.sample_us() / count.number,
        _ => 1.0 / folded.total().max(1) as f64,
    }
}

fn one(profiles: &Profiles, cell: &ProfiledCell) -> ProfileSummary {
    let folded = folded(profiles, cell);
    let unit = unit(cell);
    let owner = |of: f64, (name, samples): (&str, u64)| ProfileOwner {
        name: name.to_owned(),
        samples,
        value: samples as f64 * of,
    };
    let owners = folded.map(|folded| {
        let of = of_sample(cell, folded, &unit);
        folded.roots().into_iter().map(|root| owner(of, root)).collect()
    });
    ProfileSummary {
        path: cell.path.clone(),
        workload: cell.workload.clone(),
        point: cell.point.clone(),
        graph: cell.folded.as_ref().filter(|_| folded.is_some()).map(|name| graph(name)),
        problem: cell.problem.clone(),
        samples: folded.map_or(0, Folded::total),
        lost_samples: cell.lost_samples,
        incomplete: incomplete(cell),
        unit,
        owners: owners.unwrap_or_default(),
    }
}

/// The gaps of a profile, with their remedy; `None`: none that matter.
fn incomplete(cell: &ProfiledCell) -> Option<String> {
    let share = cell.lost_share();
    let lost = (share > MOST_LOST).then(|| {
        format!(
            "{} % of the samples were lost; raise `kernel.perf_event_mlock_kb`, or keep the \
             machine less busy",
            percentage(share)
        )
    });
    let throttled = (cell.throttled > 0).then(|| {
        format!(
            "the kernel stopped sampling for a moment {}; raise \
             `kernel.perf_event_max_sample_rate`",
            counted(cell.throttled, "time", "times")
        )
    });
    let all: Vec<String> = lost.into_iter().chain(throttled).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The flame graph of a file of folded stacks.
fn graph(folded: &str) -> String {
    format!("{PROFILES}/{}.svg", folded.strip_suffix(".folded").unwrap_or(folded))
}

fn difference_of(
    profiles: &Profiles,
    base: &ProfiledCell,
    cell: &ProfiledCell,
) -> Option<ProfileDifference> {
    let stacks = [folded(profiles, base)?, folded(profiles, cell)?];
    let units = [unit(base), unit(cell)];
    let unit = if units[0] == units[1] { units[0].clone() } else { ProfileUnit::Share };
    let side = |cell: &'_ ProfiledCell, folded| ProfileSide {
        label: "",
        folded,
        of_sample: of_sample(cell, folded, &unit),
    };
    let [mut from, mut to] = [side(base, stacks[0]), side(cell, stacks[1])];
    (from.label, to.label) = (&base.path, &cell.path);
    let mut difference = difference(from, to);
    for frame in &mut difference.grew {
        // What grew is in this profile. In the other one, the name may be of another library.
        frame.library = cell.libraries.get(&frame.frame).cloned();
    }
    let name = format!("{}-vs-{}.{}", cell.path, base.path, cell.workload);
    Some(ProfileDifference {
        workload: cell.workload.clone(),
        point: cell.point.clone(),
        graph: format!("{PROFILES}/{}.svg", printable::file_name(&name)),
        unit,
        ..difference
    })
}

/// The difference of two profiles whose samples have values in one unit. The caller fills in the
/// workload, the unit, the graph's name and the functions' libraries.
pub fn difference(base: ProfileSide<'_>, path: ProfileSide<'_>) -> ProfileDifference {
    let mut stacks: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, profile) in [base, path].into_iter().enumerate() {
        for (stack, count) in profile.folded.stacks() {
            stacks.entry(stack).or_default()[side] = count;
        }
    }
    let value =
        |counts: &[u64; 2]| [counts[0] as f64 * base.of_sample, counts[1] as f64 * path.of_sample];
    // Without what they call: of a stack the innermost frame.
    let mut own: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    for (stack, counts) in &stacks {
        let owner = stack.split(';').next().unwrap_or_default();
        let frame = stack.rsplit(';').next().unwrap_or_default();
        let known = own.entry((owner, frame)).or_default();
        (0..2).for_each(|side| known[side] += counts[side]);
    }
    let mut grew: Vec<FrameGrowth> = own
        .iter()
        .map(|((owner, frame), counts)| {
            let [base_value, path_value] = value(counts);
            // Each count scatters by its root.
            let variance = base_value * base.of_sample + path_value * path.of_sample;
            FrameGrowth {
                owner: (*owner).to_owned(),
                frame: (*frame).to_owned(),
                library: None,
                base_value,
                path_value,
                growth: path_value - base_value,
                error: 2.0 * variance.sqrt(),
            }
        })
        .filter(|frame| frame.growth > frame.error)
        .collect();
    // A function that grew by many times its scatter is the likelier cause.
    let sure = |frame: &FrameGrowth| frame.growth / frame.error;
    grew.sort_by(|a, b| sure(b).total_cmp(&sure(a)));
    grew.truncate(MOST_FRAMES);
    ProfileDifference {
        workload: String::new(),
        point: String::new(),
        base: base.label.to_owned(),
        path: path.label.to_owned(),
        graph: String::new(),
        unit: ProfileUnit::Share,
        base_value: base.folded.total() as f64 * base.of_sample,
        path_value: path.folded.total() as f64 * path.of_sample,
        not_told_apart: None,
        grew,
        stacks: stacks.iter().map(|(stack, counts)| ((*stack).to_owned(), value(counts))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{PROFILE_SCHEMA, ProfileFile, ProfiledCount};

    use super::*;

    const BASE: &str = "client;main;send_[k] 400\nclient;main;copy 100\nsoftirq;rx_[k] 500\n";
    const OVER: &str = "client;main;send_[k] 800\nclient;other;copy 200\nsoftirq;rx_[k] 1000\n\
                        softirq;rx_[k];vxlan_rcv_[k] 900\nsoftirq;rx_[k];nothing_[k] 2\n";

    fn parsed(text: &str) -> Folded {
        Folded::parse(text).unwrap()
    }

    #[test]
    fn the_difference_is_of_values_and_not_of_samples() {
        let [base, over] = [BASE, OVER].map(parsed);
        // Twice the requests in the same time: a sample is worth half.
        let sides = [(&base, 0.2), (&over, 0.1)];
        let [from, to] =
            sides.map(|(folded, of_sample)| ProfileSide { label: "x", folded, of_sample });
        let difference = difference(from, to);
        assert!((difference.base_value - 200.0).abs() < 1e-9);
        assert!((difference.path_value - 290.2).abs() < 1e-9);
        let [only] = &difference.grew[..] else { panic!("{:?}", difference.grew) };
        assert_eq!((only.owner.as_str(), only.frame.as_str()), ("softirq", "vxlan_rcv_[k]"));
        assert!((only.growth - 90.0).abs() < 1e-9, "{only:?}");
        assert!((only.error - 2.0 * (900f64).sqrt() * 0.1).abs() < 1e-9, "{only:?}");
        // A stack that only one has is there, with nothing for the other.
        let stacks: BTreeMap<_, _> = difference.stacks.into_iter().collect();
        assert_eq!(stacks["client;main;copy"][1], 0.0);
        assert_eq!(stacks["client;other;copy"], [0.0, 20.0]);
        assert_eq!(stacks.len(), 6);
    }

    #[test]
    fn only_the_frames_that_grew_surest_are_named() {
        let text = |grown: u64| -> String {
            (1..=9u64).map(|n| format!("client;f{n} {}\n", 10_000 + n * grown)).collect()
        };
        let [base, over] = [0, 1000].map(|grown| parsed(&text(grown)));
        let [from, to] =
            [&base, &over].map(|folded| ProfileSide { label: "", folded, of_sample: 1.0 });
        let names: Vec<String> =
            difference(from, to).grew.into_iter().map(|frame| frame.frame).collect();
        assert_eq!(names, ["f9", "f8", "f7", "f6", "f5"]);
        // A function that is new grew surer than one that has always scattered.
        let [base, over] = ["client;old 10000\n", "client;old 10500\nclient;new 300\n"].map(parsed);
        let [noisy, new] =
            [&base, &over].map(|folded| ProfileSide { label: "", folded, of_sample: 1.0 });
        let names: Vec<String> =
            difference(noisy, new).grew.into_iter().map(|frame| frame.frame).collect();
        assert_eq!(names, ["new", "old"]);
        let same = difference(from, from);
        assert!(same.grew.is_empty(), "nothing grew: {:?}", same.grew);
    }

    /// All others are compared with `base`.
    fn against(name: &str) -> Option<&'static str> {
        (name != "base").then_some("base")
    }

    fn cell(path: &str, workload: &str, requests: Option<f64>) -> ProfiledCell {
        ProfiledCell {
            path: path.to_owned(),
            workload: workload.to_owned(),
            point: String::new(),
            folded: Some(format!("{path}.{workload}.folded")),
            problem: None,
            samples_per_cpu_s: 1000,
            window_s: 2.0,
            samples: 0,
            other_samples: 0,
            idle_samples: 0,
            lost_samples: 0,
            throttled: 0,
            libraries: [("copy".to_owned(), "libc.so.6".to_owned())].into(),
            count: requests.map(|number| ProfiledCount { unit: "request".to_owned(), number }),
        }
    }

    fn profiles(cells: Vec<ProfiledCell>) -> Profiles {
        let stacks = |cell: &ProfiledCell| {
            let text = if cell.path == "base" { BASE } else { OVER };
            Some((cell.folded.clone()?, parsed(text)))
        };
        let folded = cells.iter().filter_map(stacks).collect();
        let (schema, run_id) = (PROFILE_SCHEMA.to_owned(), "r".to_owned());
        Profiles { file: ProfileFile { schema, run_id, notes: Vec::new(), cells }, folded }
    }

    #[test]
    fn paths_are_compared_with_the_baseline_for_each_request() {
        let cells = vec![
            cell("base", "web", Some(10_000.0)),
            cell("over", "web", Some(20_000.0)),
            cell("base", "bulk", None),
            cell("over", "bulk", Some(5.0)),
            cell("over", "alone", None),
        ];
        let summary = summary(&profiles(cells), against, |_| Told::Mainly);
        let [web, bulk] = &summary.differences[..] else { panic!("{:?}", summary.differences) };
        assert_eq!((web.base.as_str(), web.path.as_str()), ("base", "over"));
        assert_eq!(web.unit, ProfileUnit::CpuUsPer("request".to_owned()));
        assert_eq!(web.graph, "profile/over-vs-base.web.svg");
        // 1000 samples of 1 ms for 10 000 requests, and 2902 for 20 000.
        assert!((web.base_value - 100.0).abs() < 1e-9, "{web:?}");
        assert!((web.path_value - 145.1).abs() < 1e-9, "{web:?}");
        // One of them counted nothing: shares are left.
        assert_eq!(bulk.unit, ProfileUnit::Share);
        assert!((bulk.base_value - 1.0).abs() + (bulk.path_value - 1.0).abs() < 1e-9, "{bulk:?}");
        let first = &summary.cells[0];
        assert_eq!(first.graph.as_deref(), Some("profile/base.web.svg"));
        let owners: Vec<(&str, u64, f64)> =
            first.owners.iter().map(|o| (o.name.as_str(), o.samples, o.value)).collect();
        assert_eq!(owners, [("client", 500, 50.0), ("softirq", 500, 50.0)]);
    }

    #[test]
    fn what_is_not_told_apart_names_no_function_and_comes_last() {
        let base = |workload| cell("base", workload, Some(10_000.0));
        // 2.9 times the samples of `base`: for a request 1.45, 5.8, 0.58 and 5.8 times its CPU.
        let cells = vec![
            base("web"),
            cell("over", "web", Some(20_000.0)),
            base("bulk"),
            cell("over", "bulk", Some(5000.0)),
            base("less"),
            cell("over", "less", Some(50_000.0)),
            base("more"),
            cell("over", "more", Some(5000.0)),
        ];
        let told = |cell: &ProfiledCell| match cell.workload.as_str() {
            "bulk" => Told::Not("the same".to_owned()),
            "more" => Told::Aside,
            _ => Told::Mainly,
        };
        let summary = summary(&profiles(cells), against, told);
        let order: Vec<(&str, bool, Option<&str>)> = summary
            .differences
            .iter()
            .map(|one| (one.workload.as_str(), one.grew.is_empty(), one.not_told_apart.as_deref()))
            .collect();
        let expected = [
            ("less", false, None),
            ("web", false, None),
            ("more", false, None),
            ("bulk", true, Some("the same")),
        ];
        assert_eq!(order, expected);
        assert!(!summary.differences[3].stacks.is_empty(), "the graph has everything");
        let more = &summary.differences[2].grew;
        let library = |frame: &str| {
            let found = more.iter().find(|one| one.frame == frame).expect("a frame that grew");
            found.library.as_deref()
        };
        assert_eq!((library("copy"), library("vxlan_rcv_[k]")), (Some("libc.so.6"), None));
    }

    #[test]
    fn a_cell_without_a_profile_is_compared_with_nothing() {
        let mut broken = cell("over", "web", None);
        (broken.folded, broken.problem) = (None, Some("the agent is gone".to_owned()));
        let summary =
            summary(&profiles(vec![cell("base", "web", None), broken]), against, |_| Told::Mainly);
        assert!(summary.differences.is_empty());
        assert_eq!(summary.cells[1].problem.as_deref(), Some("the agent is gone"));
        assert_eq!(summary.cells[1].graph, None);
    }

    #[test]
    fn a_profile_with_gaps_says_so() {
        let told = |lost_samples, throttled| {
            let cell = ProfiledCell {
                samples: 500,
                other_samples: 90,
                idle_samples: 400,
                lost_samples,
                throttled,
                ..cell("base", "web", None)
            };
            summary(&profiles(vec![cell]), against, |_| Told::Mainly).cells[0].incomplete.clone()
        };
        // 10 of 1000 are the most.
        assert_eq!(told(10, 0), None);
        let lost = told(11, 0).unwrap();
        assert!(lost.starts_with("1.1 % of the samples were lost; raise `kernel."), "{lost}");
        let both = told(990, 1).unwrap();
        assert!(both.starts_with("50 % of the samples were lost; "), "{both}");
        assert!(both.contains("; the kernel stopped sampling for a moment 1 time; "), "{both}");
        assert!(
            told(0, 7).unwrap().starts_with("the kernel stopped sampling for a moment 7 times")
        );
    }
}
