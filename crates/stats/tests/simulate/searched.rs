//! Searches on systems whose answer is known.

use hopbench_stats::{
    Ceiling, Highest, Judgement, Knee, Measurement, Outcome, Question, Random, Search, judge,
    paired,
};

use super::noise::{heavy, normal};
use super::tell;

/// Searches a system to the end; how many trials it took stands in the trace. A system is asked
/// with a load, and whether the trial is one of a scan.
fn run(search: &mut impl Search, mut value: impl FnMut(f64, bool) -> f64) -> Option<f64> {
    while let Some(load) = search.next_load() {
        let value = value(load, search.is_scanning());
        search.observe(load, Measurement { value, within: true });
        assert!(search.trace().len() <= 400, "it must end");
    }
    match search.outcome() {
        Outcome::Found { load, .. } => Some(load),
        _ => None,
    }
}

const LEVELS: [f64; 8] = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// Gunther's Universal Scalability Law with a throughput of 900/s at one connection: `sigma` is the
/// contention, `kappa` the coherence.
fn usl(sigma: f64, kappa: f64, n: f64) -> f64 {
    900.0 * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

/// A scaling system, and the level at which it stops growing.
type System = (&'static str, fn(f64) -> f64);

const SYSTEMS: [System; 6] = [
    ("USL, contention", |n| usl(0.03, 0.0, n)),
    ("USL, retrograde", |n| usl(0.02, 0.0005, n)),
    ("hard limit", |n| (500.0 * n).min(24_000.0)),
    ("soft limit", |n| (500.0 * n) / (1.0 + (500.0 * n / 24_000.0).powi(4)).powf(0.25)),
    ("cliff", |n| if n <= 64.0 { 400.0 * n } else { 9000.0 }),
    ("flat", |_| 5000.0),
];

/// The first level of which neither of the next two gives 5 % more.
fn knee(system: fn(f64) -> f64) -> usize {
    let more = |at: usize, next: usize| {
        LEVELS.get(next).is_some_and(|n| system(*n) > 1.05 * system(LEVELS[at]))
    };
    let mut at = 0;
    while let Some(next) = [at + 1, at + 2].into_iter().find(|next| more(at, *next)) {
        at = next;
    }
    at
}

#[test]
fn the_knee_is_found_within_one_step() {
    tell("| knee | at | noise | exact, % | within a step, % | trials |");
    for (name, system) in SYSTEMS {
        let truth = knee(system);
        for (noise, tails) in [(0.02, normal as fn(&mut Random) -> f64), (0.05, heavy)] {
            let (mut exact, mut near, mut trials) = (0, 0, 0);
            let runs = 200;
            for seed in 0..runs {
                let mut random = Random::new(seed);
                let mut search = Knee::new(&LEVELS, 0.05);
                let found = run(&mut search, |n, _| system(n) * (noise * tails(&mut random)).exp());
                // One that grows to the end has its knee at the last level, or beyond.
                let load = if search.outcome() == Outcome::AboveHighest {
                    LEVELS.last().copied()
                } else {
                    found
                };
                let at = load.and_then(|load| LEVELS.iter().position(|level| *level == load));
                exact += usize::from(at == Some(truth));
                near += usize::from(at.is_some_and(|at| at.abs_diff(truth) <= 1));
                trials += search.trace().len();
            }
            let share = |count: usize| count as f64 / runs as f64;
            tell(&format!(
                "| {name} | {} | {} % | {:.1} | {:.1} | {:.1} |",
                LEVELS[truth],
                100.0 * noise,
                100.0 * share(exact),
                100.0 * share(near),
                trials as f64 / runs as f64
            ));
            assert!(share(near) >= 0.95, "{name}, {noise}: {}", share(near));
        }
    }
}

/// The share of requests of an M/D/1 queue that wait no longer than `x` services, at a load `rho`
/// (A. K. Erlang, 1909; see L. Kleinrock, "Queueing Systems", volume 1).
fn waits_at_most(x: f64, rho: f64) -> f64 {
    let term = |i: i32| {
        let y = rho * (x - f64::from(i));
        let factorial: f64 = (1..=i).map(f64::from).product();
        (-y).powi(i) / factorial * y.exp()
    };
    (1.0 - rho) * (0..=x.floor() as i32).map(term).sum::<f64>()
}

/// The load of an M/D/1 queue at which `p` of the requests are answered within `services` service
/// times.
fn theory(services: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.01, 0.99);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if waits_at_most(services - 1.0, middle) >= p { low = middle } else { high = middle }
    }
    low
}

/// The 99th percentile of the response times of so many requests of an M/D/1 queue, in service
/// times.
fn queue(rho: f64, requests: usize, random: &mut Random) -> f64 {
    let mut wait = 0.0f64;
    let mut times: Vec<f64> = Vec::with_capacity(requests);
    for at in 0..requests + 500 {
        if at >= 500 {
            times.push(wait + 1.0);
        }
        wait = (wait + 1.0 + random.unit().ln() / rho).max(0.0);
    }
    let rank = requests * 99 / 100;
    *times.select_nth_unstable_by(rank, f64::total_cmp).1
}

