//! The coverage of intervals after stopping as soon as they are narrow.

use hopbench_stats::{Look, Random, Stop, rounds_interval};

use super::noise::{Noise, heavy, normal};
use super::tell;

/// Widths asked for, as parts of the noise: from one that stops at once to one that never does.
const NOISE_IN_WIDTHS: [f64; 9] = [0.05, 0.3, 0.6, 1.0, 1.4, 1.8, 2.5, 4.0, 20.0];

#[derive(Debug, Clone, Copy)]
enum Kind {
    Normal,
    Heavy,
    Slow,
    /// Exponential: the worst that was found, and said so.
    Skewed,
}

fn deviation(kind: Kind, random: &mut Random) -> f64 {
    match kind {
        Kind::Normal => normal(random),
        Kind::Heavy => heavy(random) * 1.5,
        Kind::Skewed => -random.unit().ln() - 2f64.ln(),
        // One in ten is 3 deviations off; the median moves by that.
        Kind::Slow => 0.5 * normal(random) - 0.07 + if random.unit() < 0.1 { 3.0 } else { 0.0 },
    }
}

/// Rounds until it stops.
fn run(stop: Stop, mut round: impl FnMut() -> f64) -> (Vec<f64>, Look) {
    let mut values = Vec::new();
    loop {
        values.push(round());
        let look = stop.look(&values);
        if !look.goes_on() {
            return (values, look);
        }
    }
}

#[test]
fn stopping_when_narrow_keeps_the_coverage() {
    let stop = Stop { half_width_share: 0.02, min_rounds: 3, max_rounds: 20 };
    let cells = 1500;
    let mut naive_worst = 1.0f64;
    tell(
        "| stopping at 2 %: noise | 0.1 % | 0.6 % | 1.2 % | 2 % | 2.8 % | 3.6 % | 5 % | 8 % | 40 % \
         |",
    );
    for kind in [Kind::Normal, Kind::Heavy, Kind::Slow, Kind::Skewed] {
        let mut random = Random::new(77);
        let mut line = format!("| {kind:?} |");
        for widths in NOISE_IN_WIDTHS {
            let (mut held, mut naive, mut rounds) = (0, 0, 0);
            for _ in 0..cells {
                let (values, look) = run(stop, || {
                    100.0 * (stop.half_width_share * widths * deviation(kind, &mut random)).exp()
                });
                held += usize::from(look.interval.is_some_and(|interval| interval.contains(100.0)));
                naive += usize::from(
                    rounds_interval(&values, 0.95).is_some_and(|plain| plain.contains(100.0)),
                );
                rounds += values.len();
            }
            let share = held as f64 / f64::from(cells);
            if !matches!(kind, Kind::Skewed) {
                naive_worst = naive_worst.min(naive as f64 / f64::from(cells));
            }
            line += &format!(" {:.1} ({:.1}) |", 100.0 * share, rounds as f64 / f64::from(cells));
            let least = if matches!(kind, Kind::Skewed) { 0.90 } else { 0.925 };
            assert!((least..=0.98).contains(&share), "{kind:?}, {widths} widths: {share}");
        }
        tell(&line);
    }
    // What would be without it: otherwise these levels are not needed.
    assert!(naive_worst < 0.925, "{naive_worst}");
}

#[test]
fn a_cell_with_realistic_noise_stops_with_its_coverage() {
    for (noise, least) in
        [(Noise::Window, 0.93), (Noise::HeavyRounds, 0.93), (Noise::SkewedRounds, 0.92)]
    {
        let truth = noise.truth();
        let mut random = Random::new(3);
        let stop = Stop { half_width_share: 0.03, min_rounds: 3, max_rounds: 20 };
        let cells = 1000;
        let mut held = 0;
        for _ in 0..cells {
            // All rounds that could be, of which only some are looked at.
            let all = noise.cell(20, &mut random);
            let mut next = all.iter().copied();
            let (_, look) = run(stop, || next.next().unwrap());
            held += usize::from(look.interval.is_some_and(|interval| interval.contains(truth)));
        }
        let share = f64::from(held as u32) / f64::from(cells);
        tell(&format!("| stopping at 3 %: {noise:?} | {:.1} |", 100.0 * share));
        assert!((least..=0.975).contains(&share), "{noise:?}: {share}");
    }
}
