//! Searches whose trials are over before the queue of a lab's link is full.

use hopbench_lab::netlink::queue_ns;
use hopbench_model::units::BitRate;
use hopbench_model::{LabNode, LabSpec, Nanos, Path, Place, Plan, SearchGoal, TestbedSpec};
use hopbench_report::number::{brief_time_ns, percent_as_written};

use super::words::{listed, short};

/// A tenth of a second: what people write.
const STEP_NS: Nanos = 100_000_000;

/// A sentence for each link rate behind which a search of datagrams without loss would find more
/// than the link carries. What is above it goes into a queue that is not full before a trial ends.
pub(in crate::cmd) fn too_short(plan: &Plan) -> Vec<String> {
    let TestbedSpec::Lab(lab) = &plan.testbed else { return Vec::new() };
    let mut found: Vec<(String, String, Vec<String>)> = Vec::new();
    for cell in &plan.cells {
        let (path, point) = plan.at(*cell);
        let Some(SearchGoal::Lossless { precision, .. }) =
            point.search.as_ref().map(|search| &search.goal)
        else {
            continue;
        };
        let Some(bits_per_s) = slowest(lab, path) else { continue };
        let queue = queue_ns(bits_per_s, lab.mtu);
        let needed = queue as f64 / precision.max(f64::MIN_POSITIVE);
        let timing = point.job.timing;
        let has = timing.warmup_ns.saturating_add(timing.window_ns);
        if has as f64 > needed {
            continue;
        }
        // Longer than that, not as long.
        let enough = (needed as Nanos).saturating_add(1).div_ceil(STEP_NS).saturating_mul(STEP_NS);
        let why = format!(
            "warm-up and window are {} together, but the queue of a link of {} holds {}, and {} \
             above the link's rate fills it in {}. The search can find more than the link carries. \
             Let them be {} or longer",
            short(has),
            BitRate(bits_per_s),
            brief_time_ns(queue),
            percent_as_written(*precision),
            brief_time_ns(needed as Nanos),
            short(enough),
        );
        match found
            .iter_mut()
            .find(|(workload, known, _)| *workload == point.workload && *known == why)
        {
            Some((.., paths)) if paths.contains(&path.name) => {}
            Some((.., paths)) => paths.push(path.name.clone()),
            None => found.push((point.workload.clone(), why, vec![path.name.clone()])),
        }
    }
    found
        .into_iter()
        .map(|(workload, why, paths)| format!("{workload} on {}: {why}", listed(&paths)))
        .collect()
}

/// The rate of the slowest shaped link between a path's nodes; `None` where there is none.
fn slowest(lab: &LabSpec, path: &Path) -> Option<u64> {
    let node = |name: &str| lab.nodes.iter().find(|node| node.name == name);
    let (from, to): (&LabNode, &LabNode) = (node(&path.from.node)?, node(&path.to.node)?);
    if from.name == to.name {
        return None;
    }
    let between = lab.zone_link_bits_per_s.filter(|_| from.zone != to.zone);
    // The traffic is spread over the nodes of a set, which have links of their own.
    let together = |place: &Place| {
        let rates = place.nodes().map(|name| node(name)?.link_bits_per_s);
        rates.reduce(|sum, next| Some(sum? + next?)).flatten()
    };
    [together(&path.from), together(&path.to), between].into_iter().flatten().min()
}
