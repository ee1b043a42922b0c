//! The ends of intervals as texts for people.
//!
//! With two rounds, or on a noisy machine, an end can be any number. So an end above ten times the
//! median, or below a tenth of it, is printed as just that. Programs get the numbers.

use hopbench_model::number::{percentage, ratio};

/// An end that is this many times the median, or the median that many times the end, is not told.
pub const FAR: f64 = 10.0;

/// Both ends as texts: `9.1` and `9.7`, `< 0.94` and `> 94.0` where they lie beyond what is told.
pub fn of(median: f64, low: f64, high: f64, text: impl Fn(f64) -> String) -> [String; 2] {
    within(median / FAR, median * FAR, low, high, text)
}

/// The same of a figure by its name: shares go to 100 % at most, and up to there every one means
/// something.
pub fn of_figure(
    name: &str,
    median: f64,
    low: f64,
    high: f64,
    text: impl Fn(f64) -> String,
) -> [String; 2] {
    match name.ends_with("_ratio") {
        true => within(0.0, (median * FAR).max(1.0), low, high, text),
        false => of(median, low, high, text),
    }
}

/// The same of a ratio. Whether 1 lies between its ends is always told.
pub fn of_ratio(median: f64, low: f64, high: f64) -> [String; 2] {
    within((median / FAR).min(1.0 / FAR), (median * FAR).max(FAR), low, high, ratio)
}

/// A ratio as a change: `-3.0 %`, `+18 %`, `> +999 %`.
pub fn change(ratio: f64) -> String {
    if ratio == 1.0 {
        return "0 %".to_owned();
    }
    let sign = if ratio < 1.0 { "-" } else { "+" };
    let share = percentage((ratio - 1.0).abs());
    match share.strip_prefix("> ") {
        Some(most) => format!("> {sign}{most} %"),
        None => format!("{sign}{share} %"),
    }
}

fn within(least: f64, most: f64, low: f64, high: f64, text: impl Fn(f64) -> String) -> [String; 2] {
    // Around 0 intervals are not of factors: an end at 0 or below it is a number like any other.
    let far_below = least > 0.0 && low > 0.0 && low < least;
    let far_above = most > 0.0 && high > most;
    // What is told in whole digits of the figure may have none left.
    let far_below = far_below && text(least) != text(0.0);
    [
        if far_below { format!("< {}", text(least)) } else { text(low) },
        if far_above { format!("> {}", text(most)) } else { text(high) },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_beyond_ten_times_the_median_is_not_told() {
        let ends = |median, low, high| of(median, low, high, |value| format!("{value:.1}"));
        assert_eq!(ends(94.12, 9.5, 940.0), ["9.5", "940.0"]);
        assert_eq!(ends(94.12, 1e-12, 3.8e16), ["< 9.4", "> 941.2"]);
        assert_eq!(ends(0.01, 0.0, 0.02), ["0.0", "0.0"]);
        assert_eq!(ends(0.3, 0.001, 2.1), ["0.0", "2.1"]);
        let share = |median, high| {
            of_figure("lost_ratio", median, 1e-6, high, |value| format!("{:.2}", value * 100.0))
        };
        assert_eq!(share(0.0003, 0.0042), ["0.00", "0.42"]);
        assert_eq!(share(0.0003, 1e9), ["0.00", "> 100.00"]);
        assert_eq!(ends(0.0, 0.0, 3.0), ["0.0", "3.0"]);
        assert_eq!(ends(-2.0, -50.0, 46.0), ["-50.0", "46.0"]);
    }

    #[test]
    fn whether_a_ratio_can_be_1_is_always_told() {
        assert_eq!(of_ratio(0.62, 0.58, 0.66), ["0.580", "0.660"]);
        assert_eq!(of_ratio(35.0, 1.2, 900.0), ["1.20", "> 350"]);
        assert_eq!(of_ratio(35.0, 0.5, 300.0), ["0.500", "300"]);
        assert_eq!(of_ratio(0.02, 1e-9, 3.0), ["< 0.002", "3.00"]);
        assert_eq!(of_ratio(1.1, 1e-9, 1e9), ["< 0.100", "> 11.0"]);
    }
}
