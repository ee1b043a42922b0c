//! A point of a plan at a load that a search asks for.

use hopbench_load::workload::Workload;
use hopbench_model::{Job, Point, Rate, Schedule};
use serde_json::Value;

/// What a search varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    /// Arrivals a second over all connections of all clients.
    Rate,
    /// Connections of each client.
    Connections,
    /// Threads of each end.
    Threads,
}

impl Parameter {
    /// The name in records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Connections => "connections",
            Self::Threads => "threads",
        }
    }
}

/// One load: a value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Load {
    pub(super) parameter: Parameter,
    pub(super) value: f64,
}

/// The point with these loads in its job; the last of them is the one that is searched, and stands
/// in the point. A trial of a scan is shorter.
pub(super) fn at(
    point: &Point,
    clients: u32,
    loads: &[Load],
    step: u32,
    is_scan: bool,
) -> Result<Point, String> {
    let mut out = point.clone();
    let name = &point.job.workload;
    let workload =
        hopbench_load::workload(name).ok_or_else(|| format!("workload `{name}` is not known"))?;
    for load in loads {
        put(&mut out.job, workload, clients, *load)?;
    }
    suit_times(&mut out, loads, is_scan);
    if let Some(load) = loads.last() {
        out.point.insert(load.parameter.name().to_owned(), shown(load.value));
    }
    // What is random in one trial is not in the next. A search that saw the same arrivals again and
    // again would take their chance for the truth.
    out.job.seed = point.job.seed.wrapping_add(u64::from(step));
    let problems: Vec<_> =
        out.job.problems().into_iter().chain(workload.problems(&out.job)).collect();
    if problems.is_empty() {
        Ok(out)
    } else {
        Err(hopbench_model::Fault::from_problems(&problems).text)
    }
}

/// The times of a trial at these loads, where the search chooses them.
fn suit_times(point: &mut Point, loads: &[Load], is_scan: bool) {
    let rate = loads.iter().find(|load| load.parameter == Parameter::Rate).map(|load| load.value);
    let Some(spec) = &point.search else { return };
    let Some(window_ns) = spec.trial_window_ns(rate, is_scan) else { return };
    let suits_warmup = spec.short.is_some_and(|short| short.suits_warmup);
    let job = &mut point.job;
    let timing = &mut job.timing;
    // One that a scenario says is another one than the window.
    if timing.interval_ns == timing.window_ns {
        timing.interval_ns = window_ns;
    }
    timing.window_ns = window_ns;
    if suits_warmup {
        let first = job.first_requests_ns().min(window_ns);
        job.timing.warmup_ns = job.timing.warmup_ns.max(first);
    }
}

fn put(job: &mut Job, workload: &dyn Workload, clients: u32, load: Load) -> Result<(), String> {
    match load.parameter {
        Parameter::Connections => {
            job.connections = load.value as u32;
            workload.settle(job);
        }
        Parameter::Threads => job.threads = load.value as u32,
        Parameter::Rate => {
            let each = load.value / f64::from(clients.max(1));
            if paces_itself(job) {
                job.set_rate(Rate::Datagrams((each.round() as u64).max(1)));
                workload.settle(job);
            } else if workload.kind().is_of_exchanges() {
                job.schedule = match job.schedule {
                    Schedule::Poisson(_) => Schedule::Poisson(each),
                    Schedule::Closed | Schedule::Rate(_) => Schedule::Rate(each),
                };
            } else {
                return Err(format!(
                    "a search for a rate needs exchanges (like rr, crr, http) or udp; found {}",
                    job.workload
                ));
            }
        }
    }
    Ok(())
}

/// Whether a workload's rate stands in its parameters, in whole datagrams a second, and its
/// schedule follows from it.
fn paces_itself(job: &Job) -> bool {
    job.kind().is_one_way_udp()
}

/// The rate nearest to this one that can be asked for: whole datagrams a second of each client,
/// otherwise six digits.
pub(super) fn askable(job: &Job, clients: u32, rate: f64) -> f64 {
    if paces_itself(job) {
        let clients = f64::from(clients.max(1));
        return (rate / clients).round().max(1.0) * clients;
    }
    format!("{rate:.5e}").parse().unwrap_or(rate)
}

/// How far the rates that can be asked for are apart, where they are: one datagram a second of each
/// client.
pub(super) fn grain(job: &Job, clients: u32) -> f64 {
    if paces_itself(job) { f64::from(clients.max(1)) } else { 0.0 }
}

