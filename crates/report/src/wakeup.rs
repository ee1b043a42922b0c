//! The cost of waking up: busy-polled and blocking latency side by side, apart from the wire's.

use hopbench_analysis::{RecordedJob, spoken};
use hopbench_model::{Record, WarningKind};

use crate::number::{percent, time_ns};

/// The cost of waking up a blocked thread, from two records that differ in the engine only, in one
/// sentence.
///
/// `None` when they are not of one workload, path and point, or when either has no service times.
pub fn wakeup_cost(spin: &Record, blocking: &Record) -> Option<String> {
    let same = spin.workload == blocking.workload
        && spin.path == blocking.path
        && point(spin).eq(point(blocking));
    let (polled, blocked) = (median(spin)?, median(blocking)?);
    if !same {
        return None;
    }
    let difference = blocked - polled;
    let sides = format!("busy-polled p50 {}, blocking {}", time_ns(polled), time_ns(blocked));
    let mut out = if difference.abs() <= RESOLUTION * blocked {
        format!("{sides}: no wake-up cost that the histograms could resolve")
    } else if difference > 0.0 {
        let share = percent(difference / blocked);
        format!("{sides}: the wake-up costs {} ({share} of the blocking p50)", time_ns(difference))
    } else {
        format!(
            "{sides}: no wake-up cost seen, busy polling was {} slower; it needs a CPU for each \
             end",
            time_ns(-difference)
        )
    };
    for (record, name) in [(spin, "busy-polled"), (blocking, "blocking")] {
        if let Some(reason) = doubt(record) {
            out.push_str(&format!("; careful: {reason} in the {name} run"));
        }
    }
    Some(out)
}

/// The sentences for all pairs of busy-polled and blocking records, in the order of the busy-polled
/// ones; with the point, where there are several.
pub fn wakeup_costs(records: &[Record]) -> Vec<String> {
    let of = |engine: &'static str| {
        records.iter().filter(move |record| RecordedJob(&record.job).engine() == Some(engine))
    };
    of("spin")
        .filter_map(|spin| {
            let cost = of("threads")
                .filter(|blocking| blocking.round == spin.round)
                .find_map(|blocking| wakeup_cost(spin, blocking))?;
            let at: Vec<_> = point(spin)
                .filter_map(|(name, value)| Some(format!("{name} {}", spoken(value)?)))
                .collect();
            Some(if at.is_empty() { cost } else { format!("{}: {cost}", at.join(", ")) })
        })
        .collect()
}

/// Two histograms of three digits tell medians apart that differ by more.
const RESOLUTION: f64 = 0.002;

fn median(record: &Record) -> Option<f64> {
    record
        .latency
        .get("service_ns")
        .filter(|latency| latency.count > 0)
        .map(|latency| latency.p50 as f64)
}

/// The point without the engine, which is what differs.
fn point(record: &Record) -> impl Iterator<Item = (&String, &serde_json::Value)> {
    record.point.iter().filter(|(name, _)| *name != "engine")
}

/// Why the median of a run may not be what it says.
fn doubt(record: &Record) -> Option<String> {
    if let Some(why) = &record.incomplete {
        return Some(format!("it was cut short ({why})"));
    }
    let failed = record.metrics.get("errors").copied().unwrap_or(0.0);
    if failed > 0.0 {
        return Some(format!(
            "{} exchanges failed and are in no latency",
            crate::number::plain(failed)
        ));
    }
    let shared = record.warnings.iter().any(|warning| warning.kind == WarningKind::SharedCpu);
    shared.then(|| "both ends shared a CPU".to_owned())
}