#[test]
fn the_queue_of_the_test_is_erlangs() {
    // The mean wait of M/D/1 is rho / (2 (1 - rho)) services.
    for rho in [0.3, 0.7] {
        let step = 0.001;
        let mean: f64 =
            (0..20_000).map(|i| 1.0 - waits_at_most(f64::from(i) * step, rho)).sum::<f64>() * step;
        assert!((mean / (rho / (2.0 * (1.0 - rho))) - 1.0).abs() < 0.01, "{rho}: {mean}");
    }
    let mut random = Random::new(1);
    let rho = theory(8.0, 0.99);
    let found = queue(rho, 400_000, &mut random);
    assert!((found / 8.0 - 1.0).abs() < 0.03, "{found} at {rho}");
}

/// How far searches of a known load came from it.
#[derive(Default)]
struct Errors {
    searches: usize,
    near: usize,
    worst: f64,
    trials: usize,
}

impl Errors {
    /// Adds a search that found a load where `truth` is right, and is near within the share
    /// `within`.
    fn add(&mut self, found: f64, truth: f64, within: f64, search: &impl Search) {
        let error = (found / truth - 1.0).abs();
        self.searches += 1;
        self.near += usize::from(error <= within);
        self.worst = self.worst.max(error);
        self.trials += search.trace().len();
    }

    /// Tells them, and fails where fewer than this share of the searches was near.
    fn tell(&self, what: &str, least: f64) {
        let Self { searches, near, worst, trials } = *self;
        let share = |count: usize| count as f64 / searches as f64;
        tell(&format!(
            "| {what} | {:.1} | {:.1} | {:.1} |",
            100.0 * share(near),
            100.0 * worst,
            share(trials)
        ));
        assert!(share(near) >= least, "{what}: {near} of {searches}");
    }
}

