//! Rounds that are far from the others. They are marked and never left out: a figure that hides
//! them is not the cell's.

use crate::summary::{mean, median};

/// Fewest values of which one can be far from the others.
const FEWEST: usize = 5;

/// The median distance of normal values from their median, in standard deviations.
const NORMAL_MAD: f64 = 0.6745;
/// The mean distance of normal values from their median, in standard deviations.
const NORMAL_MEAN: f64 = 0.797_885;

/// From up to how many values on a distance in standard deviations is called far. Among so many
/// normal values any is in about 5 % of cases.
const FAR: [(usize, f64); 9] = [
    (5, 7.8),
    (6, 5.5),
    (7, 5.9),
    (8, 4.9),
    (9, 5.1),
    (11, 4.6),
    (15, 4.35),
    (20, 4.15),
    (30, 3.9),
];
/// Of more values.
const FAR_OF_MANY: f64 = 3.8;

/// A value that is far from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Which of the values, from 0.
    pub at: usize,
    /// Its distance from the median in standard deviations of the others, as far as they can be
    /// known; below 0: it is lower.
    pub deviations: f64,
}

/// The values that are far from the median of all, in the order of the values.
///
/// The distance is taken in units of the median distance (B. Iglewicz and D. C. Hoaglin, "How to
/// Detect and Handle Outliers", 1993); how much is far depends on how many values there are, so
/// that in 95 % of cells with normal rounds none is marked (L. Davies and U. Gather, "The
/// Identification of Multiple Outliers", Journal of the American Statistical Association 88, 1993;
/// the limits are simulated). Where more than half of the values are equal the mean distance takes
/// the place of the median one. Give logarithms where spread grows with the level.
///
/// None with fewer than 5 values or with one that is not finite.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<Outlier> {
    let Some(middle) = median(values).filter(|_| values.len() >= FEWEST) else {
        return Vec::new();
    };
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let deviation = median(&distances)
        .map(|distance| distance / NORMAL_MAD)
        .filter(|deviation| *deviation > 0.0)
        .or_else(|| mean(&distances).map(|distance| distance / NORMAL_MEAN));
    let far =
        FAR.iter().find(|(most, _)| values.len() <= *most).map_or(FAR_OF_MANY, |(_, far)| *far);
    let deviations = |value: &f64| deviation.map(|one| (value - middle) / one);
    let one = |(at, value): (usize, &f64)| Some(Outlier { at, deviations: deviations(value)? });
    values
        .iter()
        .enumerate()
        .filter_map(one)
        .filter(|outlier| outlier.deviations.abs() > far)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Random;

    #[test]
    fn one_that_is_far_is_marked_with_its_side() {
        let found = outliers(&[10.0, 10.2, 9.9, 10.1, 5.0, 10.0]);
        assert_eq!(found.iter().map(|outlier| outlier.at).collect::<Vec<_>>(), [4]);
        // The distances are 0, 0, 0.1, 0.1, 0.2 and 5; their median is 0.1.
        assert!((found[0].deviations + 5.0 / (0.1 / 0.6745)).abs() < 1e-6, "{found:?}");
        let equal = outliers(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0]);
        assert_eq!(equal.iter().map(|outlier| outlier.at).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn few_equal_or_broken_values_have_none() {
        assert!(outliers(&[1.0, 1.0, 1.0, 99.0]).is_empty());
        assert!(outliers(&[3.0; 12]).is_empty());
        assert!(outliers(&[1.0, 1.0, f64::NAN, 1.0, 1.0, 50.0]).is_empty());
    }

    #[test]
    fn of_normal_values_some_are_marked_in_5_percent_of_cells() {
        let mut random = Random::new(12);
        // The sum of twelve uniform values has a little lighter tails than a normal one.
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        for n in [5, 6, 8, 10, 12, 15, 20, 30] {
            let marked = (0..2000)
                .filter(|_| !outliers(&(0..n).map(|_| normal()).collect::<Vec<_>>()).is_empty());
            let share = marked.count() as f64 / 2000.0;
            assert!((0.025..=0.065).contains(&share), "{n} values: {share}");
        }
    }

    proptest! {
        #[test]
        fn they_do_not_depend_on_level_or_scale(
            values in prop::collection::vec(-1e3..1e3f64, 5..30), shift in -1e3..1e3f64,
            factor in 0.1..10.0f64,
        ) {
            let moved: Vec<f64> = values.iter().map(|v| v * factor + shift).collect();
            let places = |values: &[f64]| outliers(values).iter().map(|o| o.at).collect::<Vec<_>>();
            prop_assert_eq!(places(&values), places(&moved));
            // More than half are never far from the middle.
            prop_assert!(places(&values).len() * 2 <= values.len());
        }
    }
}
