//! The intended start times of an open loop's exchanges.

use hopbench_model::{Nanos, SECOND, Schedule};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Exp1};

/// The intended start times of one worker, in order. Times do not depend on what the answers do,
/// nor on how late a worker is: that is what makes the loop open.
#[derive(Debug)]
pub struct Arrivals {
    gaps: Gaps,
    next: Nanos,
    /// Arrivals at the same time; at least 1.
    burst: u32,
    /// Those that come after the next one, at its time.
    left: u32,
}

/// What is between the bursts of one worker. An arrival alone is a burst of one.
#[derive(Debug)]
enum Gaps {
    /// Burst `i` is at `start + offset + i * step`, from `i`, so that rounding does not add up.
    Even { origin: f64, step: f64, index: u64 },
    /// Independent exponential gaps of this mean: the superposition over workers is Poisson too.
    Exponential { mean: f64, at: f64, rng: Box<StdRng> },
}

/// One of several clients that do the same at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientNumber {
    /// From 0 on.
    pub number: u32,
    /// How many there are, at least 1.
    pub of: u32,
}

impl ClientNumber {
    /// The only client.
    pub const ALONE: Self = Self { number: 0, of: 1 };
}

/// The seed of one of many things that have a seed together. Seeds can be nested: the seed of a
/// worker in a round is not that of another worker in another round (the mixing of SplitMix64,
/// Steele, Lea and Flood 2014).
pub fn seed_of(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Arrivals {
    /// The share of worker `worker` of `workers` in `schedule`, which is that of `client` alone,
    /// from `start` on; `None` for a closed loop. They come `burst` at a time, at least 1, and the
    /// rate stays the same. Evenly spaced bursts go to the clients and their workers in turn, so
    /// that all of them together are evenly spaced.
    pub fn new(
        schedule: Schedule,
        burst: u32,
        client: ClientNumber,
        (worker, workers): (u32, u32),
        start: Nanos,
        seed: u64,
    ) -> Option<Self> {
        let rate = schedule.per_s()?;
        let burst = burst.max(1);
        let gap = SECOND as f64 / rate * f64::from(burst);
        let step = gap * f64::from(workers);
        let turn = f64::from(worker) + f64::from(client.number) / f64::from(client.of.max(1));
        let place = u64::from(client.number) << 32 | u64::from(worker);
        let gaps = match schedule {
            Schedule::Poisson(_) => Gaps::Exponential {
                mean: step,
                at: start as f64,
                rng: Box::new(StdRng::seed_from_u64(seed_of(seed, place))),
            },
            _ => Gaps::Even { origin: start as f64 + gap * turn, step, index: 0 },
        };
        let mut arrivals = Self { gaps, next: 0, burst, left: 0 };
        arrivals.advance();
        Some(arrivals)
    }

    /// The next intended time.
    #[inline]
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// How many are due at that time.
    #[inline]
    pub fn at_once(&self) -> usize {
        self.left as usize + 1
    }

    /// Goes on to the one after.
    #[inline]
    pub fn advance(&mut self) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        self.left = self.burst - 1;
        self.next = match &mut self.gaps {
            Gaps::Even { origin, step, index } => {
                let at = *origin + *step * *index as f64;
                *index += 1;
                at as Nanos
            }
            Gaps::Exponential { mean, at, rng } => {
                let gap: f64 = Exp1.sample(rng);
                *at += gap * *mean;
                *at as Nanos
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times(schedule: Schedule, worker: u32, workers: u32, until: Nanos, seed: u64) -> Vec<Nanos> {
        bursts(schedule, 1, (worker, workers), until, seed)
    }

    fn bursts(
        schedule: Schedule,
        burst: u32,
        worker: (u32, u32),
        until: Nanos,
        seed: u64,
    ) -> Vec<Nanos> {
        let alone = ClientNumber::ALONE;
        let mut arrivals = Arrivals::new(schedule, burst, alone, worker, SECOND, seed).unwrap();
        let mut out = Vec::new();
        while arrivals.next() < SECOND + until {
            out.push(arrivals.next());
            arrivals.advance();
        }
        out
    }

    #[test]
    fn even_workers_interleave_without_drift() {
        let mut all: Vec<_> =
            (0..3).flat_map(|w| times(Schedule::Rate(7000.0), w, 3, 10 * SECOND, 1)).collect();
        all.sort_unstable();
        assert_eq!(all.len(), 70_000);
        for pair in all.windows(2) {
            assert!((142_856..=142_858).contains(&(pair[1] - pair[0])), "{pair:?}");
        }
    }

    #[test]
    fn no_two_workers_of_any_rounds_and_visits_share_a_seed() {
        let mut seeds = std::collections::BTreeSet::new();
        for (round, visit) in (0..32).flat_map(|round| (0..32).map(move |visit| (round, visit))) {
            let of_visit = seed_of(seed_of(7, round), visit);
            seeds.extend((0..32).map(|worker| seed_of(of_visit, worker)));
        }
        assert_eq!(seeds.len(), 32 * 32 * 32);
    }

    #[test]
    fn the_bursts_of_workers_come_in_turn() {
        // 8000 a second, 4 at a time: a burst each 500 us, which is every other one of a worker.
        let us = |worker| {
            let all = bursts(Schedule::Rate(8000.0), 4, (worker, 2), 2_000_000, 1);
            all.into_iter().map(|at| (at - SECOND) / 1000).collect::<Vec<_>>()
        };
        assert_eq!(us(0), [0, 0, 0, 0, 1000, 1000, 1000, 1000]);
        assert_eq!(us(1), [500, 500, 500, 500, 1500, 1500, 1500, 1500]);
    }

    fn of_clients(schedule: Schedule, burst: u32, clients: u32) -> Vec<Nanos> {
        let mut all = Vec::new();
        for (number, worker) in (0..clients).flat_map(|number| [(number, 0), (number, 1)]) {
            let client = ClientNumber { number, of: clients };
            let worker = (worker, 2);
            let mut arrivals = Arrivals::new(schedule, burst, client, worker, SECOND, 1).unwrap();
            while arrivals.next() < 3 * SECOND {
                all.push(arrivals.next());
                arrivals.advance();
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn clients_do_not_send_in_step() {
        let even = of_clients(Schedule::Rate(50.0), 1, 8);
        assert_eq!(even.len(), 800);
        assert!(even.windows(2).all(|pair| (2_499_990..=2_500_010).contains(&(pair[1] - pair[0]))));
        // Of independent arrivals at 400/s, 18 % follow within 0.5 ms.
        let poisson = of_clients(Schedule::Poisson(50.0), 1, 8);
        let close = poisson.windows(2).filter(|pair| pair[1] - pair[0] < 500_000).count();
        let share = close as f64 / poisson.len() as f64;
        assert!((0.12..0.25).contains(&share), "{share}");
    }

    #[test]
    fn the_bursts_of_clients_are_evenly_spaced_at_the_same_rate() {
        // 1600 a second over 4 clients for 2 s, 16 at a time.
        let all = of_clients(Schedule::Rate(400.0), 16, 4);
        assert_eq!(all.len(), 3200);
        let bursts: Vec<_> = all.chunks(16).collect();
        assert!(bursts.iter().all(|burst| burst[0] == burst[15]));
        let gap = 9_999_990..=10_000_010;
        assert!(bursts.windows(2).all(|pair| gap.contains(&(pair[1][0] - pair[0][0]))));
    }

    /// Mean and standard deviation of the gaps between times.
    fn gaps(at: &[Nanos]) -> (f64, f64) {
        let gaps: Vec<f64> = at.windows(2).map(|p| (p[1] - p[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let var = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (mean, var.sqrt())
    }

    #[test]
    fn poisson_bursts_have_their_mean_and_variance() {
        let at = bursts(Schedule::Poisson(10_000.0), 8, (0, 1), 20 * SECOND, 7);
        assert!(at.chunks(8).all(|burst| burst.len() == 8 && burst[0] == burst[7]));
        let firsts: Vec<_> = at.chunks(8).map(|burst| burst[0]).collect();
        // Standard deviation of the count is sqrt(25 000) = 158; six of them.
        assert!((firsts.len() as i64 - 25_000).abs() < 950, "{}", firsts.len());
        let (mean, deviation) = gaps(&firsts);
        assert!(
            (deviation / mean - 1.0).abs() < 0.05,
            "an exponential's deviation equals its mean"
        );
    }

    #[test]
    fn poisson_has_its_mean_and_variance() {
        let at = times(Schedule::Poisson(10_000.0), 0, 1, 20 * SECOND, 7);
        // Standard deviation of the count is sqrt(200 000) = 447; six of them.
        assert!((at.len() as i64 - 200_000).abs() < 2_700, "{}", at.len());
        let (mean, deviation) = gaps(&at);
        assert!(
            (deviation / mean - 1.0).abs() < 0.03,
            "an exponential's deviation equals its mean"
        );
    }

    proptest! {
        #[test]
        fn intended_times_never_go_back(
            rate in 0.1f64..1e7,
            seed: u64,
            workers in 1u32..8,
            burst in 1u32..20,
            poisson: bool,
        ) {
            let schedule = if poisson { Schedule::Poisson(rate) } else { Schedule::Rate(rate) };
            let (alone, worker) = (ClientNumber::ALONE, (workers - 1, workers));
            let mut arrivals = Arrivals::new(schedule, burst, alone, worker, 5, seed).unwrap();
            let mut last = 0;
            for _ in 0..1000 {
                prop_assert!(arrivals.next() >= last);
                last = arrivals.next();
                arrivals.advance();
            }
        }
    }
}
