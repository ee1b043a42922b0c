//! CPU quotas as the limit of a trial: the kernel stops a control group that has used up its quota
//! until the next period begins.

use std::collections::BTreeMap;

use hopbench_model::number;

use super::evidence::{Burden, Evidence, Limit, Stopped, limit};

/// A quota that stops a process for more of the window than this is felt. What comes due meanwhile
/// waits, so that is one exchange of a hundred or more: the 99th percentile is then the quota's.
const FELT: f64 = 0.01;

/// More of a CPU limit than this is all of it: a process waits at times, too.
const USED_UP: f64 = 0.95;

/// The figure of a process that says for which share of the window quotas stopped it.
const RATIO: &str = "throttled_ratio";
/// The one that says how often.
const TIMES: &str = "throttled_times";

/// Whether a figure is of quotas. Of several processes the most of one counts: those of one group
/// are stopped together.
pub(crate) fn is_of_quota(name: &str) -> bool {
    [RATIO, TIMES].contains(&name)
}

/// Puts the time for which quotas stopped a process, as its meter counts it, as a share of the
/// `seconds` that its figures are of.
pub(crate) fn as_share(figures: &mut BTreeMap<String, f64>, seconds: f64) {
    if let Some(stopped_s) = figures.remove("throttled_s") {
        // The kernel adds up the time of each CPU that stood.
        figures.insert(RATIO.to_owned(), (stopped_s / seconds).min(1.0));
    }
}

/// The share of the window for which quotas stopped the process with these figures, if it is felt.
pub(crate) fn felt(figures: &BTreeMap<String, f64>) -> Option<f64> {
    figures.get(RATIO).copied().filter(|share| *share > FELT)
}

/// What these figures say of quotas, of which `smallest` is the smallest; `None`: there are none.
pub(crate) fn stopped(
    figures: &BTreeMap<String, f64>,
    smallest: Option<&String>,
) -> Option<Stopped> {
    Some(Stopped {
        share: *figures.get(RATIO)?,
        times: figures.get(TIMES).copied().unwrap_or(0.0),
        quota: smallest.cloned().unwrap_or_default(),
    })
}

/// The quota that stopped one of those that are `concerned` for the largest share of the window, if
/// that is felt.
pub(super) fn held(evidence: &Evidence, concerned: impl Fn(&Burden) -> bool) -> Option<Limit> {
    let all = || {
        let burdens = evidence.burdens.iter();
        burdens.filter_map(|burden| Some((burden, burden.stopped.as_ref()?)))
    };
    let (burden, worst) = all()
        .filter(|(burden, stopped)| stopped.share > FELT && concerned(burden))
        .reduce(|most, one| if one.1.share > most.1.share { one } else { most })?;
    // Ends in one group use up its quota together, and are stopped together.
    let is_same = |stopped: &Stopped| evidence.one_machine && stopped.quota == worst.quota;
    let mut together: Vec<&str> = Vec::new();
    for (burden, _) in all().filter(|(_, stopped)| !worst.quota.is_empty() && is_same(stopped)) {
        if !together.contains(&burden.who.as_str()) {
            together.push(&burden.who);
        }
    }
    let quota = if worst.quota.is_empty() { String::new() } else { format!(" of {}", worst.quota) };
    let times = number::counted(worst.times as u64, "time", "times");
    let share = number::share(worst.share);
    Some(if together.len() > 1 {
        let who = together.join(" and ");
        limit(
            "cpu_quota:shared",
            format!(
                "a CPU quota{quota} that {who} share stopped them {times}, for {share} of the \
                 window"
            ),
        )
    } else {
        limit(
            &format!("cpu_quota:{}", burden.who),
            format!("a CPU quota{quota} stopped it {times}, for {share} of the window"),
        )
    })
}

