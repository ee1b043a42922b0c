//! Numbers for people: figures with units, shares, durations and counts.
//!
//! Every function takes any `f64`: a value that is not a number is `-`, an infinite one `inf` or
//! `-inf`. Prefixes are decimal (1 kB = 1000 B).

/// What is printed for a figure that is not a number.
pub const UNKNOWN: &str = "-";

/// With three significant digits and a decimal prefix: 1 234 567 is `1.23 M`. The unit follows the
/// prefix; it may be empty.
pub fn si(value: f64, unit: &str) -> String {
    scaled(value, unit, 3)
}

/// Bits a second with four significant digits: `9.412 Gbit/s`.
pub fn bit_rate(bits_per_s: f64) -> String {
    scaled(bits_per_s, "bit/s", 4)
}

/// Bytes: whole below 1000, then `17.4 kB`.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, "B", 3)
}

/// A length of time given in ns: `12.3 us`, `1.23 ms`, `90.0 s`.
pub fn time_ns(ns: f64) -> String {
    if let Some(odd) = odd(ns) {
        return odd;
    }
    let rounded = rounded(ns, 3);
    if rounded.abs() >= 1e18 {
        return format!("{:.2e} s", rounded / 1e9);
    }
    let (unit, factor) = TIMES
        .iter()
        .find(|(_, factor)| rounded.abs() >= *factor)
        .unwrap_or(&TIMES[TIMES.len() - 1]);
    let value = significant(rounded / factor, 3, *factor == 1.0);
    format!("{value} {unit}")
}

/// Something a second, without its unit: `12.35`, `1999.8`, `24765`, `1.235 M`.
pub fn per_s(rate: f64) -> String {
    match odd(rate) {
        Some(odd) => odd,
        None if rate.abs() < 99.995 => format!("{rate:.2}"),
        None if rate.abs() < 9999.95 => format!("{rate:.1}"),
        None if rate.abs() < 999_999.5 => format!("{rate:.0}"),
        None => scaled(rate, "", 4),
    }
}

/// A ratio that was measured, with three significant digits: `12.3 %`. One that is not zero never
/// prints as zero.
pub fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    match odd(percent) {
        Some(odd) => format!("{odd} %"),
        None if percent == 0.0 => "0 %".to_owned(),
        None if percent > 0.0 && percent < 0.01 => "< 0.01 %".to_owned(),
        None if percent.abs() >= 1e6 => format!("{percent:.2e} %"),
        None => format!("{} %", significant(percent, 3, false)),
    }
}

/// A difference, a width or the like in percent, with as many digits as it deserves and without the
/// unit: `18`, `-2.0`, `0.25`. Above 999 it is `> 999`: digits of so large a share mean nothing.
pub fn percentage(share: f64) -> String {
    match share * 100.0 {
        p if p.is_finite() && p >= 999.5 => "> 999".to_owned(),
        _ => full_percentage(share),
    }
}

/// The same with all its digits however large: `1220`.
pub fn full_percentage(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        size if !size.is_finite() => odd(percent).unwrap_or_default(),
        size if size > 0.0 && size < 0.005 => {
            if percent > 0.0 { "< 0.01" } else { "> -0.01" }.to_owned()
        }
        size if size < 0.995 => format!("{percent:.2}"),
        size if size < 9.95 => format!("{percent:.1}"),
        _ => format!("{percent:.0}"),
    }
}

/// A length of time as a sentence says it, given in ns: `1.6 ms`.
pub fn brief_time_ns(ns: u64) -> String {
    let ns = ns as f64;
    // From 999.5 on, three digits would be those of the next unit.
    let (value, unit) = match ns {
        ..999.5 => return format!("{ns:.0} ns"),
        ..999.5e3 => (ns / 1e3, "us"),
        ..999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    let text = format!("{value:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// A long time in its two largest units: `45 s`, `2 min 31 s`, `1 h 5 min`, `2 d 3 h`.
pub fn long_time(seconds: u64) -> String {
    let units = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)];
    let first = units.iter().position(|(_, length)| seconds >= *length).unwrap_or(units.len() - 1);
    let (unit, length) = units[first];
    let rest = units.get(first + 1).map(|(unit, small)| (unit, seconds % length / small));
    match rest.filter(|(_, count)| *count > 0) {
        Some((small, count)) => format!("{} {unit} {count} {small}", seconds / length),
        None => format!("{} {unit}", seconds / length),
    }
}

/// Something a second as a sentence says it, without its unit: `12.35`, `24765`.
pub fn brief_per_s(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.2}") } else { format!("{rate:.0}") }
}

