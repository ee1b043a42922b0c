//! The costs that other meters saw around a trial: kubelets, cAdvisor, Prometheus. They read on
//! their own schedule, so each figure has a window of its own.

mod compare;

use std::collections::BTreeMap;
use std::time::Duration;

use hopbench_meter::delta;
use hopbench_model::{EndReport, MeteredCost, Nanos, Record, SECOND, Warning, WarningKind};
use hopbench_testbed::{Metered, MeteredKind};

use crate::conduct::readings_late_ns;
pub(crate) use compare::{Own, disagree};

/// Of a meter's window at least this share must have had load for its CPU to be the load's.
const MOSTLY_LOAD: f64 = 0.5;
/// And this share where all of the trial's load is in it: what was spent without load adds the
/// less, the larger it is.
const WHOLE_LOAD: f64 = 0.2;
/// Kubelets read a container this often at best, if nobody told them otherwise, ns.
const USUAL_INTERVAL_NS: Nanos = 10 * SECOND;
/// The shortest window whose CPU such a reading can tell, ns.
pub const LEAST_METERED_NS: Nanos = (USUAL_INTERVAL_NS as f64 * WHOLE_LOAD) as Nanos;

/// Whether a window of this length is long enough for the usual readings of others, ns.
pub fn is_metered(window_ns: Nanos) -> bool {
    window_ns >= LEAST_METERED_NS
}

/// Both edges of a window that is as good as the trial's are within this share of its length. At
/// constant load the CPU time differs by twice that at most, which is less than two meters of one
/// thing may differ.
const CLOSE: f64 = 0.05;
/// Less than this of a window is no throttling that a figure could show.
const THROTTLED: f64 = 0.001;

/// When there was load, in seconds from the start of the trial's window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LoadTimes {
    /// When the load of the trial before ended, or all was built: what was metered until then may
    /// be that one's.
    pub(crate) quiet_since_s: f64,
    /// When this trial's began.
    pub(crate) began_s: f64,
    /// Length of the window.
    pub(crate) window_s: f64,
}

impl LoadTimes {
    /// Of a trial whose window began at `started` and was so long; `quiet_since` and `started` are
    /// since 1970 UTC.
    pub(crate) fn new(
        quiet_since: Duration,
        started: Duration,
        warmup_ns: Nanos,
        window_ns: Nanos,
    ) -> Self {
        Self {
            quiet_since_s: since(started, quiet_since),
            began_s: -(warmup_ns as f64) / SECOND as f64,
            window_s: window_ns as f64 / SECOND as f64,
        }
    }

    /// Whether a window has all of it inside.
    fn is_inside(&self, cost: &MeteredCost) -> bool {
        cost.starts_at_s <= self.began_s && cost.starts_at_s + cost.window_s >= self.window_s
    }

    /// How much of a window had load, s.
    fn inside(&self, cost: &MeteredCost) -> f64 {
        let (start, end) = (cost.starts_at_s, cost.starts_at_s + cost.window_s);
        (end.min(self.window_s) - start.max(self.began_s)).max(0.0)
    }
}

/// Seconds from one moment to another; negative where the other came first.
fn since(from: Duration, to: Duration) -> f64 {
    to.as_secs_f64() - from.as_secs_f64()
}

/// What was metered between two readings, for the trial whose window began at `started`; and why of
/// some nothing is known, by setting.
pub(crate) fn costs(
    before: &[Metered],
    after: &[Metered],
    started: Duration,
) -> (Vec<MeteredCost>, BTreeMap<String, String>) {
    let (mut out, mut unavailable) = (Vec::new(), BTreeMap::new());
    for end in after {
        let same = |start: &&Metered| {
            (&start.who, start.what, start.source) == (&end.who, end.what, end.source)
        };
        match before
            .iter()
            .find(same)
            .ok_or("it did not know it before the trial")
            .and_then(|start| cost(start, end, started))
        {
            Ok(cost) => out.push(cost),
            Err(why) => {
                let name = format!("metered_{}_{} {}", end.source, word(end.what), end.who);
                unavailable.insert(name, format!("unavailable: {why}"));
            }
        }
    }
    (out, unavailable)
}