/// The CPU limit that a process used up of which nothing says how long it was stopped: it is in a
/// cgroup namespace of its own. One whose threads hardly waited is left out: a higher limit would
/// not help them.
pub(super) fn used_up(evidence: &Evidence) -> Option<Limit> {
    let hardly_waited = |burden: &Burden| {
        burden.processes.iter().any(|one| one.cores >= USED_UP * f64::from(one.threads))
    };
    let unread = evidence.burdens.iter().filter(|burden| burden.stopped.is_none());
    let (burden, most) = unread
        .filter_map(|burden| Some((burden, burden.limit?)))
        .find(|(burden, most)| burden.cores >= USED_UP * most && !hardly_waited(burden))?;
    Some(limit(
        &format!("cpu_quota:{}", burden.who),
        format!("it used {:.2} cores, and the CPU limit of its container is {most}", burden.cores),
    ))
}

#[cfg(test)]
mod tests {
    use hopbench_model::fixture::{self, record};
    use hopbench_model::{Job, Latency};
    use serde_json::json;

    use super::super::evidence::{CLIENT, SERVER, WorkingProcess};
    use super::super::tests::{end, evidence};
    use super::super::{LinkRate, limited};
    use super::*;

    const QUOTA: &str = "1.3 (cgroup /a)";

    /// An end that did little, and that quotas stopped 3 times, for this share of the window.
    fn throttled(who: &str, share: f64, quota: &str) -> Burden {
        let stopped = Stopped { share, times: 3.0, quota: quota.to_owned() };
        Burden { stopped: Some(stopped), ..end(who, 0.3, None) }
    }

    fn by(evidence: &Evidence, job: &Job, metrics: &[(&str, f64)]) -> (String, String) {
        limited(job, &record(metrics), evidence)
    }

    /// The limit of a closed loop.
    fn closed(burdens: Vec<Burden>) -> (String, String) {
        let job = fixture::job("http", json!({}));
        by(&evidence(burdens), &job, &[("requests_per_s", 1000.0)])
    }

    #[test]
    fn a_process_that_its_quota_stops_fills_no_cpu_and_is_limited_all_the_same() {
        let of = |share| closed(vec![end(CLIENT, 0.3, None), throttled(SERVER, share, QUOTA)]);
        let (name, why) = of(0.38);
        assert_eq!(name, "cpu_quota:server");
        let expected = "a CPU quota of 1.3 (cgroup /a) stopped it 3 times, for 38 % of the window";
        assert_eq!(why, expected);
        assert_eq!(of(0.011).0, "cpu_quota:server");
        assert_eq!(of(0.01).0, "unknown", "a hundredth is not felt");
        // A proxy's quota has no name here.
        let (name, why) = closed(vec![end(CLIENT, 0.3, None), throttled("gateway", 0.2, "")]);
        assert_eq!(name, "cpu_quota:gateway");
        assert_eq!(why, "a CPU quota stopped it 3 times, for 20 % of the window");
    }

    #[test]
    fn it_comes_before_a_full_cpu() {
        let busy = Burden { cores: 1.0, ..throttled(CLIENT, 0.2, QUOTA) };
        assert_eq!(closed(vec![busy, end(SERVER, 1.0, None)]).0, "cpu_quota:client");
    }

    #[test]
    fn ends_of_one_group_are_stopped_together() {
        let both = |server: Burden| vec![throttled(CLIENT, 0.3, QUOTA), server];
        let (name, why) = closed(both(throttled(SERVER, 0.28, QUOTA)));
        assert_eq!(name, "cpu_quota:shared");
        let expected = "a CPU quota of 1.3 (cgroup /a) that client and server share stopped them 3 \
                        times, for 30 % of the window";
        assert_eq!(why, expected);
        // The readings of the two may lie on both sides of what is felt.
        assert_eq!(closed(both(throttled(SERVER, 0.009, QUOTA))).0, "cpu_quota:shared");
        let other = throttled(SERVER, 0.4, "1.3 (cgroup /b)");
        assert_eq!(closed(both(other.clone())).0, "cpu_quota:server", "it was stopped for longer");
        assert_eq!(closed(both(throttled(SERVER, 0.2, ""))).0, "cpu_quota:client");
        // On two machines a group of one name is two.
        let apart =
            Evidence { one_machine: false, ..evidence(both(throttled(SERVER, 0.28, QUOTA))) };
        let job = fixture::job("http", json!({}));
        assert_eq!(by(&apart, &job, &[("requests_per_s", 1000.0)]).0, "cpu_quota:client");
    }

