//! The text of figures in the sentences of a record.

/// A time with the unit that reads best: `1.6 ms`.
pub(crate) fn time(ns: u64) -> String {
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
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// A rate with as many digits as it needs.
pub(crate) fn rate(per_s: f64) -> String {
    if per_s < 100.0 { format!("{per_s:.2}") } else { format!("{per_s:.0}") }
}

/// A bit rate, bits/s.
pub(crate) fn bit_rate(bits_per_s: f64) -> String {
    match bits_per_s {
        ..1e3 => format!("{bits_per_s:.0} bit/s"),
        ..1e6 => format!("{} kbit/s", rate(bits_per_s / 1e3)),
        _ => format!("{} Mbit/s", rate(bits_per_s / 1e6)),
    }
}

/// A share in percent, as a sentence says it: `2.3 %`, `45 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// CPUs by number: `CPU 0`, `CPUs 0,1`.
pub(crate) fn cpus(numbers: &[usize]) -> String {
    let list: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!("CPU{} {}", if list.len() == 1 { "" } else { "s" }, list.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_unit_that_reads() {
        let times = [0, 950, 1_000, 1_600_000, 1_612_345, 25_000_000, 999_600, 450_000_000, 12_000_000_000];
        let words = times.map(time);
        assert_eq!(words, ["0 ns", "950 ns", "1 us", "1.6 ms", "1.61 ms", "25 ms", "1 ms", "450 ms", "12 s"]);
        assert_eq!(
            [500.0, 2500.0, 1.5e6, 940e6].map(bit_rate),
            ["500 bit/s", "2.50 kbit/s", "1.50 Mbit/s", "940 Mbit/s"]
        );
        assert_eq!([0.0123, 0.0994, 0.0996, 0.454, 1.0].map(percent), ["1.2 %", "9.9 %", "10 %", "45 %", "100 %"]);
        assert_eq!([cpus(&[3]), cpus(&[0, 1])], ["CPU 3", "CPUs 0,1"]);
    }
}
