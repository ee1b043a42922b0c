//! Profiles in words.

use std::collections::BTreeSet;

use hopbench_analysis::{
    FrameGrowth, ProfileDifference, ProfileSummary, ProfileUnit, ProfilesSummary,
};
use hopbench_model::KERNEL_MARK;

use crate::WIDTH;
use crate::number::counted;
use crate::text::wrap;

/// What a reader of growths should know.
pub(crate) const CAUTION: &str = "Each profile is one trial. Trials differ by more than these \
                                  intervals, which know the number of samples only.";
/// Pairs of paths at the end of a run: `--details` has all.
const MOST_PAIRS: usize = 3;
/// Functions of each.
const MOST_FUNCTIONS: usize = 3;

/// `web on overlay, size=64`.
pub(crate) fn title(profile: &ProfileSummary) -> String {
    named(&profile.workload, &profile.path, &profile.point)
}

fn named(workload: &str, path: &str, point: &str) -> String {
    let comma = if point.is_empty() { "" } else { ", " };
    format!("{workload} on {path}{comma}{point}")
}

/// `web on overlay against bridge: CPU 12.3 us for each request, bridge 9.87 us`.
pub(crate) fn headline(difference: &ProfileDifference) -> String {
    let ProfileDifference { base, unit, .. } = difference;
    let of_path = format!("{} against {base}", difference.path);
    let what = named(&difference.workload, &of_path, &difference.point);
    let [of_path, of_base] =
        [difference.path_value, difference.base_value].map(|all| value(all, unit));
    match unit {
        ProfileUnit::CpuUsPer(one) => {
            format!("{what}: CPU {of_path} for each {one}, {base} {of_base}")
        }
        ProfileUnit::Share => format!("{what}: shares of all samples"),
    }
}

/// A value with its unit: `1.23 us`, `4.5 %`.
pub(crate) fn value(value: f64, unit: &ProfileUnit) -> String {
    match unit {
        ProfileUnit::CpuUsPer(_) => format!("{} us", digits(value)),
        ProfileUnit::Share => format!("{} %", digits(scaled(value, unit))),
    }
}

/// A number with about three digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 || value == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A frame: `tcp_sendmsg (kernel)`.
pub(crate) fn frame(name: &str) -> String {
    match name.strip_suffix(KERNEL_MARK) {
        Some("[kernel]") => "[kernel]".to_owned(),
        Some(function) => format!("{function} (kernel)"),
        None => name.to_owned(),
    }
}

/// A function of a list: `validate_header_names (libcodec.so)`.
pub(crate) fn function(growth: &FrameGrowth) -> String {
    let name = frame(&growth.frame);
    match &growth.library {
        Some(library) => format!("{name} ({library})"),
        None => name,
    }
}

/// A frame without the mark of the kernel's: its colour says it.
pub(super) fn plain(name: &str) -> String {
    name.strip_suffix(KERNEL_MARK).unwrap_or(name).to_owned()
}

/// The ends of a growth: twice its standard error to either side.
pub(crate) fn ends(frame: &FrameGrowth, unit: &ProfileUnit) -> [String; 2] {
    let FrameGrowth { growth, error, .. } = frame;
    [growth - error, growth + error].map(|end| digits(scaled(end, unit)))
}

/// By how much a function grew, and which it is: `+1.23 us [1.13, 1.33]` and `softirq: vxlan_rcv
/// (kernel)`.
fn grown(frame: &FrameGrowth, unit: &ProfileUnit) -> [String; 2] {
    let FrameGrowth { owner, frame: name, growth, .. } = frame;
    let name = match name == owner {
        true => String::new(),
        false => format!(": {}", function(frame)),
    };
    let [low, high] = ends(frame, unit);
    [format!("+{} [{low}, {high}]", value(*growth, unit)), format!("{owner}{name}")]
}

/// The listed functions that no stack of the base has; `None`: it has all.
fn seen_only(difference: &ProfileDifference) -> Option<String> {
    let is_of_base = |name: &str| {
        let mut stacks = difference.stacks.iter().filter(|(_, values)| values[0] > 0.0);
        stacks.any(|(stack, _)| stack.split(';').any(|frame| frame == name))
    };
    let shown = difference.grew.iter().take(MOST_FUNCTIONS);
    let mut names: Vec<String> = shown
        .filter(|one| one.base_value == 0.0 && !is_of_base(&one.frame))
        .map(function)
        .collect();
    // Two proxies can have the same.
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(name.clone()));
    (!names.is_empty()).then(|| names.join(", "))
}