fn word(kind: MeteredKind) -> &'static str {
    match kind {
        MeteredKind::Proxy => "proxy",
        MeteredKind::Agent => "agent",
        MeteredKind::Program => "program",
        MeteredKind::Node => "node",
    }
}

fn cost(start: &Metered, end: &Metered, started: Duration) -> Result<MeteredCost, &'static str> {
    let window_s = since(start.at, end.at);
    if window_s <= 0.0 {
        return Err("it read nothing new between the start of the trial and its end");
    }
    let grown =
        |before: u64, after: u64| after.checked_sub(before).map(|ns| ns as f64 / SECOND as f64);
    let cpu_s =
        grown(start.cpu_ns, end.cpu_ns).ok_or("its counters began anew: it was started again")?;
    let mut figures =
        BTreeMap::from([("cpu_s".to_owned(), cpu_s), ("cores".to_owned(), cpu_s / window_s)]);
    figures.extend(end.memory_bytes.map(|bytes| ("memory_bytes".to_owned(), bytes as f64)));
    let throttled =
        start.throttled_ns.zip(end.throttled_ns).and_then(|(before, after)| grown(before, after));
    figures.extend(throttled.map(|seconds| ("throttled_s".to_owned(), seconds)));
    Ok(MeteredCost {
        who: end.who.clone(),
        what: word(end.what).to_owned(),
        source: end.source.to_owned(),
        window_s,
        starts_at_s: since(started, start.at),
        figures,
    })
}

/// The CPU of something under the trial's load, as another metered it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnderLoad {
    /// `cores`, `metered_window_s`, `metered_load_s`, `memory_bytes`; with `cpu_s` where the window
    /// is as good as the trial's.
    pub figures: BTreeMap<String, f64>,
    /// Whose it is, and of which window.
    pub source: String,
}

/// What something used under the trial's load: its CPU time over the time in the meter's window in
/// which there was load. What it did without load counts, too, so that this is the more rather than
/// the less. Of several meters the one counts whose window has all of this trial's load and no
/// other's. Of those it is the one with the most load in it. `None`: nobody metered it.
pub(crate) fn under_load(
    costs: &[MeteredCost],
    what: MeteredKind,
    who: &str,
    load: &LoadTimes,
) -> Option<Result<UnderLoad, String>> {
    let share = |cost: &MeteredCost| load.inside(cost) / cost.window_s;
    let all = costs.iter().filter(|cost| cost.what == word(what) && cost.who == who);
    let own = |cost: &MeteredCost| cost.starts_at_s >= load.quiet_since_s;
    let rank = |cost: &MeteredCost| (own(cost), own(cost) && load.is_inside(cost));
    let cost = all.max_by(|a, b| rank(a).cmp(&rank(b)).then(share(a).total_cmp(&share(b))))?;
    let (load_s, MeteredCost { source, window_s, starts_at_s, .. }) = (load.inside(cost), cost);
    let window = format!(
        "{source}'s window of {window_s:.1} s began {:.1} s before the trial's",
        -starts_at_s
    );
    if !own(cost) {
        let why =
            "when the trial before was on or the pods began: the meter read nothing in between";
        return Some(Err(format!(
            "{window}, {why}; meters that read more often help, or fewer and longer trials"
        )));
    }
    if share(cost) < if load.is_inside(cost) { WHOLE_LOAD } else { MOSTLY_LOAD } {
        return Some(Err(format!(
            "{window} and had load for {load_s:.1} s only; longer trials are metered"
        )));
    }
    let cpu_s = cost.figures.get("cpu_s").copied().unwrap_or(0.0);
    let mut figures = BTreeMap::from(
        [("cores", cpu_s / load_s), ("metered_window_s", *window_s), ("metered_load_s", load_s)]
            .map(|(name, value)| (name.to_owned(), value)),
    );
    let near = |edge: f64| edge.abs() <= CLOSE * load.window_s;
    if near(*starts_at_s) && near(starts_at_s + window_s - load.window_s) {
        figures.insert("cpu_s".to_owned(), cpu_s);
    }
    figures
        .extend(cost.figures.get("memory_bytes").map(|bytes| ("memory_bytes".to_owned(), *bytes)));
    Some(Ok(UnderLoad {
        figures,
        source: format!("by {source}: {window} and had load for {load_s:.1} s"),
    }))
}