/// Bits a second as a sentence says it: `940 Mbit/s`.
pub fn brief_bit_rate(bits_per_s: f64) -> String {
    match bits_per_s {
        ..1e3 => format!("{bits_per_s:.0} bit/s"),
        ..1e6 => format!("{} kbit/s", brief_per_s(bits_per_s / 1e3)),
        _ => format!("{} Mbit/s", brief_per_s(bits_per_s / 1e6)),
    }
}

/// CPUs by number: `CPU 0`, `CPUs 0,1`.
pub fn cpus(numbers: &[usize]) -> String {
    let list: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!("CPU{} {}", if list.len() == 1 { "" } else { "s" }, list.join(","))
}

/// A number that people chose, as they write it: `99.9`, `5`. What was written has no more digits
/// than a billionth has, and a product may.
pub fn as_written(value: f64) -> String {
    odd(value).unwrap_or_else(|| format!("{}", (value * 1e9).round() / 1e9))
}

/// A share that people chose, as they write it: `2 %`, `0.5 %`.
pub fn percent_as_written(share: f64) -> String {
    format!("{} %", as_written(share * 100.0))
}

/// A share of one CPU or the like, in whole percent: `62 %`.
pub fn share(ratio: f64) -> String {
    let percent = ratio * 100.0;
    match odd(percent) {
        Some(odd) => format!("{odd} %"),
        None if percent.abs() >= 1e6 => format!("{percent:.2e} %"),
        None => format!("{percent:.0} %"),
    }
}

/// A number without a unit: whole numbers in full, others with four significant digits.
pub fn plain(value: f64) -> String {
    match odd(value) {
        Some(odd) => odd,
        // Beyond 2^53 not every whole number is one.
        None if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 => {
            format!("{}", value as i64)
        }
        None if (0.001..1e6).contains(&value.abs()) => significant(value, 4, false),
        None => format!("{value:.3e}"),
    }
}

/// A figure by the unit in its name: `_bits_per_s`, `_per_s`, `_bytes`, `_ns`, `_s`, `_ratio`,
/// `_cores`.
pub fn by_name(name: &str, value: f64) -> String {
    let is = |suffix: &str| name.ends_with(suffix);
    if is("bits_per_s") {
        bit_rate(value)
    } else if is("bytes_per_s") {
        scaled(value, "B/s", 3)
    } else if is("_per_s") {
        format!("{}/s", per_s(value))
    } else if is("bytes") {
        bytes(value)
    } else if is("_ns") {
        time_ns(value)
    } else if is("_s") {
        time_ns(value * 1e9)
    } else if is("_ratio") {
        percent(value)
    } else if is("_cores") {
        cores(value)
    } else {
        plain(value)
    }
}

/// A ratio for people: `0.620`, `1.05`, `12.3`.
pub fn ratio(value: f64) -> String {
    // What rounds to 1 looks like it, from whichever side.
    if value < 0.9995 { format!("{value:.3}") } else { significant(value.max(1.0), 3, false) }
}

/// CPU cores, to a hundredth: `0.42`.
pub fn cores(cores: f64) -> String {
    match odd(cores) {
        Some(odd) => odd,
        None if cores.abs() >= 1e6 => format!("{cores:.2e}"),
        None => format!("{cores:.2}"),
    }
}

/// `one` of a thing, or several `many` of it: `1 thread`, `2 threads`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Units of time and their length in ns.
pub const TIMES: &[(&str, f64)] = &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];

