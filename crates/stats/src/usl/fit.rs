//! The law through one throughput a level: least squares of the logarithms, with coefficients that are not negative.

use super::Usl;

/// Steps of the fit: most end after three or four.
const STEPS: usize = 12;
/// Two laws that differ by less than this share at all levels are one.
const SETTLED: f64 = 1e-10;
/// A level whose logarithm lies further off than this pulls no harder than one that lies there (Huber's function).
const PULL: f64 = 0.5;

/// The law through (concurrency, throughput).
///
/// N / X is linear in the coefficients, its logarithm is not: each step solves the linear problem whose distances are those of
/// the logarithms at the law of the step before (Gauss and Newton). The first takes distances as shares of what was seen.
pub(super) fn fit(points: &[(f64, f64)]) -> Option<Usl> {
    let seen: Vec<(f64, f64)> = points.iter().map(|(n, x)| (*n, n / x)).collect();
    let mut expected: Vec<f64> = seen.iter().map(|(_, y)| *y).collect();
    let mut out = None;
    for _ in 0..STEPS {
        let near = seen.iter().zip(&expected);
        let near: Vec<(f64, f64)> =
            near.map(|((n, y), at)| (*n, at * (1.0 + (y / at).ln().clamp(-PULL, PULL)))).collect();
        let Some(found) = not_negative(&near, &expected) else { return out };
        let law = Usl { lambda: 1.0 / found[0], sigma: found[1] / found[0], kappa: found[2] / found[0] };
        if !(law.lambda.is_finite() && law.sigma.is_finite() && law.kappa.is_finite()) {
            return out;
        }
        let now: Vec<f64> = seen.iter().map(|(n, _)| n / law.at(*n)).collect();
        let settled = now.iter().zip(&expected).all(|(now, before)| (now / before - 1.0).abs() < SETTLED);
        expected = now;
        out = Some(law);
        if settled {
            break;
        }
    }
    out
}

/// What the three coefficients multiply at a concurrency.
fn terms(n: f64) -> [f64; 3] {
    [1.0, n - 1.0, n * (n - 1.0)]
}

/// The coefficients, none below 0, with the least sum of squared distances as shares of what is expected: the best of the
/// free solutions in which some of them are 0, of which there are four.
fn not_negative(points: &[(f64, f64)], expected: &[f64]) -> Option<[f64; 3]> {
    let mut best: Option<(f64, [f64; 3])> = None;
    for used in [&[0, 1, 2][..], &[0, 1], &[0, 2], &[0]] {
        let Some(found) = least_squares(points, expected, used) else { continue };
        if found[0] <= 0.0 || found.iter().any(|coefficient| *coefficient < 0.0) {
            continue;
        }
        let distance = |((n, y), expected): (&(f64, f64), &f64)| {
            let here: f64 = terms(*n).iter().zip(found).map(|(term, coefficient)| term * coefficient).sum();
            ((y - here) / expected).powi(2)
        };
        let sum: f64 = points.iter().zip(expected).map(distance).sum();
        if best.is_none_or(|(least, _)| sum < least) {
            best = Some((sum, found));
        }
    }
    best.map(|(_, found)| found)
}

/// The normal equations for the coefficients that are used; the others are 0. `None` where they have no solution.
fn least_squares(points: &[(f64, f64)], expected: &[f64], used: &[usize]) -> Option<[f64; 3]> {
    let size = used.len();
    // Columns on a common scale, or the squares of N^2 lose the digits of the others.
    let largest = points.iter().map(|(n, _)| *n).fold(1.0, f64::max);
    let scale = terms(largest).map(|term| term.max(1.0));
    let mut rows = vec![vec![0.0; size + 1]; size];
    for ((n, y), expected) in points.iter().zip(expected) {
        let terms: Vec<f64> = used.iter().map(|at| terms(*n)[*at] / scale[*at] / expected).collect();
        for row in 0..size {
            for column in 0..size {
                rows[row][column] += terms[row] * terms[column];
            }
            rows[row][size] += terms[row] * y / expected;
        }
    }
    for column in 0..size {
        let pivot = (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column].clone();
        if head[column].abs() < 1e-14 {
            return None;
        }
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column {
                let factor = row[column] / head[column];
                row.iter_mut().zip(&head).for_each(|(value, head)| *value -= factor * head);
            }
        }
    }
    let mut out = [0.0; 3];
    for (row, at) in used.iter().enumerate() {
        out[*at] = rows[row][size] / rows[row][row] / scale[*at];
    }
    Some(out)
}
