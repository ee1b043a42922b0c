//! The figures of a window from the readings at its two edges.

use std::collections::BTreeMap;

use hopbench_model::{NodeCost, Reading};

/// The meter whose values have fields of their own in a [`NodeCost`].
const CPU_METER: &str = "cpu";

/// The largest CPU number that Linux can be built for; readings come from other machines.
const MAX_CPUS: usize = 8192;

/// What a meter saw between two readings: totals are subtracted and lose their `_total`, levels are
/// those of the end.
///
/// A total can be missing at the start, or be smaller at the end (an interface that was made
/// again). It has no known difference and is left out.
pub fn window(start: &Reading, end: &Reading) -> Reading {
    let mut window = Reading::new();
    for (key, &value) in end {
        let Some(name) = key.strip_suffix("_total") else {
            window.insert(key.clone(), value);
            continue;
        };
        if let Some(&before) = start.get(key).filter(|&&before| before <= value) {
            window.insert(name.to_owned(), value - before);
        }
    }
    window
}

/// The totals without a known difference, without their `_total`.
fn unknown<'a>(start: &Reading, end: &'a Reading) -> impl Iterator<Item = &'a str> {
    let is_unknown = |key: &str, value: f64| start.get(key).is_none_or(|before| *before > value);
    end.iter()
        .filter(move |(key, value)| is_unknown(key, **value))
        .filter_map(|(key, _)| key.strip_suffix("_total"))
}

/// Brings the `user_s` and `system_s` of a process, which count in ticks, in line with its `cpu_s`,
/// which is exact. They share it as the ticks do. Where no tick fell into the window, as those of
/// its whole life do, which `end` has. Without `cpu_s` or without ticks they stay as they are.
pub fn split_exactly(window: &mut Reading, end: &Reading) {
    let Some(cpu_s) = window.get("cpu_s").copied() else { return };
    let pair = |of: &Reading, names: [&str; 2]| {
        let [user, system] = names.map(|name| of.get(name).copied());
        user.zip(system).filter(|(user, system)| user + system > 0.0)
    };
    let ticks = pair(window, ["user_s", "system_s"])
        .or_else(|| pair(end, ["user_s_total", "system_s_total"]));
    if let Some((user, system)) = ticks {
        window.insert("user_s".to_owned(), cpu_s * user / (user + system));
        window.insert("system_s".to_owned(), cpu_s * system / (user + system));
    }
}

/// What a machine spent over a window of `window_s` seconds, from the readings of all its meters at
/// both edges.
///
/// Shares of one CPU are kept within 0 and 1: clock ticks are coarser than the window's edges. The
/// n-th share is CPU n's, 0 for one that was offline. If readings of the CPU meter are missing at
/// an edge, or the window is not positive, the fields of the CPU stay 0 and empty.
pub fn node_cost(
    name: &str,
    start: &BTreeMap<String, Reading>,
    end: &BTreeMap<String, Reading>,
    window_s: f64,
) -> NodeCost {
    let nothing = Reading::new();
    let mut cost = NodeCost { name: name.to_owned(), ..NodeCost::default() };
    for (meter, reading) in end {
        let before = start.get(meter).unwrap_or(&nothing);
        let mut figures = window(before, reading);
        if meter == CPU_METER {
            take_cpu(&mut cost, &mut figures, window_s);
        }
        if !figures.is_empty() {
            cost.unknown.extend(unknown(before, reading).map(|name| format!("{meter} {name}")));
            cost.meters.insert(meter.clone(), figures);
        }
    }
    cost
}

/// Moves the figures that have a field into it; what has none stays.
fn take_cpu(cost: &mut NodeCost, figures: &mut Reading, window_s: f64) {
    let usable = window_s > 0.0 && window_s.is_finite();
    figures.retain(|key, &mut value| {
        let rate = if usable { value / window_s } else { 0.0 };
        match key.as_str() {
            "busy_s" => cost.busy_cores = rate,
            "softirq_s" => cost.softirq_cores = rate,
            "steal_s" => cost.steal_cores = rate,
            "context_switches" => cost.context_switches_per_s = rate,
            _ => match per_cpu(key) {
                Some((cpu, "busy_s")) if usable => set_share(&mut cost.per_cpu_busy, cpu, rate),
                Some((cpu, "softirq_s")) if usable => {
                    set_share(&mut cost.per_cpu_softirq, cpu, rate);
                }
                Some((cpu, "steal_s")) if usable => set_share(&mut cost.per_cpu_steal, cpu, rate),
                _ => return true,
            },
        }
        false
    });
}

/// `cpu12_busy_s` is CPU 12's `busy_s`.
fn per_cpu(key: &str) -> Option<(usize, &str)> {
    let (number, value) = key.strip_prefix("cpu")?.split_once('_')?;
    let cpu = number.parse().ok().filter(|cpu| *cpu < MAX_CPUS)?;
    Some((cpu, value))
}