/// The first pair and its surest function, in one sentence; `None` where no function is named.
pub(crate) fn brief(summary: &ProfilesSummary) -> Option<String> {
    let first = summary.differences.first()?;
    let surest = grown(first.grew.first()?, &first.unit);
    Some(format!("{}; {}", headline(first), surest.join(" ")))
}

fn scaled(value: f64, unit: &ProfileUnit) -> f64 {
    if *unit == ProfileUnit::Share { value * 100.0 } else { value }
}

/// Why no function of a difference is named; `None` where some are.
pub(crate) fn nothing(difference: &ProfileDifference) -> Option<String> {
    match &difference.not_told_apart {
        _ if !difference.grew.is_empty() => None,
        None => Some("No function grew by more than the samples scatter.".to_owned()),
        Some(verdict) => Some(format!(
            "No function is listed: the rounds do not tell the two apart ({verdict})."
        )),
    }
}

/// What the paths of a run differ by most, a line each, for a terminal. `folder` is the results
/// folder as the user names it.
pub fn sentences(summary: &ProfilesSummary, folder: &str) -> Vec<String> {
    let taken = summary.cells.iter().filter(|cell| cell.graph.is_some()).count();
    let mut out = vec![format!(
        "Profiles of {}, by extra trials; flame graphs in {folder}/profile",
        counted(taken as u64, "cell", "cells")
    )];
    out.extend(summary.notes.iter().map(|note| format!("note: {note}")));
    let failed = summary.cells.iter().filter_map(|cell| Some((cell, cell.problem.as_ref()?)));
    out.extend(failed.map(|(cell, why)| format!("{}: no profile: {why}", title(cell))));
    out.extend(incomplete(summary));
    let shown = &summary.differences[..summary.differences.len().min(MOST_PAIRS)];
    for difference in shown {
        out.push(headline(difference));
        out.push(format!("  {folder}/{}", difference.graph));
        let functions = difference.grew.iter().take(MOST_FUNCTIONS);
        out.extend(
            functions.map(|frame| format!("  {}", grown(frame, &difference.unit).join("  "))),
        );
        let only = seen_only(difference);
        let only = only.map(|names| format!("seen only on {}: {names}", difference.path));
        let why = nothing(difference).or(only).unwrap_or_default();
        let why = wrap::wrap(&wrap::plain(&why), WIDTH - 2);
        out.extend(why.iter().map(|line| format!("  {line}")));
    }
    if shown.iter().any(|difference| !difference.grew.is_empty()) {
        out.push(CAUTION.to_owned());
    }
    let more = summary.differences.len() - shown.len();
    if more > 0 {
        out.push(format!("{} with --details", counted(more as u64, "more pair", "more pairs")));
    }
    out
}

