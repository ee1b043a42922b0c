//! The highest rate that still passes.

use anyhow::{Result, bail};

use crate::bench::Bench;

/// The rate at which the first search starts, 1/s.
const FIRST: f64 = 30_000.0;
/// How far the first search steps, and a search that knows the last answer.
const STRIDE: f64 = 1.5;
const SHORT_STRIDE: f64 = 1.15;
/// The search ends when the rate that passes and the one that does not are this close.
const PRECISION: f64 = 1.05;
/// Rates outside are not searched, 1/s.
const RANGE: (f64, f64) = (100.0, 5_000_000.0);

/// Searches for the highest rate at which `passes` says so, starting from the last answer under
/// `key`.
///
/// # Errors
/// Those of `passes`, and when no rate passes at all, or every one.
pub(crate) fn highest(
    bench: &Bench,
    key: &'static str,
    mut passes: impl FnMut(u64) -> Result<bool>,
) -> Result<f64> {
    let (start, stride) =
        bench.remembered(key).map_or((FIRST, STRIDE), |last| (last, SHORT_STRIDE));
    // A stall of the machine must not end a search: what fails gets a second try.
    let found = between(start, stride, |per_s| Ok(passes(per_s)? || passes(per_s)?))?;
    bench.remember(key, found);
    Ok(found)
}

fn between(start: f64, stride: f64, mut passes: impl FnMut(u64) -> Result<bool>) -> Result<f64> {
    let mut passes = |rate: f64| -> Result<bool> {
        if !(RANGE.0..=RANGE.1).contains(&rate) {
            bail!(
                "no rate between {} and {} a second is the highest that passes",
                RANGE.0,
                RANGE.1
            );
        }
        passes(rate.round() as u64)
    };
    let (mut low, mut high) = (start, start);
    if passes(start)? {
        high *= stride;
        while passes(high)? {
            low = high;
            high *= stride;
        }
    } else {
        low /= stride;
        while !passes(low)? {
            high = low;
            low /= stride;
        }
    }
    while high / low > PRECISION {
        let middle = (low * high).sqrt();
        if passes(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_found_from_both_sides() {
        for limit in [400.0, 29_000.0, 31_000.0, 90_000.0, 1_000_000.0] {
            for stride in [STRIDE, SHORT_STRIDE] {
                let found = between(FIRST, stride, |rate| Ok(rate as f64 <= limit)).unwrap();
                assert!(
                    found <= limit && found * PRECISION >= limit * 0.999,
                    "{found} for {limit}"
                );
            }
        }
    }

    #[test]
    fn a_good_guess_is_cheap() {
        let mut tries = 0;
        between(90_000.0, SHORT_STRIDE, |rate| {
            tries += 1;
            Ok(rate <= 91_000)
        })
        .unwrap();
        assert!(tries <= 4, "{tries} tries");
    }

    #[test]
    fn a_search_without_an_answer_ends() {
        assert!(between(FIRST, STRIDE, |_| Ok(false)).is_err());
        assert!(between(FIRST, STRIDE, |_| Ok(true)).is_err());
    }
}