/// The figure of a node that no end sees: cores busy while the trial's load was on.
const LOAD_CORES: &str = "load_cores";

/// Puts the cores that nodes without an end used under the trial's load beside what was metered
/// of them, where a window says it.
pub(crate) fn of_nodes(record: &mut Record, load: &LoadTimes) {
    let cost = &mut record.cost;
    let seen =
        |who: &str| cost.nodes.iter().any(|node| node.name == who && !node.per_cpu_busy.is_empty());
    let all = cost.metered.clone();
    let is_node = |cost: &MeteredCost| cost.what == word(MeteredKind::Node) && !seen(&cost.who);
    for cost in cost.metered.iter_mut().filter(|cost| is_node(cost)) {
        if let Some(Ok(under)) = under_load(&all, MeteredKind::Node, &cost.who, load) {
            let cores = under.figures.get("cores").copied();
            cost.figures.extend(cores.map(|cores| (LOAD_CORES.to_owned(), cores)));
        }
    }
}

/// The figure of such a node with the number of its CPUs, where an onlooker saw them.
const CPUS: &str = "cpus";

/// The share of a node's CPUs that was busy under the load, 0 to 1, as an onlooker there saw it.
pub(crate) fn seen_share(costs: &[MeteredCost], node: &str) -> Option<f64> {
    let seen = costs.iter().find(|cost| cost.source == ONLOOKER && cost.who == node)?;
    Some(seen.figures.get(LOAD_CORES)? / seen.figures.get(CPUS)?)
}

/// The source of what an onlooker read of its node.
const ONLOOKER: &str = "agent";

/// Puts what onlookers read of their nodes in the first place of what was metered of those that no
/// end saw. Nodes of one machine have no figures of their own.
pub(crate) fn of_onlookers<'a>(
    record: &mut Record,
    onlookers: impl Iterator<Item = (&'a str, &'a EndReport)>,
) {
    if record.cost.one_machine {
        return;
    }
    let window_ns = (record.window_s * SECOND as f64) as Nanos;
    for (node, report) in onlookers {
        // What it read at other times is of more or less load.
        if readings_late_ns(report, window_ns).is_some() {
            continue;
        }
        let seconds = report.seconds();
        let (start, end) = (&report.start.readings, &report.end.readings);
        let seen = delta::node_cost(node, start, end, seconds);
        let nodes = record.cost.nodes.iter();
        let by_end = nodes.filter(|of_end| of_end.name == node && !of_end.per_cpu_busy.is_empty());
        let metered = record.cost.metered.iter();
        let by_other = metered.filter(|cost| cost.source == ONLOOKER && cost.who == node);
        if seen.per_cpu_busy.is_empty() || by_end.count() + by_other.count() > 0 {
            continue;
        }
        let cores = seen.busy_cores;
        let cpu_s = cores * seconds;
        let Some(loaded_s) = report.loaded_seconds() else { continue };
        let cpus = seen.per_cpu_busy.len() as f64;
        let figures =
            [("cpu_s", cpu_s), ("cores", cores), (LOAD_CORES, cpu_s / loaded_s), (CPUS, cpus)];
        let cost = MeteredCost {
            who: node.to_owned(),
            what: word(MeteredKind::Node).to_owned(),
            source: ONLOOKER.to_owned(),
            window_s: seconds,
            starts_at_s: report.start.t_ns as f64 / SECOND as f64,
            figures: figures.map(|(name, value)| (name.to_owned(), value)).into(),
        };
        record.cost.metered.insert(0, cost);
    }
}

