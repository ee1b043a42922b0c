//! The scale of a column: one unit for all its values, so that they can be compared at a glance.

use hopbench_model::number::{TIMES, UNKNOWN, by_name};

use super::interval_text;
use super::rate_unit::{RateUnit, decimals};

/// Values of a column that differ by more than this get a unit each: in one unit the small ones
/// would be zeros.
const WIDEST: f64 = 1000.0;

/// How the values of a column are printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// In one unit: its name, what it is worth, and the decimals.
    Unit {
        /// `Gbit/s`, `us`, `%`; empty for a plain number.
        unit: String,
        /// One of it in the figure's own unit.
        factor: f64,
        /// Digits after the point.
        decimals: usize,
    },
    /// Each value with a unit of its own, by the figure's name.
    Each(&'static str),
}

impl Scale {
    /// The scale of a column of throughput in this unit, if one was asked for; of any other as
    /// ever.
    pub fn asked(
        unit: Option<RateUnit>,
        name: &'static str,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let Some(unit) = unit.filter(|unit| unit.is_of(name)) else {
            return Self::of(name, values);
        };
        let sizes: Vec<f64> = values.map(f64::abs).filter(|value| value.is_finite()).collect();
        let high = sizes.iter().copied().fold(0.0, f64::max);
        // Nobody chose the unit for the small values, which must not become zeros.
        let low = sizes.into_iter().filter(|value| *value > 0.0).fold(high, f64::min);
        let factor = unit.bits_per_s;
        let decimals = usual_decimals(name, high / factor).max(decimals(low / factor));
        Self::Unit { unit: unit.name.to_owned(), factor, decimals }
    }

    /// The scale of a column.
    pub fn of(name: &'static str, values: impl Iterator<Item = f64>) -> Self {
        let sizes: Vec<f64> =
            values.map(f64::abs).filter(|value| value.is_finite() && *value > 0.0).collect();
        let (Some(low), Some(high)) =
            (sizes.iter().copied().reduce(f64::min), sizes.iter().copied().reduce(f64::max))
        else {
            return Self::unit(name, 0.0);
        };
        // Shares of 100 % are all read in percent, however small.
        if high / low > WIDEST && !name.ends_with("_ratio") {
            Self::Each(name)
        } else {
            Self::unit(name, high)
        }
    }

    fn unit(name: &str, high: f64) -> Self {
        let (unit, factor) = unit(name, high);
        Self::Unit { unit, factor, decimals: usual_decimals(name, high / factor) }
    }

    /// The unit for the column's head; empty where each value has its own.
    pub fn head(&self) -> &str {
        match self {
            Self::Unit { unit, .. } => unit,
            Self::Each(_) => "",
        }
    }

    /// A value, without the unit that stands in the head.
    pub fn text(&self, value: f64) -> String {
        match self {
            _ if !value.is_finite() => UNKNOWN.to_owned(),
            Self::Unit { factor, decimals, .. } => {
                // -0.0 would print its sign.
                format!("{:.*}", *decimals, value / factor + 0.0)
            }
            Self::Each(name) => by_name(name, value),
        }
    }

    /// The same with a digit less: for differences, whose last digits are noise.
    pub fn coarse(self) -> Self {
        match self {
            Self::Unit { unit, factor, decimals } => {
                Self::Unit { unit, factor, decimals: decimals.saturating_sub(1) }
            }
            each => each,
        }
    }

    /// A value and the ends of its interval in one unit: `62.0 us [58.0, 66.0]`.
    pub fn with_ends(name: &'static str, value: f64, low: f64, high: f64) -> String {
        let scale = Self::of(name, std::iter::once(value)).coarse();
        let unit = scale.head();
        let ends = interval_text::of(value, low, high, |value| scale.text(value));
        format!("{} {unit} [{}]", scale.text(value), ends.join(", "))
    }

    /// One value with its unit: of throughput the one that was asked for, if there is one.
    pub fn one_asked(unit: Option<RateUnit>, name: &str, value: f64) -> String {
        match unit.filter(|unit| unit.is_of(name)) {
            Some(unit) => unit.text(value),
            None => Self::one(name, value),
        }
    }

    /// One value with its unit.
    pub fn one(name: &str, value: f64) -> String {
        by_name(name, value)
    }
}

/// Digits after the point for a column whose largest value is this.
fn usual_decimals(name: &str, high: f64) -> usize {
    let before = if high <= 0.0 { 1 } else { high.log10().floor().max(0.0) as usize + 1 };
    // Of shares, the third digit says nothing.
    let digits = if name.ends_with("_ratio") { 3usize } else { 4 };
    digits.saturating_sub(before)
}

