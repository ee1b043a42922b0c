//! Figures and names in few columns.

use hopbench_analysis::Spread;
use hopbench_analysis::text::RateUnit;

use crate::number::{by_name, full_percentage, si, significant};
use crate::text::wrap::{columns, cut};

/// The longest figure, columns.
const LONGEST: usize = 16;
/// A gain from this factor on is told as a factor.
const FACTOR: f64 = 100.0;
/// A loss from this share on has one: 99.4 % and 99.9 % are not alike.
const NEARLY_ALL: f64 = 0.985;

/// A figure with its unit and three digits: `11.9 Gbit/s`, `76.1 k/s`, `62.0 us`.
pub(super) fn short(name: &str, value: f64) -> String {
    let told = if name.ends_with("bits_per_s") {
        si(value, "bit/s")
    } else if name.ends_with("packets_per_s") {
        si(value, "pkt/s")
    } else if name.ends_with("_per_s") {
        si(value, "/s").replace(" /s", "/s")
    } else {
        by_name(name, value)
    };
    // What is no figure of a network may be longer.
    cut(&told, LONGEST)
}

/// The same in the unit that was asked for, if it is of throughput.
pub(super) fn asked(unit: Option<RateUnit>, name: &str, value: f64) -> String {
    match unit.filter(|unit| unit.is_of(name)) {
        Some(unit) => cut(&unit.text(value), LONGEST),
        None => short(name, value),
    }
}

/// A ratio to the baseline as a difference: `+16 %`, `-8.2 %`, `x140`.
pub(super) fn effect(ratio: f64) -> String {
    let share = (ratio - 1.0).abs();
    let sign = if ratio < 1.0 { "-" } else { "+" };
    let told = if ratio >= 1e6 {
        format!("x{ratio:.0e}")
    } else if ratio >= FACTOR {
        format!("x{}", significant(ratio, 3, true))
    } else if ratio < 1.0 && share >= NEARLY_ALL {
        format!("{sign}{:.1} %", (share * 100.0).min(99.9))
    } else {
        format!("{sign}{} %", full_percentage(share))
    };
    cut(&told, LONGEST)
}

/// The same with how far its interval reaches from there to the farther end, rounded up:
/// `+16 ±2 %`. Where that would reach 0 although the interval does not, the two ends:
/// `+0.30..+3.4 %`. Factors have no interval.
pub(super) fn effect_within(ratio: Spread) -> String {
    let median = ratio.median;
    let ends = ratio.low.zip(ratio.high).filter(|(_, high)| median.max(*high) < FACTOR);
    let Some((low, high)) = ends else { return effect(median) };
    let change = effect(median);
    let told = change.trim_end_matches(" %");
    let decimals = told.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = 10f64.powi(decimals as i32);
    let shown = told.parse().unwrap_or((median - 1.0) * 100.0);
    let [low_percent, high_percent] = [low, high].map(|end| (end - 1.0) * 100.0);
    // What rounding left behind is not another unit.
    let farther = (high_percent - shown).max(shown - low_percent) * unit - 1e-6;
    let reach = farther.max(0.0).ceil() / unit;
    let text = match shown.abs() > reach {
        true => format!("{told} ±{reach:.decimals$} %"),
        false => {
            let [low, high] = [low, high].map(|end| effect(end).replace(" %", ""));
            format!("{low}..{high} %")
        }
    };
    if columns(&text) > LONGEST { change } else { text }
}

/// At most so many lines; the last says that there was more.
pub(super) fn shortened(mut lines: Vec<String>, most: usize, width: usize) -> Vec<String> {
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{} ...", cut(last, width - 4).trim_end_matches('~').trim_end());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        let told = [
            short("received_bits_per_s", 11.94e9),
            short("requests_per_s", 137_685.0),
            short("requests_per_s", 532.0),
            short("received_packets_per_s", 20_000.0),
            short("service_p50_ns", 62_040.0),
        ];
        assert_eq!(told, ["11.9 Gbit/s", "138 k/s", "532/s", "20.0 kpkt/s", "62.0 us"]);
    }

    #[test]
    fn a_difference_keeps_its_sign_however_large() {
        let told = [0.82, 1.16, 0.918, 2.03, 0.005, 0.000_01, 13.2, 140.0, 4e7].map(effect);
        assert_eq!(
            told,
            ["-18 %", "+16 %", "-8.2 %", "+103 %", "-99.5 %", "-99.9 %", "+1220 %", "x140", "x4e7"]
        );
    }

    #[test]
    fn an_interval_reaches_as_far_as_its_farther_end() {
        let told = |median, low, high| {
            effect_within(Spread { median, low: Some(low), high: Some(high), rounds: 9 })
        };
        assert_eq!(told(1.16, 1.141, 1.17), "+16 ±2 %");
        assert_eq!(told(0.918, 0.9, 0.93), "-8.2 ±1.8 %");
        assert_eq!(told(2.42, 2.3, 2.54), "+142 ±12 %");
        assert_eq!(told(0.005, 0.004, 0.0052), "-99.5 ±0.1 %");
        assert_eq!(told(1.006, 1.0052, 1.0081), "+0.60 ±0.21 %");
        // The median and its interval are of several methods, and these are on one side of it.
        assert_eq!(told(1.015, 1.003, 1.034), "+0.30..+3.4 %");
        assert_eq!(told(0.9, 0.81, 0.998), "-19..-0.20 %");
        assert_eq!(told(140.0, 130.0, 151.0), "x140");
        assert_eq!(told(50.0, 2.0, 140.0), "+4900 %");
        // From the number that is shown.
        assert_eq!(told(1.1549, 1.15, 1.1649), "+15 ±2 %");
        assert_eq!(told(0.5, 0.5, 0.5), "-50 ±0 %");
        let open = Spread { median: 1.16, low: None, high: None, rounds: 1 };
        assert_eq!(effect_within(open), "+16 %");
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let lines = |most| shortened(vec!["one two".to_owned(), "three".to_owned()], most, 20);
        assert_eq!((lines(2).len(), lines(1).join("")), (2, "one two ...".to_owned()));
    }
}