/// Containers that were held back by their CPU limits.
pub(crate) fn throttled<'a>(costs: impl Iterator<Item = &'a MeteredCost>) -> Vec<Warning> {
    let held = costs.filter_map(|cost| {
        let seconds =
            cost.figures.get("throttled_s").filter(|s| **s > THROTTLED * cost.window_s)?;
        Some(Warning::new(
            WarningKind::CpuQuota,
            format!(
                "the CPU limit of the {} {} held it back for {seconds:.2} s of {:.1} s ({})",
                cost.what, cost.who, cost.window_s, cost.source
            ),
            "raise its CPU limit, or take the figures as those of the limit",
        ))
    });
    held.collect()
}

/// Why something is not known, in short.
const NOBODY: &str = "nobody metered it";

/// The setting that says who metered the server program, or why nobody did.
pub(crate) const SERVER_PROGRAM: &str = "server_program";

/// One side of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SandboxedEnd {
    Client,
    Server,
}

impl SandboxedEnd {
    fn cost(self, record: &mut Record) -> &mut BTreeMap<String, f64> {
        match self {
            Self::Client => &mut record.cost.client,
            Self::Server => &mut record.cost.server,
        }
    }

    /// The setting that says who metered its sandboxes, or why nobody did.
    pub(crate) fn setting(self) -> &'static str {
        match self {
            Self::Client => "client_sandbox",
            Self::Server => "server_sandbox",
        }
    }
}

/// Puts what was metered of a server program that no agent saw in the place of what the
/// servers' agents spent, who only look on. `unseen`: why none of them saw it. Whether it is known.
pub(crate) fn of_program(
    record: &mut Record,
    servers: &[String],
    load: &LoadTimes,
    unseen: &str,
) -> bool {
    let costs = &record.cost.metered;
    let each = servers
        .iter()
        .map(|server| under_load(costs, MeteredKind::Program, server, load))
        .collect();
    replace(record, SandboxedEnd::Server, SERVER_PROGRAM, each, &format!("{NOBODY}, and {unseen}"))
}

/// Puts what was metered around the sandboxes of a side's agents in the place of what they see
/// inside. `shared` says that an agent is on both sides: nobody can tell one from the other then.
/// Whether it is known.
pub(crate) fn of_sandbox(
    record: &mut Record,
    side: SandboxedEnd,
    agents: &[String],
    load: &LoadTimes,
    shared: bool,
) -> bool {
    // The kubelet says what the runtime says, which may know nothing of the sandbox's own kernel.
    let costs: Vec<MeteredCost> =
        record.cost.metered.iter().filter(|cost| cost.source != "kubelet").cloned().collect();
    let one = |agent: &String| match shared {
        true => Some(Err("one sandbox is client and server".to_owned())),
        false => under_load(&costs, MeteredKind::Agent, agent, load),
    };
    replace(record, side, side.setting(), agents.iter().map(one).collect(), NOBODY)
}

/// Puts what each of a side's was metered to use in the place of what its agents saw. `nobody`: what
/// to say if some were not metered. Whether it is known of all.
fn replace(
    record: &mut Record,
    side: SandboxedEnd,
    setting: &str,
    each: Option<Vec<Result<UnderLoad, String>>>,
    nobody: &str,
) -> bool {
    // What the NICs of their pods moved is known from the agents all the same.
    side.cost(record).retain(|name, _| name.starts_with("nic_"));
    let all = each.filter(|each| !each.is_empty()).ok_or_else(|| nobody.to_owned());
    let all = all.and_then(|each| each.into_iter().collect::<Result<Vec<UnderLoad>, String>>());
    let is_known = all.is_ok();
    let text = match all {
        Err(why) => format!("unavailable: {why}"),
        Ok(each) => {
            for name in ["cores", "cpu_s", "memory_bytes"] {
                let all: Option<Vec<f64>> =
                    each.iter().map(|one| one.figures.get(name).copied()).collect();
                side.cost(record).extend(all.map(|all| (name.to_owned(), all.iter().sum())));
            }
            let sources: Vec<String> = each.into_iter().map(|one| one.source).collect();
            sources.join("; ")
        }
    };
    record.settings.insert(setting.to_owned(), text);
    is_known
}

#[cfg(test)]
mod tests;