    #[test]
    fn a_limit_that_is_used_up_is_told_where_no_quota_can_be_read() {
        let program = |workers: &[f64], limit: Option<f64>| {
            let one = |cores: &f64| WorkingProcess { cores: *cores, threads: 1, waits_per_s: None };
            let processes = workers.iter().map(one).collect();
            Burden { processes, limit, ..end(SERVER, workers.iter().sum(), None) }
        };
        let of = |program| closed(vec![end(CLIENT, 0.3, None), program]);
        let (name, why) = of(program(&[0.0, 0.48], Some(0.5)));
        assert_eq!(name, "cpu_quota:server");
        assert_eq!(why, "it used 0.48 cores, and the CPU limit of its container is 0.5");
        assert_eq!(of(program(&[0.0, 0.47], Some(0.5))).0, "unknown");
        assert_eq!(of(program(&[0.0, 0.48], None)).0, "unknown");
        // Of two servers either may be the one.
        let both = vec![program(&[0.1], Some(0.5)), program(&[0.5], Some(0.5))];
        assert_eq!(closed(both).0, "cpu_quota:server");
        // One thread cannot use more than a core, whatever the limit is.
        assert_eq!(of(program(&[0.98], Some(1.0))).0, "cpu:server");
        assert_eq!(of(program(&[0.49, 0.49], Some(1.0))).0, "cpu_quota:server");
        // What is read of a quota is better than what is said of one.
        let read = Burden { limit: Some(0.3), ..throttled(SERVER, 0.005, QUOTA) };
        assert_eq!(of(read).0, "unknown");
    }

    #[test]
    fn a_rate_that_was_kept_and_a_full_link_are_the_limit_all_the_same() {
        let job = fixture::job("http", json!({}));
        let kept = [("intended_per_s", 1000.0), ("requests_per_s", 1000.0), ("unsent", 0.0)];
        let burdens = || vec![throttled(CLIENT, 0.3, QUOTA)];
        assert_eq!(by(&evidence(burdens()), &job, &kept).0, "target_rate");
        let rate = Some(1_000_000_000);
        let link = Some(LinkRate { bits_per_s: rate, mtu_bytes: 1500, tunnel_bytes: 0, v6: false });
        let full = [("received_bits_per_s", 940e6), ("sent_bits_per_s", 1e6)];
        assert_eq!(by(&Evidence { link, ..evidence(burdens()) }, &job, &full).0, "nic");
    }

    /// The limit of an open loop whose sends were late, by these burdens.
    fn late(workload: &str, burdens: Vec<Burden>) -> String {
        let done = [("requests_per_s", 900.0), ("messages_per_s", 900.0)];
        let mut record = record(&[&[("intended_per_s", 1000.0)][..], &done].concat());
        let lateness = Latency { p99: 20_000_000, ..Latency::default() };
        record.latency.insert("lateness_ns".to_owned(), lateness);
        limited(&fixture::job(workload, json!({})), &record, &evidence(burdens)).0
    }

    #[test]
    fn a_generator_that_its_quota_stops_is_late_because_of_that() {
        assert_eq!(late("http", vec![throttled(CLIENT, 0.2, QUOTA)]), "cpu_quota:client");
        assert_eq!(late("http", vec![throttled(CLIENT, 0.005, QUOTA)]), "generator");
        assert_eq!(
            late("http", vec![throttled(SERVER, 0.2, QUOTA)]),
            "generator",
            "the client is late whatever stops the server"
        );
        assert_eq!(late("push", vec![throttled(SERVER, 0.2, QUOTA)]), "cpu_quota:server");
    }

    #[test]
    fn the_time_of_several_cpus_is_no_more_than_the_window() {
        let share = |stopped_s: f64| {
            let mut figures = BTreeMap::from([("throttled_s".to_owned(), stopped_s)]);
            as_share(&mut figures, 2.0);
            assert!(!figures.contains_key("throttled_s"), "{figures:?}");
            figures[RATIO]
        };
        assert_eq!([share(0.5), share(2.5)], [0.25, 1.0]);
        let mut none = BTreeMap::from([("cores".to_owned(), 0.5)]);
        as_share(&mut none, 2.0);
        assert_eq!((none.len(), felt(&none), stopped(&none, None).is_some()), (1, None, false));
    }
}