const PREFIXES: &[(&str, f64)] =
    &[("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];

fn scaled(value: f64, unit: &str, digits: usize) -> String {
    if let Some(odd) = odd(value) {
        return odd;
    }
    let rounded = rounded(value, digits);
    if rounded.abs() >= 1e21 {
        return join(&format!("{rounded:.2e}"), "", unit);
    }
    let (prefix, factor) = PREFIXES
        .iter()
        .find(|(_, factor)| rounded.abs() >= *factor)
        .unwrap_or(&PREFIXES[PREFIXES.len() - 1]);
    join(&significant(rounded / factor, digits, *factor == 1.0), prefix, unit)
}

fn join(number: &str, prefix: &str, unit: &str) -> String {
    if prefix.is_empty() && unit.is_empty() {
        return number.to_owned();
    }
    format!("{number} {prefix}{unit}")
}

/// How a value without a scale is printed.
fn odd(value: f64) -> Option<String> {
    if value.is_nan() {
        return Some(UNKNOWN.to_owned());
    }
    value.is_infinite().then(|| if value > 0.0 { "inf" } else { "-inf" }.to_owned())
}

/// The value rounded to so many digits, so that 999.96 k is 1.00 M rather than 1000 k.
fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1))
        .parse()
        .ok()
        .filter(|rounded: &f64| rounded.is_finite())
        .unwrap_or(value)
}

