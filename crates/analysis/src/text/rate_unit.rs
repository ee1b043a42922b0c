//! A unit of throughput, where one was asked for.

/// Digits of a value by itself.
const DIGITS: i32 = 3;
/// Digits after the point, at most.
const MOST_DECIMALS: i32 = 6;

/// A unit in which throughput is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateUnit {
    /// Its name: `MB/s`.
    pub name: &'static str,
    /// One of it, bits a second.
    pub bits_per_s: f64,
}

impl RateUnit {
    /// All that there are.
    pub const ALL: &[Self] = &[
        Self { name: "Mbit/s", bits_per_s: 1e6 },
        Self { name: "Gbit/s", bits_per_s: 1e9 },
        Self { name: "MB/s", bits_per_s: 8e6 },
        Self { name: "GB/s", bits_per_s: 8e9 },
        Self { name: "MiB/s", bits_per_s: 8.0 * 1024.0 * 1024.0 },
    ];

    /// The unit of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|unit| unit.name == name)
    }

    /// Whether it is a unit of the figure of this name.
    pub fn is_of(self, figure: &str) -> bool {
        figure.ends_with("bits_per_s")
    }

    /// A throughput by itself: `1180 MB/s`.
    pub fn text(self, bits_per_s: f64) -> String {
        let value = bits_per_s / self.bits_per_s;
        format!("{value:.*} {}", decimals(value), self.name)
    }
}

/// Digits after the point with which a value has three digits that say something.
pub(super) fn decimals(value: f64) -> usize {
    if !value.is_finite() || value == 0.0 {
        return 0;
    }
    let before = value.abs().log10().floor() as i32 + 1;
    (DIGITS - before).clamp(0, MOST_DECIMALS) as usize
}

#[cfg(test)]
mod tests {
    use super::RateUnit;

    #[test]
    fn a_throughput_is_told_in_the_unit_that_was_asked_for() {
        let told = |unit: &str, bits_per_s: f64| RateUnit::named(unit).unwrap().text(bits_per_s);
        assert_eq!(told("MB/s", 9.44e9), "1180 MB/s");
        assert_eq!(told("GB/s", 9.04e6), "0.00113 GB/s");
        assert_eq!(told("Mbit/s", 62.04e6), "62.0 Mbit/s");
        assert_eq!(told("MiB/s", 8.0 * 1024.0 * 1024.0), "1.00 MiB/s");
        assert_eq!(told("Gbit/s", 0.0), "0 Gbit/s");
        assert!(RateUnit::named("mbit/s").is_none());
    }
}
