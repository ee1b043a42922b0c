//! The caveats that every workload can need.

use hopbench_model::number;
use hopbench_model::{
    CPU_QUOTA_SETTING, EngineKind, Job, Pattern, Record, SECOND, Warning, WarningKind,
};
use hopbench_stats::drift;
use hopbench_stats::summary::median;

use crate::conduct::TrialResult;
use crate::limited::{CLIENT, SERVER, generator, late_ns, quota};

/// The latencies whose tail people read.
const MAIN: &[&str] = &["service_ns", "response_ns", "delay_ns"];

/// The setting that says how far apart the ends began, ns.
pub(crate) const START_SKEW_SETTING: &str = "start_skew_ns";
/// Ends that began further apart than this did not take part in the same window, ns.
const MOST_SKEW: u64 = 20_000_000;
/// The setting that says how far apart the ends read their CPU time and counters, ns.
pub(crate) const READINGS_SKEW_SETTING: &str = "readings_skew_ns";
/// Ends that read them further apart than this share of the window tell of different times. So do
/// ends whose clocks may differ by more.
const MOST_READINGS_SKEW: f64 = 0.05;

/// All that a reader should know before using the record's figures.
pub(crate) fn warnings(record: &Record, job: &Job, outcome: &TrialResult) -> Vec<Warning> {
    let mut out = Vec::new();
    let mut warn = |kind, detail: String, next: &str| out.push(Warning::new(kind, detail, next));
    if let Some(why) = &record.incomplete {
        warn(
            WarningKind::Incomplete,
            format!("the trial was cut short: {why}"),
            "use the figures with care, or repeat it",
        );
    }
    for limit in &outcome.limited {
        warn(WarningKind::Limited, limit.clone(), "the figures are the limit's, not the path's");
    }
    if outcome.clients.iter().chain(&outcome.servers).flatten().any(|end| end.shared) {
        warn(
            WarningKind::SharedAgent,
            "another test used an agent at the same time; CPU and memory cover both".to_owned(),
            "repeat it alone",
        );
    }
    let skew = |setting: &str| -> Option<u64> { record.settings.get(setting)?.parse().ok() };
    if let Some(skew) = skew(START_SKEW_SETTING).filter(|skew| *skew > MOST_SKEW) {
        warn(
            WarningKind::StartSkew,
            format!(
                "the ends began {} apart: not all of them took part in the whole window",
                number::brief_time_ns(skew)
            ),
            "take fewer agents on a machine, give them CPUs of their own, or a longer window",
        );
    }
    let window_ns = record.window_s * SECOND as f64;
    let most = MOST_READINGS_SKEW * window_ns;
    if let Some(skew) = skew(READINGS_SKEW_SETTING).filter(|skew| *skew as f64 > most) {
        warn(
            WarningKind::StartSkew,
            format!(
                "the ends read their CPU time and counters {} apart in a window of {}: their costs \
                 are of different times",
                number::brief_time_ns(skew),
                number::brief_time_ns(window_ns as u64)
            ),
            "take a longer window, fewer agents on a machine, or give them CPUs of their own",
        );
    }
    if outcome.clock_error_ns as f64 > most {
        warn(
            WarningKind::StartSkew,
            format!(
                "the clocks of the ends may differ by {} in a window of {}: what they count may be \
                 of different times",
                number::brief_time_ns(outcome.clock_error_ns),
                number::brief_time_ns(window_ns as u64)
            ),
            "take a longer window (--time), or run the conductor nearer to the agents",
        );
    }
    for name in ["completed_per_s", "received_bits_per_s"] {
        let rates: Vec<f64> =
            record.intervals.iter().filter_map(|i| i.get(name).copied()).collect();
        if drift(&rates).is_some_and(|drift| drift.drifted) {
            let what = moved(&rates);
            warn(
                WarningKind::NotSteady,
                format!(
                    "{} {what} from the first third of the window to the last",
                    figure(name, job)
                ),
                "a longer warm-up, or a look at what changed",
            );
            break;
        }
    }
    for (setting, value) in &record.settings {
        if let Some((asked, got)) = asked_and_got(value)
            // The kernel gives buffers twice what was asked, for its own overhead (socket(7)).
            && got < asked * if setting.ends_with("_buffer_bytes") { 2 } else { 1 }
        {
            warn(
                WarningKind::ReadBack,
                format!("{setting}: asked for {asked}, the system gave {got}"),
                "raise the system's limit (for buffers net.core.rmem_max and wmem_max)",
            );
        }
        if value.contains("refused") {
            warn(
                WarningKind::ReadBack,
                format!("{setting}: {value}"),
                "check the setting at that end",
            );
        }
    }
    // Probes have a schedule, and their figure is the round trip all the same.
    let is_probed = job.kind().pattern == Pattern::Probes;
    let main: &[&str] = if is_probed { &["service_ns"] } else { MAIN };
    if let Some((kind, latency)) = record
        .latency
        .iter()
        .find(|(kind, l)| main.contains(&kind.as_str()) && l.count > 0 && l.count < 1000)
    {
        let kind = if is_probed { "RTT" } else { kind.trim_end_matches("_ns") };
        warn(
            WarningKind::FewSamples,
            format!(
                "{kind} holds {} samples; p99.9 and beyond are its largest ones",
                latency.count
            ),
            "a longer window holds more of the tail",
        );
    }
    let stopped = stopped_by_quotas(record);
    if !stopped.is_empty() {
        warn(
            WarningKind::CpuQuota,
            stopped_text(record, &stopped),
            "raise the quota: it is the CPU limit of a container or pod, CPUQuota of a unit, or \
             cpu.max of the cgroup",
        );
    }
    if let Some(late) = late_ns(job, record, record.limited_by == "nic") {
        let is_stopped = stopped.iter().any(|(who, _)| *who == generator(job));
        warn(
            WarningKind::GeneratorLimited,
            format!(
                "1 % of the sends were more than {} late although connections were free",
                number::brief_time_ns(late)
            ),
            if is_stopped {
                "raise the CPU quota that stops the load generator, or take a lower rate"
            } else if job.burst > 1 {
                "take a smaller --burst, --pacing spin on a CPU of its own, or a lower rate"
            } else {
                "take --pacing spin on a CPU of its own, more --threads, or a lower rate"
            },
        );
    }
    if job.engine == EngineKind::Spin && outcome.shared_clock && shares_cpu(job) {
        warn(
            WarningKind::SharedCpu,
            "two polling ends may share a CPU: each waits for the other to be scheduled out"
                .to_owned(),
            "give each end CPUs of its own, like --cpu 0/1",
        );
    }
    out
}