fn set_share(shares: &mut Vec<f64>, cpu: usize, share: f64) {
    if shares.len() <= cpu {
        shares.resize(cpu + 1, 0.0);
    }
    shares[cpu] = share.clamp(0.0, 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(values: &[(&str, f64)]) -> Reading {
        values.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect()
    }

    #[test]
    fn exact_time_is_split_as_the_ticks_are() {
        let split = |window: &[(&str, f64)]| {
            let mut window = reading(window);
            split_exactly(&mut window, &reading(&[("user_s_total", 3.0), ("system_s_total", 1.0)]));
            (window.get("user_s").copied(), window.get("system_s").copied())
        };
        let ticks = |user, system| [("cpu_s", 0.012), ("user_s", user), ("system_s", system)];
        let near = |(user, system): (Option<f64>, Option<f64>), expected: [f64; 2]| {
            let off = [user, system]
                .into_iter()
                .zip(expected)
                .map(|(got, want)| (got.unwrap() - want).abs());
            assert!(off.fold(0.0, f64::max) < 1e-12, "{user:?} {system:?}, not {expected:?}");
        };
        near(split(&ticks(0.01, 0.02)), [0.004, 0.008]);
        // A window of 50 ms mostly has no tick: the whole life says how such a process spends its
        // time.
        near(split(&ticks(0.0, 0.0)), [0.009, 0.003]);
        near(split(&[("user_s", 0.01), ("system_s", 0.0)]), [0.01, 0.0]);
        let mut never = reading(&ticks(0.0, 0.0));
        split_exactly(&mut never, &reading(&[("user_s_total", 0.0), ("system_s_total", 0.0)]));
        assert_eq!(never, reading(&ticks(0.0, 0.0)));
    }

    #[test]
    fn totals_are_subtracted_and_levels_kept() {
        let start = reading(&[
            ("rx_bytes_total", 100.0),
            ("still_total", 7.0),
            ("reset_total", 50.0),
            ("gone_total", 1.0),
            ("entries", 3.0),
        ]);
        let end = reading(&[
            ("rx_bytes_total", 250.0),
            ("still_total", 7.0),
            ("reset_total", 2.0),
            ("new_total", 9.0),
            ("entries", 5.0),
            ("new_level", 1.0),
        ]);
        let expected =
            reading(&[("rx_bytes", 150.0), ("still", 0.0), ("entries", 5.0), ("new_level", 1.0)]);
        assert_eq!(window(&start, &end), expected);
    }

    #[test]
    fn cpu_time_becomes_cores_and_shares() {
        let start = BTreeMap::from([
            (
                "cpu".to_owned(),
                reading(&[
                    ("busy_s_total", 10.0),
                    ("softirq_s_total", 1.0),
                    ("steal_s_total", 0.5),
                    ("cpu0_busy_s_total", 4.0),
                    ("cpu0_softirq_s_total", 0.0),
                    ("cpu10_busy_s_total", 6.0),
                    ("cpu10_softirq_s_total", 1.0),
                    ("cpu10_steal_s_total", 1.0),
                    ("context_switches_total", 1000.0),
                    ("processes_running", 1.0),
                ]),
            ),
            ("netdev".to_owned(), reading(&[("lo_rx_bytes_total", 10.0)])),
        ]);
        let end = BTreeMap::from([
            (
                "cpu".to_owned(),
                reading(&[
                    ("busy_s_total", 12.51),
                    ("softirq_s_total", 1.5),
                    ("steal_s_total", 0.6),
                    ("cpu0_busy_s_total", 4.5),
                    ("cpu0_softirq_s_total", 0.1),
                    ("cpu10_busy_s_total", 8.01),
                    ("cpu10_softirq_s_total", 1.4),
                    ("cpu10_steal_s_total", 1.25),
                    ("context_switches_total", 5000.0),
                    ("processes_running", 3.0),
                ]),
            ),
            (
                "netdev".to_owned(),
                reading(&[("lo_rx_bytes_total", 30.0), ("new0_rx_bytes_total", 5.0)]),
            ),
            ("memory".to_owned(), reading(&[("total_bytes", 1.0)])),
        ]);
        let cost = node_cost("a", &start, &end, 2.0);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        assert_eq!(cost.name, "a");
        near(cost.busy_cores, 1.255);
        near(cost.softirq_cores, 0.25);
        near(cost.steal_cores, 0.05);
        near(cost.context_switches_per_s, 2000.0);
        assert_eq!(cost.per_cpu_busy.len(), 11);
        near(cost.per_cpu_busy[0], 0.25);
        near(cost.per_cpu_busy[5], 0.0);
        assert_eq!(cost.per_cpu_busy[10], 1.0, "a tick too many is not more than the whole CPU");
        near(cost.per_cpu_softirq[0], 0.05);
        near(cost.per_cpu_softirq[10], 0.2);
        near(cost.per_cpu_steal[10], 0.125);
        let others = BTreeMap::from([
            ("cpu".to_owned(), reading(&[("processes_running", 3.0)])),
            ("memory".to_owned(), reading(&[("total_bytes", 1.0)])),
            ("netdev".to_owned(), reading(&[("lo_rx_bytes", 20.0)])),
        ]);
        assert_eq!(cost.meters, others);
        assert_eq!(cost.unknown, ["netdev new0_rx_bytes"]);
    }

    #[test]
    fn what_cannot_be_computed_stays_empty() {
        let end = BTreeMap::from([(
            "cpu".to_owned(),
            reading(&[("busy_s_total", 3.0), ("cpu0_busy_s_total", 3.0)]),
        )]);
        let empty = NodeCost { name: "a".to_owned(), ..NodeCost::default() };
        assert_eq!(node_cost("a", &BTreeMap::new(), &end, 1.0), empty, "no reading at the start");
        for window_s in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let cost = node_cost("a", &end, &end, window_s);
            assert_eq!((cost.busy_cores, cost.per_cpu_busy), (0.0, vec![]), "{window_s} s");
        }
    }

    #[test]
    fn a_cpu_number_beyond_reason_takes_no_memory() {
        let start =
            BTreeMap::from([("cpu".to_owned(), reading(&[("cpu4000000000_busy_s_total", 0.0)]))]);
        let end =
            BTreeMap::from([("cpu".to_owned(), reading(&[("cpu4000000000_busy_s_total", 1.0)]))]);
        assert!(node_cost("a", &start, &end, 1.0).per_cpu_busy.is_empty());
    }
}