/// With so many significant digits from 1 on, and as many decimals as 1 would have below; whole
/// numbers without decimals where `whole` allows it.
pub fn significant(value: f64, digits: usize, whole: bool) -> String {
    // -0.0 would print its sign.
    let value = rounded(value, digits) + 0.0;
    if whole && value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    let before = match value.abs() {
        v if v < 10.0 => 1,
        v if v < 100.0 => 2,
        v if v < 1000.0 => 3,
        _ => 4,
    };
    format!("{value:.*}", digits.saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prefixes_change_where_the_rounded_value_does() {
        for (value, expected) in [
            (0.0, "0 B"),
            (-0.0, "0 B"),
            (0.25, "0.25 B"),
            (999.0, "999 B"),
            (1000.0, "1.00 kB"),
            (17_432.0, "17.4 kB"),
            (999_499.0, "999 kB"),
            (999_999.0, "1.00 MB"),
            (-1_234_567.0, "-1.23 MB"),
            (9.9e18, "9.90 EB"),
            (1e30, "1.00e30 B"),
            (f64::NAN, "-"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(bytes(value), expected, "{value}");
        }
        assert_eq!(si(1_234_567.0, ""), "1.23 M");
        assert_eq!(si(12.0, ""), "12");
        assert_eq!(bit_rate(9.4123e9), "9.412 Gbit/s");
        assert_eq!(bit_rate(f64::MAX), "1.80e308 bit/s");
    }

    #[test]
    fn times_take_the_unit_that_reads() {
        for (ns, expected) in [
            (0.0, "0 ns"),
            (0.5, "0.50 ns"),
            (812.0, "812 ns"),
            (12_345.0, "12.3 us"),
            (999_600.0, "1.00 ms"),
            (-66_100.0, "-66.1 us"),
            (9e10, "90.0 s"),
            (8.64e13, "86400 s"),
            (1e30, "1.00e21 s"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(time_ns(ns), expected, "{ns}");
        }
    }

    #[test]
    fn rates_keep_the_digits_that_are_compared() {
        for (rate, expected) in [
            (0.0, "0.00"),
            (29.97, "29.97"),
            (99.999, "100.0"),
            (1999.84, "1999.8"),
            (9999.99, "10000"),
            (20_000.0, "20000"),
            (999_999.9, "1.000 M"),
            (1_234_567.0, "1.235 M"),
        ] {
            assert_eq!(per_s(rate), expected, "{rate}");
        }
    }

    #[test]
    fn a_small_ratio_is_not_zero() {
        for (ratio, expected) in [
            (0.0, "0 %"),
            (1e-9, "< 0.01 %"),
            (0.0012, "0.12 %"),
            (0.89, "89.0 %"),
            (1.0, "100 %"),
            (f64::NAN, "- %"),
        ] {
            assert_eq!(percent(ratio), expected, "{ratio}");
        }
    }

    #[test]
    fn a_percentage_has_the_digits_that_it_deserves() {
        for (share, expected) in [
            (0.0, "0.00"),
            (1e-6, "< 0.01"),
            (0.0012, "0.12"),
            (0.02, "2.0"),
            (0.18, "18"),
            (1.1, "110"),
            (9.994, "999"),
            (9.996, "> 999"),
            (553.39, "> 999"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(percentage(share), expected, "{share}");
        }
        assert_eq!([-0.02, -0.0025, -1e-6].map(percentage), ["-2.0", "-0.25", "> -0.01"]);
        assert_eq!(percentage(f64::INFINITY), "inf");
        let full = [0.0123, 0.0994, 0.0996, 0.18, 9.994, 12.2, f64::INFINITY].map(full_percentage);
        assert_eq!(full, ["1.2", "9.9", "10", "18", "999", "1220", "inf"]);
    }

    #[test]
    fn what_people_chose_is_written_as_they_did() {
        for (share, expected) in [
            (0.02, "2 %"),
            (0.0007, "0.07 %"),
            (0.999, "99.9 %"),
            (0.29, "29 %"),
            (1e-7, "0.00001 %"),
            (0.0, "0 %"),
        ] {
            assert_eq!(percent_as_written(share), expected);
        }
        assert_eq!((as_written(99.9), as_written(f64::NAN)), ("99.9".to_owned(), "-".to_owned()));
    }

    #[test]
    fn ratios_that_round_to_one_look_alike() {
        let texts = [0.82, 0.9994, 0.9996, 1.0, 1.004, 1.006, 12.3].map(ratio);
        assert_eq!(texts, ["0.820", "0.999", "1.00", "1.00", "1.00", "1.01", "12.3"]);
    }

    #[test]
    fn sentences_have_fewer_digits() {
        let times =
            [0, 950, 1_000, 1_600_000, 1_612_345, 25_000_000, 999_600, 450_000_000, 12_000_000_000];
        let words = times.map(brief_time_ns);
        assert_eq!(
            words,
            ["0 ns", "950 ns", "1 us", "1.6 ms", "1.61 ms", "25 ms", "1 ms", "450 ms", "12 s"]
        );
        assert_eq!(
            [500.0, 2500.0, 1.5e6, 940e6].map(brief_bit_rate),
            ["500 bit/s", "2.50 kbit/s", "1.50 Mbit/s", "940 Mbit/s"]
        );
        assert_eq!(
            [0, 45, 60, 151, 3900, 183_600].map(long_time),
            ["0 s", "45 s", "1 min", "2 min 31 s", "1 h 5 min", "2 d 3 h"]
        );
        assert_eq!([cpus(&[3]), cpus(&[0, 1])], ["CPU 3", "CPUs 0,1"]);
    }

    #[test]
    fn the_name_says_the_unit() {
        for (name, value, expected) in [
            ("sent_bits_per_s", 1e9, "1.000 Gbit/s"),
            ("pushed_bytes_per_s", 1e6, "1.00 MB/s"),
            ("frames_per_s", 12.0, "12.00/s"),
            ("left_bytes", 12.0, "12 B"),
            ("gap_ns", 1e3, "1.00 us"),
            ("user_s", 0.42, "420 ms"),
            ("loss_ratio", 0.5, "50.0 %"),
            ("client_cores", 0.421, "0.42"),
            ("retries", 7.0, "7"),
            ("score", 1.23456, "1.235"),
            ("score", 1e-9, "1.000e-9"),
        ] {
            assert_eq!(by_name(name, value), expected, "{name} {value}");
        }
    }

    proptest! {
        #[test]
        fn no_value_makes_a_long_text(value in any::<f64>()) {
            for text in [
                si(value, "x"), bit_rate(value), per_s(value), percent(value), plain(value),
                cores(value), share(value), time_ns(value),
            ] {
                prop_assert!(!text.is_empty() && text.len() <= 20, "{}", text);
            }
        }

        #[test]
        fn three_digits_are_right(value in 1.0f64..1e20) {
            let text = si(value, "x");
            let (number, unit) = text.split_once(' ').unwrap();
            let factor = PREFIXES.iter().find(|(p, _)| format!("{p}x") == unit).unwrap().1;
            let read = number.parse::<f64>().unwrap() * factor;
            prop_assert!((read / value - 1.0).abs() <= 0.0051, "{} for {}", text, value);
        }
    }
}