/// The gaps of profiles, a sentence for each that has any.
pub(crate) fn incomplete(summary: &ProfilesSummary) -> impl Iterator<Item = String> {
    let with_gaps = summary.cells.iter().filter_map(|cell| Some((cell, cell.incomplete.as_ref()?)));
    with_gaps.map(|(cell, why)| format!("{}: {why}", title(cell)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference() -> ProfileDifference {
        let growth = |owner: &str, frame: &str, growth: f64| FrameGrowth {
            owner: owner.to_owned(),
            frame: frame.to_owned(),
            library: (frame == "copy").then(|| "libc.so.6".to_owned()),
            base_value: 1.0,
            path_value: 1.0 + growth,
            growth,
            error: 0.1,
        };
        ProfileDifference {
            workload: "web".to_owned(),
            point: "size=64".to_owned(),
            base: "bridge".to_owned(),
            path: "overlay".to_owned(),
            graph: "profile/overlay-vs-bridge.web.svg".to_owned(),
            unit: ProfileUnit::CpuUsPer("request".to_owned()),
            base_value: 9.871,
            path_value: 12.34,
            not_told_apart: None,
            grew: vec![
                growth("softirq", "vxlan_rcv_[k]", 1.234),
                growth("client", "copy", 0.3),
                growth("client", "[hopbench]", 0.2),
            ],
            stacks: Vec::new(),
        }
    }

    #[test]
    fn a_difference_says_what_grew_and_by_how_much() {
        let summary = |difference| ProfilesSummary {
            notes: vec!["the kernel forbids much".to_owned()],
            cells: Vec::new(),
            differences: vec![difference],
        };
        let told = sentences(&summary(difference()), "results/x");
        let expected = [
            "Profiles of 0 cells, by extra trials; flame graphs in results/x/profile",
            "note: the kernel forbids much",
            "web on overlay against bridge, size=64: CPU 12.3 us for each request, bridge 9.87 us",
            "  results/x/profile/overlay-vs-bridge.web.svg",
            "  +1.23 us [1.13, 1.33]  softirq: vxlan_rcv (kernel)",
            "  +0.300 us [0.200, 0.400]  client: copy (libc.so.6)",
            "  +0.200 us [0.100, 0.300]  client: [hopbench]",
            CAUTION,
        ];
        assert_eq!(told, expected);
        let mut of_new = difference();
        of_new.grew[1].base_value = 0.0;
        of_new.grew.push(FrameGrowth { owner: "server".to_owned(), ..of_new.grew[1].clone() });
        of_new.grew.swap(2, 3);
        let told = sentences(&summary(of_new.clone()), "x");
        assert_eq!(told[7], "  seen only on overlay: copy (libc.so.6)");
        // There it calls others.
        of_new.stacks = vec![("server;copy;move".to_owned(), [1.0, 2.0])];
        assert_eq!(sentences(&summary(of_new), "x")[7], CAUTION);
        let expected = "web on overlay against bridge, size=64: CPU 12.3 us for each request, \
                        bridge 9.87 us; +1.23 us [1.13, 1.33] softirq: vxlan_rcv (kernel)";
        assert_eq!(brief(&summary(difference())).as_deref(), Some(expected));
        let shares = ProfileDifference {
            unit: ProfileUnit::Share,
            grew: Vec::new(),
            point: String::new(),
            ..difference()
        };
        let told = sentences(&summary(shares), "x");
        assert_eq!(
            told[2..],
            [
                "web on overlay against bridge: shares of all samples",
                "  x/profile/overlay-vs-bridge.web.svg",
                "  No function grew by more than the samples scatter.",
            ]
        );
    }

    #[test]
    fn a_screen_shows_the_first_pairs_and_no_growth_of_what_is_alike() {
        let mut many = difference();
        many.grew = vec![many.grew[0].clone(); MOST_FUNCTIONS + 2];
        let alike = ProfileDifference {
            grew: Vec::new(),
            not_told_apart: Some("not decided: -1.7 % to +8.3 %; about 6 min 31 s more".to_owned()),
            ..difference()
        };
        let differences = vec![many, alike.clone(), alike.clone(), alike.clone(), alike];
        let summary = ProfilesSummary { notes: Vec::new(), cells: Vec::new(), differences };
        let told = sentences(&summary, "x");
        let growths = told.iter().filter(|line| line.starts_with("  +")).count();
        assert_eq!(growths, MOST_FUNCTIONS, "{told:?}");
        let graphs = told.iter().filter(|line| line.ends_with(".svg")).count();
        assert_eq!(graphs, MOST_PAIRS, "{told:?}");
        let text = told.join("\n");
        let why = "  No function is listed: the rounds do not tell the two apart (not decided:\n  \
                   -1.7 % to +8.3 %; about 6 min 31 s more).\n";
        assert_eq!(text.matches(why).count(), 2, "{text}");
        assert!(text.ends_with(&format!("{CAUTION}\n2 more pairs with --details")), "{text}");
    }

    #[test]
    fn a_profile_with_gaps_is_told() {
        let cell = |incomplete: Option<&str>| ProfileSummary {
            path: "bridge".to_owned(),
            workload: "web".to_owned(),
            point: String::new(),
            graph: None,
            problem: None,
            samples: 1,
            lost_samples: 1,
            incomplete: incomplete.map(str::to_owned),
            unit: ProfileUnit::Share,
            owners: Vec::new(),
        };
        let cells = vec![cell(None), cell(Some("50 % of the samples were lost"))];
        let summary = ProfilesSummary { notes: Vec::new(), cells, differences: Vec::new() };
        let told = sentences(&summary, "x");
        assert_eq!(told[1..], ["web on bridge: 50 % of the samples were lost"]);
    }

    #[test]
    fn values_have_few_digits() {
        let us = ProfileUnit::CpuUsPer("request".to_owned());
        let told = [0.0, 0.01234, 1.234, 12.34, 1234.4].map(|number| value(number, &us));
        assert_eq!(told, ["0.00 us", "0.012 us", "1.23 us", "12.3 us", "1234 us"]);
        assert_eq!(value(0.123, &ProfileUnit::Share), "12.3 %");
        assert_eq!(
            [frame("a_[k]"), frame("b"), frame("[kernel]_[k]")],
            ["a (kernel)", "b", "[kernel]"]
        );
    }
}
