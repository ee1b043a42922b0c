//! Names of records in words for people.

use hopbench_model::RunStatus;

use super::summary::{CellSummary, Summary, WorkloadSummary};

/// What limited a trial, in words.
pub(crate) fn limit(name: &str) -> String {
    match name {
        "nic" => "the link was full".to_owned(),
        "softirq" => "packet processing (softirq) filled a CPU".to_owned(),
        "socket_buffer" => "socket buffers were too small".to_owned(),
        "retransmission" => "losses: bytes were sent again".to_owned(),
        "generator" => "the load generator".to_owned(),
        "agent_limit" => "a limit that the agent keeps (--max-rate)".to_owned(),
        "target_rate" => "nothing: the asked rate was reached".to_owned(),
        "unknown" => "no single limit was seen".to_owned(),
        other => match other.strip_prefix("cpu:") {
            Some("client") => "CPU of the client".to_owned(),
            Some("server") => "CPU of the server".to_owned(),
            Some("other") => "a CPU that was full with other work than the two ends".to_owned(),
            Some(who) => format!("CPU of {who}"),
            None => other.to_owned(),
        },
    }
}

/// The limits of a cell's trials as records name them: `cpu:client`, `cpu:client 2x, softirq`.
pub(crate) fn limits(cell: &CellSummary) -> String {
    let several = cell.limited_by.len() > 1;
    let text = |limit: &super::summary::Limit| match (several, limit.trials) {
        (true, n) if n > 1 => format!("{} {n}x", limit.limit),
        _ => limit.limit.clone(),
    };
    cell.limited_by.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The same with the mark of a cell that has no verdict because the generator was late in a trial: `! target_rate`.
pub(crate) fn marked_limits(cell: &CellSummary) -> String {
    format!("{}{}", if cell.generator_limited { "! " } else { "" }, limits(cell))
}

/// What the mark of [`marked_limits`] says; `None` where no cell has it.
pub(crate) fn mark(workload: &WorkloadSummary) -> Option<&'static str> {
    let marked = workload.cells.iter().any(|cell| cell.generator_limited);
    marked.then_some("! The load generator was late in a trial: no verdict is about this cell.")
}

/// A warning's kind in words: `not steady`.
pub(crate) fn spaced(kind: &str) -> String {
    kind.replace('_', " ")
}

/// How far a run came.
pub(crate) fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "not ended: running, or died",
        RunStatus::Complete => "complete",
        RunStatus::Incomplete => "incomplete",
    }
}

/// What many comparisons mean for one of them; `None` without any.
pub(crate) fn chance(summary: &Summary) -> Option<String> {
    let shown = summary.run.comparisons;
    // With 95 % of confidence, one comparison in 20 of equal things shows a difference.
    let expected = shown as f64 / 20.0;
    let comparisons = crate::number::counted(shown, "comparison", "comparisons");
    let one = if shown == 1 { "it" } else { "them" };
    (shown > 0).then(|| format!("{comparisons}; chance alone would decide {expected:.1} of {one}."))
}

/// Whose CPUs worked on what the nodes received, for the head of a page; `None` where the testbed does not say.
pub(crate) fn receive(summary: &Summary) -> Option<String> {
    let fact = summary.testbed.get("receive")?;
    if fact.starts_with("steered") {
        return Some("receive: steered".to_owned());
    }
    let why = fact.split_once(": ").map_or("", |(_, why)| why);
    let why = if why.contains("needs root") { "needs root" } else { sentence(why) };
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    Some(format!("receive: not steered{why}"))
}

/// A text without its full stop, which the caller adds.
pub(crate) fn sentence(text: &str) -> &str {
    text.trim_end().trim_end_matches('.')
}

/// An RFC 3339 time as people read it, to the second: `2026-03-01 12:00:00 UTC`.
pub(crate) fn time(text: &str) -> String {
    match (text.get(..10), text.get(11..19), text.ends_with('Z')) {
        (Some(day), Some(time), true) => format!("{day} {time} UTC"),
        _ => text.to_owned(),
    }
}

/// From where to where: `host@a → bridge@b via node-port@c`, `bridge@a → bridge@b, mesh both`.
pub(crate) fn way(path: &super::PathSummary) -> String {
    let way = format!("{} → {}", path.from, path.to);
    match path.way.strip_prefix("direct") {
        Some(rest) => format!("{way}{rest}"),
        None => format!("{way} via {}", path.way),
    }
}