/// A load as it stands in a point: whole where it is.
pub(super) fn shown(value: f64) -> Value {
    if value.fract() == 0.0 && (0.0..1e15).contains(&value) {
        Value::from(value as u64)
    } else {
        Value::from(value)
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{
        RateRange, SECOND, SearchGoal, SearchSpec, ShortTrials, fixture, point_label,
    };
    use serde_json::json;

    use super::*;

    fn point(workload: &str, params: Value, schedule: Schedule) -> Point {
        let job = Job { schedule, ..fixture::job(workload, params) };
        Point { point: [("size".to_owned(), json!("1B"))].into(), ..fixture::point("w", job) }
    }

    fn rate(value: f64) -> Load {
        Load { parameter: Parameter::Rate, value }
    }

    #[test]
    fn a_rate_is_shared_by_the_clients_and_stays_what_it_was() {
        let schedule = |before, clients| {
            at(&point("rr", json!({"size": "1B"}), before), clients, &[rate(900.5)], 1, false)
        };
        let scheduled = |before, clients| schedule(before, clients).unwrap().job.schedule;
        assert_eq!(scheduled(Schedule::Closed, 1), Schedule::Rate(900.5));
        assert_eq!(scheduled(Schedule::Rate(1.0), 2), Schedule::Rate(450.25));
        assert_eq!(scheduled(Schedule::Poisson(1.0), 1), Schedule::Poisson(900.5));
        let made = schedule(Schedule::Closed, 1).unwrap();
        assert_eq!((point_label(&made.point).as_str(), made.job.seed), ("rate=900.5 size=1B", 2));
        let stream = at(&point("stream", json!({}), Schedule::Closed), 1, &[rate(5.0)], 1, false)
            .unwrap_err();
        assert!(stream.contains("found stream"), "{stream}");
    }

    #[test]
    fn a_trial_is_as_long_as_its_rate_needs_where_the_search_may_choose() {
        let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 1e6 };
        let goal =
            SearchGoal::Slo { percentile: 99.0, limit_ns: 2_000_000, rates, precision: 0.02 };
        let ms = |least_window_ns: Option<u64>, connections, per_s, suits_warmup| {
            let short = least_window_ns.map(|least_window_ns| ShortTrials {
                least_window_ns,
                suits_warmup,
                burst_ns: 0,
            });
            let mut point = point("http", json!({"url": "http://a/"}), Schedule::Closed);
            point.job.connections = connections;
            (point.job.timing.window_ns, point.job.timing.warmup_ns) = (7 * SECOND, SECOND / 100);
            let search = SearchSpec { short, ..fixture::search(goal.clone()) };
            let made =
                at(&Point { search: Some(search), ..point }, 1, &[rate(per_s)], 1, false).unwrap();
            [made.job.timing.window_ns, made.job.timing.warmup_ns].map(|ns| ns / 1_000_000)
        };
        assert_eq!(ms(None, 1, 1000.0, true), [7000, 10]);
        let short = Some(SECOND / 4);
        assert_eq!(ms(short, 1, 1000.0, true), [2000, 10]);
        assert_eq!(ms(short, 1, 1e6, true), [250, 10]);
        // Each connection carries two requests before the window.
        assert_eq!(ms(short, 64, 1000.0, true), [2000, 128]);
        assert_eq!(ms(short, 64, 1000.0, false), [2000, 10]);
    }

    #[test]
    fn datagrams_are_paced_by_their_parameters_and_the_schedule_follows() {
        let udp = |clients, value| {
            let point = point(
                "udp",
                json!({"size": "1000B", "rate": "1Mbit", "gso": 4}),
                Schedule::Rate(1.0),
            );
            at(&point, clients, &[rate(value)], 3, false).unwrap()
        };
        let made = udp(2, 9000.0);
        assert_eq!(
            (&made.job.params["rate"], made.job.schedule),
            (&json!("4500pps"), Schedule::Rate(1125.0))
        );
        assert_eq!(point_label(&made.point), "rate=9000 size=1B");
        assert_eq!(askable(&made.job, 2, 9000.9), 9000.0);
        assert_eq!(askable(&made.job, 3, 0.2), 3.0, "one a client");
        assert_eq!(askable(&fixture::job("rr", json!({})), 3, 1_131.370_849_9), 1131.37);
    }

    #[test]
    fn the_last_load_is_the_one_that_is_searched() {
        let (connections, threads) = (Parameter::Connections, Parameter::Threads);
        let loads =
            [Load { parameter: connections, value: 64.0 }, Load { parameter: threads, value: 2.0 }];
        let made =
            at(&point("rr", json!({"size": "1B"}), Schedule::Closed), 1, &loads, 1, false).unwrap();
        assert_eq!((made.job.connections, made.job.threads), (64, 2));
        assert_eq!(point_label(&made.point), "size=1B threads=2");
        let loads = [loads[1], Load { parameter: connections, value: 1.0 }];
        let wrong = at(&point("rr", json!({"size": "1B"}), Schedule::Closed), 1, &loads, 1, false)
            .unwrap_err();
        assert!(wrong.contains("at most one thread a connection"), "{wrong}");
        // A stream both ways is two flows a connection, as in a scenario.
        let both = json!({"size": "64KiB", "direction": "both", "receive": "copy"});
        let both = point("stream", both, Schedule::Closed);
        assert_eq!(at(&both, 1, &loads[1..], 1, false).unwrap().job.connections, 2);
    }
}