/// The unit in which a value of this size reads best, and what it is worth.
pub fn unit(name: &str, high: f64) -> (String, f64) {
    let is = |suffix: &str| name.ends_with(suffix);
    if is("_ns") {
        let (unit, factor) =
            TIMES.iter().find(|(_, factor)| high >= *factor).unwrap_or(&TIMES[TIMES.len() - 1]);
        return ((*unit).to_owned(), *factor);
    }
    if is("_ratio") {
        return ("%".to_owned(), 0.01);
    }
    if is("_bytes") {
        let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
        let (unit, factor) = units.iter().find(|(_, factor)| high >= *factor).unwrap_or(&units[3]);
        return ((*unit).to_owned(), *factor);
    }
    let base = if is("bits_per_s") {
        "bit/s"
    } else if is("packets_per_s") {
        "pkt/s"
    } else if is("_per_s") {
        "1/s"
    } else {
        ""
    };
    // 20 000 exchanges a second are read as that, not as 20.00 k.
    let least = if base == "bit/s" { 1.0 } else { 1e2 };
    let prefixes = [("G", 1e9), ("M", 1e6), ("k", 1e3)];
    let prefix = prefixes.iter().find(|(_, factor)| high >= *factor * least);
    match prefix {
        Some((prefix, factor)) if base == "1/s" => (format!("{prefix}/s"), *factor),
        Some((prefix, factor)) => (format!("{prefix}{base}"), *factor),
        None => (base.to_owned(), 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &'static str, values: &[f64]) -> (String, Vec<String>) {
        let scale = Scale::of(name, values.iter().copied());
        (scale.head().to_owned(), values.iter().map(|value| scale.text(*value)).collect())
    }

    #[test]
    fn a_column_has_one_unit_and_one_number_of_decimals() {
        let (head, texts) = column("received_bits_per_s", &[9.412e9, 42.1e9, 8.7e8]);
        assert_eq!(
            (head.as_str(), texts),
            ("Gbit/s", vec!["9.41".to_owned(), "42.10".to_owned(), "0.87".to_owned()])
        );
        let (head, texts) = column("service_p50_ns", &[21_300.0, 987.0]);
        assert_eq!((head.as_str(), texts), ("us", vec!["21.30".to_owned(), "0.99".to_owned()]));
        let (head, texts) = column("requests_per_s", &[24_765.0, 9562.0]);
        assert_eq!((head.as_str(), texts), ("1/s", vec!["24765".to_owned(), "9562".to_owned()]));
        let (head, texts) = column("lost_ratio", &[0.0, 0.0123]);
        assert_eq!((head.as_str(), texts), ("%", vec!["0.00".to_owned(), "1.23".to_owned()]));
    }

    #[test]
    fn a_wide_column_has_a_unit_a_value() {
        let (head, texts) = column("received_bits_per_s", &[1.13e6, 42.1e9]);
        assert_eq!(
            (head.as_str(), texts),
            ("", vec!["1.130 Mbit/s".to_owned(), "42.10 Gbit/s".to_owned()])
        );
    }

    #[test]
    fn throughput_has_the_unit_that_was_asked_for_and_nothing_else_has() {
        let column = |name: &'static str, values: &[f64]| {
            let scale = Scale::asked(RateUnit::named("MB/s"), name, values.iter().copied());
            (scale.head().to_owned(), values.iter().map(|value| scale.text(*value)).collect())
        };
        let texts = |texts: [&str; 2]| texts.map(str::to_owned).to_vec();
        let of_rates = column("received_bits_per_s", &[9.412e9, 8.7e8]);
        assert_eq!(of_rates, ("MB/s".to_owned(), texts(["1176", "109"])));
        let of_wide = column("received_bits_per_s", &[9.04e6, 27.8e9]);
        assert_eq!(of_wide, ("MB/s".to_owned(), texts(["1.13", "3475.00"])));
        assert_eq!(column("received_bits_per_s", &[0.0, 0.0]).1, texts(["0.000", "0.000"]));
        let of_times = column("service_p50_ns", &[21_300.0, 987.0]);
        assert_eq!(of_times, ("us".to_owned(), texts(["21.30", "0.99"])));
    }

    #[test]
    fn nothing_and_broken_values_have_a_text() {
        assert_eq!(column("lost_ratio", &[0.0]).1, ["0.00"]);
        assert_eq!(column("lost_ratio", &[f64::NAN, -0.0]).1, ["-", "0.00"]);
    }
}
