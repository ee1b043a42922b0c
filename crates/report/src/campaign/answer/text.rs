//! Figures and names in few columns.

use hopbench_analysis::text::RateUnit;

use crate::number::{by_name, full_percentage, si, significant};
use crate::text::wrap::cut;

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
    fn long_texts_are_cut_and_say_so() {
        let lines = |most| shortened(vec!["one two".to_owned(), "three".to_owned()], most, 20);
        assert_eq!((lines(2).len(), lines(1).join("")), (2, "one two ...".to_owned()));
    }
}