/// The requests of a trial at a rate a second with a limit in ns, and of one of a scan, if there is
/// one.
type Trial = (&'static str, fn(f64, f64) -> f64, Option<fn(f64, f64) -> f64>);

/// What a trial of a search may have: as many requests each, or the windows that a budget gives. In
/// a lab those are 250 ms, or what the limit or the percentile needs: 50 samples beyond it, of
/// which ten where these take more than 2 s.
const TRIALS: [Trial; 2] = [
    ("10 000 requests", |_, _| 10_000.0, None),
    (
        "a budget's",
        |rate, limit_ns| {
            let queue_s = limit_ns / 1e9 / 0.99 / 0.02;
            (rate * queue_s.max(0.25)).max(1000.0).max(f64::min(5000.0, 2.0 * rate))
        },
        Some(|rate, limit_ns| {
            let queue_s = limit_ns / 1e9 / 0.99 / SCAN_WIDTH;
            (rate * queue_s.max(0.25)).max(f64::min(100.0, rate))
        }),
    ),
];

/// How near the loads of a scan come to the limit at its end.
const SCAN_WIDTH: f64 = 0.16;

#[test]
fn the_highest_rate_within_a_percentile_agrees_with_queueing_theory() {
    // 100 us of service, one server: 10 000 a second at most.
    tell("| slo | requests a trial | repeats | theory, /s | within 5 %, % | worst, % | trials |");
    for ((name, requests, scanned), repeats) in
        TRIALS.into_iter().flat_map(|trial| [(trial, 1), (trial, 3)])
    {
        for services in [4.0, 8.0, 12.0] {
            let (limit_ns, truth) = (services * 1e5, 10_000.0 * theory(services, 0.99));
            let mut errors = Errors::default();
            for seed in 0..100 {
                let mut random = Random::new(seed);
                let mut search = Highest::slo(limit_ns, 500.0, 64_000.0, 0.02, repeats)
                    .scanning(scanned.map(|_| SCAN_WIDTH));
                // An overloaded queue grows through the window: its percentile is large, and
                // finite.
                let found = run(&mut search, |rate, is_scan| {
                    let requests = scanned.filter(|_| is_scan).unwrap_or(requests);
                    1e5 * queue(rate / 10_000.0, requests(rate, limit_ns) as usize, &mut random)
                });
                errors.add(found.unwrap(), truth, 0.05, &search);
            }
            errors.tell(&format!("slo | {name} | {repeats} | {truth:.0}"), 0.95);
        }
    }
}

/// Three searches each of two systems that carry these rates, compared as reports do; `noise` is
/// that of a trial's percentile.
fn compared(rates: [f64; 2], noise: f64, seed: u64) -> (Judgement, usize) {
    let mut random = Random::new(seed);
    let mut searches = rates.map(|_| Highest::slo(1e6, 100.0, 100_000.0, 0.02, 3));
    for (search, most) in searches.iter_mut().zip(rates) {
        // A percentile that grows with the load: by half of the limit in the last tenth before it
        // is reached.
        run(search, |rate, _| 1e6 * (rate / most).powi(5) * (noise * normal(&mut random)).exp());
    }
    let pairs: Vec<(f64, f64)> =
        searches[1].found().iter().copied().zip(searches[0].found().iter().copied()).collect();
    let trials = searches.iter().map(|search| search.trace().len()).sum::<usize>() / 2;
    let Ok(evidence) = paired(&pairs) else {
        return (Judgement::TooFewRounds { needed: 3 }, trials);
    };
    let question = Question { evidence, minimum_effect: 0.0, noise_floor: None, resolution: 0.02 };
    (judge(&[question])[0].judgement, trials)
}

#[test]
fn loads_of_the_same_thing_searched_three_times_are_not_told_apart() {
    tell(
        "| slo, 3 repeats | noise of a trial, % | equal ones called, % | 20 % apart called, % | \
         trials |",
    );
    for noise in [0.0, 0.05, 0.1, 0.2, 0.4] {
        let runs = 400;
        let (mut wrong, mut right, mut trials) = (0, 0, 0);
        for seed in 0..runs {
            let (same, made) = compared([10_000.0, 10_000.0], noise, seed);
            let (less, _) = compared([10_000.0, 8000.0], noise, seed + runs);
            wrong += usize::from(matches!(same, Judgement::Higher | Judgement::Lower));
            right += usize::from(less == Judgement::Lower);
            trials += made;
        }
        let share = |count: usize| 100.0 * count as f64 / runs as f64;
        tell(&format!(
            "| slo | {} | {:.1} | {:.1} | {:.1} |",
            100.0 * noise,
            share(wrong),
            share(right),
            trials as f64 / runs as f64
        ));
        assert!(share(wrong) <= 6.0, "{noise}: {wrong} of {runs}");
        assert!(noise > 0.1 || share(right) >= 95.0, "{noise}: {right} of {runs}");
    }
}

#[test]
fn a_cpu_ceiling_that_is_searched_again_is_held_too() {
    for (jump, seed) in [(false, 1), (true, 2)] {
        let mut random = Random::new(seed);
        let cpu = |load: f64| {
            if jump { if load < 9000.0 { 0.3 } else { 0.9 } } else { (load / 20_000.0).min(1.0) }
        };
        let mut search = Ceiling::new(0.6, 200.0, 200_000.0, 4);
        run(&mut search, |load, _| (cpu(load) + 0.005 * normal(&mut random)).clamp(0.0, 1.0))
            .unwrap();
        assert_eq!(search.found().len(), 4);
        let truth = if jump { 9000.0 } else { 11_800.0 };
        for found in search.found() {
            assert!((found / truth - 1.0).abs() < 0.04, "{jump}: {:?}", search.found());
        }
        // Later rounds begin near the result.
        assert!(search.trace().len() < 4 * 14, "{jump}: {}", search.trace().len());
    }
}

#[test]
fn a_cpu_ceiling_is_held_within_3_points() {
    tell("| cpu | noise | within 3 points, % | above the ceiling, % | trials |");
    for noise in [0.005, 0.015] {
        let (mut held, mut above, mut trials) = (0, 0, 0);
        let runs = 300;
        for seed in 0..runs {
            let mut random = Random::new(seed);
            let idle = 0.02 + 0.1 * random.unit();
            let bend = 0.9 + 0.2 * random.unit();
            let cpu = |load: f64| (idle + 0.7 * (load / 20_000.0).powf(bend)).min(1.0);
            let ceiling = 0.6;
            let mut search = Ceiling::new(ceiling, 200.0, 200_000.0, 1);
            let found = run(&mut search, |load, _| {
                (cpu(load) + noise * normal(&mut random)).clamp(0.0, 1.0)
            })
            .unwrap();
            held += usize::from((cpu(found) - ceiling).abs() <= 0.03);
            above += usize::from(cpu(found) > ceiling);
            trials += search.trace().len();
        }
        let share = |count: usize| 100.0 * count as f64 / runs as f64;
        tell(&format!(
            "| cpu | {} points | {:.1} | {:.1} | {:.1} |",
            100.0 * noise,
            share(held),
            share(above),
            trials as f64 / runs as f64
        ));
        assert!(
            share(held) >= 97.0 && share(above) <= 15.0,
            "{noise}: {} {}",
            share(held),
            share(above)
        );
    }
}

#[test]
fn a_shaped_links_rate_is_found_within_2_percent() {
    // A token bucket and its queue take 30 ms of the rate; a trial lasts 3 s. One trial in 30 loses
    // something to neighbours.
    tell("| lossless | rounds | within 2 %, % | worst, % | trials |");
    for rounds in [1, 3] {
        let mut errors = Errors::default();
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let link = 2e8 + 7e8 * random.unit();
            let mut search = Highest::lossless(0.001, 1e7, 1e9, 0.005, rounds);
            let found = run(&mut search, |rate, _| {
                let lost = ((rate - link) * 3.0 - 0.03 * link).max(0.0) / (rate * 3.0);
                if random.unit() < 1.0 / 30.0 {
                    lost + 0.004
                } else {
                    lost + 0.0002 * random.unit()
                }
            });
            errors.add(found.unwrap(), link, 0.02, &search);
        }
        errors.tell(&format!("lossless | {rounds}"), 0.97);
    }
}