/// The ends and proxies that CPU quotas stopped for so much of the window that it is felt.
fn stopped_by_quotas(record: &Record) -> Vec<(&str, f64)> {
    let cost = &record.cost;
    let ends = [(CLIENT, &cost.client), (SERVER, &cost.server)];
    let proxies = cost.proxies.iter().filter(|proxy| proxy.named);
    let all = ends.into_iter().chain(proxies.map(|proxy| (proxy.name.as_str(), &proxy.figures)));
    all.filter_map(|(who, figures)| Some((who, quota::felt(figures)?))).collect()
}

/// For how long CPU quotas `stopped` whom, and which these are.
fn stopped_text(record: &Record, stopped: &[(&str, f64)]) -> String {
    let whom =
        stopped.iter().map(|(who, share)| format!("the {who} for {}", number::share(*share)));
    let whom = whom.collect::<Vec<_>>().join(" and ");
    // A server's has a name of its own where it is another.
    let names = [CPU_QUOTA_SETTING.to_owned(), format!("server_{CPU_QUOTA_SETTING}")];
    let quotas: Vec<&str> =
        names.iter().filter_map(|name| record.settings.get(name).map(String::as_str)).collect();
    let which =
        if quotas.is_empty() { String::new() } else { format!(": it is {}", quotas.join(" and ")) };
    format!("a CPU quota stopped {whom} of the window{which}")
}

/// The figure that the intervals count, as reports call it.
fn figure(interval: &str, job: &Job) -> String {
    let counted = job.kind().unit.metric().strip_suffix("_per_s");
    match counted.map(|what| what.trim_start_matches("received_")) {
        Some(what) if interval == "completed_per_s" && !what.ends_with("bits") => {
            format!("{what}/s")
        }
        _ if interval == "completed_per_s" => "what was done a second".to_owned(),
        _ => "throughput".to_owned(),
    }
}

/// `rose by 20 %`, `fell by 62 %`: the median of the last third over that of the first.
fn moved(rates: &[f64]) -> String {
    let third = rates.len().div_ceil(3);
    let middle = |rates: &[f64]| median(rates).unwrap_or(0.0);
    let (first, last) = (middle(&rates[..third]), middle(&rates[rates.len() - third..]));
    match last / first {
        ratio if ratio.is_finite() && ratio >= 1.0 => {
            format!("rose by {} %", number::full_percentage(ratio - 1.0))
        }
        ratio if ratio.is_finite() => {
            format!("fell by {} %", number::full_percentage(1.0 - ratio))
        }
        _ => "rose from nothing".to_owned(),
    }
}

fn asked_and_got(value: &str) -> Option<(u64, u64)> {
    let rest = value.strip_prefix("asked ")?;
    let (asked, got) = rest.split_once(", got ")?;
    Some((asked.parse().ok()?, got.parse().ok()?))
}

fn shares_cpu(job: &Job) -> bool {
    match (&job.client_cpus, &job.server_cpus) {
        (Some(client), Some(server)) => client.0.iter().any(|cpu| server.0.contains(cpu)),
        // Unpinned threads are kept apart while there are CPUs enough.
        _ => std::thread::available_parallelism().map_or(1, usize::from) < 2 * job.threads as usize,
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::fixture;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_a_ratio_of_what_reports_show() {
        assert_eq!(moved(&[100.0, 100.0, 100.0, 110.0, 120.0, 120.0]), "rose by 20 %");
        assert_eq!(
            moved(&[1000.0, 900.0, 300.0, 200.0, 100.0, 50.0]),
            "fell by 92 %",
            "a fall is no more than all"
        );
        assert_eq!(moved(&[9.0, 9.0, 0.0, 0.0]), "fell by 100 %");
        assert_eq!(moved(&[0.0, 0.0, 9.0, 9.0]), "rose from nothing");
        let names = ["rr", "crr", "push", "udp", "stream", "ping"].map(|name| {
            let job = fixture::job(name, json!({}));
            (figure("completed_per_s", &job), figure("received_bits_per_s", &job))
        });
        let counted = names.each_ref().map(|(counted, _)| counted.as_str());
        let other = "what was done a second";
        assert_eq!(
            counted,
            ["requests/s", "connections/s", "messages/s", "packets/s", other, other]
        );
        assert!(names.iter().all(|(_, bits)| bits == "throughput"));
    }
}
