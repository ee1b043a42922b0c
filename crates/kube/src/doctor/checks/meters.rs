//! The check for the cluster's own meters.

use hopbench_testbed::Metered;

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(super) const CHECK: Check = Check {
    name: "meters",
    needed_for: "CPU and memory of containers and nodes, as the cluster sees them",
    judge,
};

/// An older reading says little of a trial.
const STALE_S: f64 = 20.0;

fn judge(inventory: &Inventory) -> Finding {
    let kubelets: Vec<&Metered> =
        inventory.readings.iter().filter(|read| read.source != "prometheus").collect();
    let age_s = |read: &Metered| inventory.now.as_second() as f64 - read.at.as_secs_f64();
    let told: Vec<String> = kubelets
        .iter()
        .map(|read| {
            format!(
                "{} of {}: the last reading is {:.0} s old",
                read.source,
                read.who,
                age_s(read).max(0.0)
            )
        })
        .collect();
    let notes: Vec<String> =
        inventory.notes.iter().filter(|note| !note.starts_with("Prometheus")).cloned().collect();
    let all = [told, notes.clone()].concat().join("\n");
    if kubelets.is_empty() {
        return Finding::limited(
            all,
            "agents meter themselves all the same; `hopbench kube manifests` has the right to ask",
        );
    }
    if !notes.is_empty() || kubelets.iter().any(|read| age_s(read) > STALE_S) {
        return Finding::limited(
            all,
            "shorten the kubelets' --housekeeping-interval, or take longer windows",
        );
    }
    Finding::works(all)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hopbench_testbed::MeteredKind;
    use k8s_openapi::jiff::Timestamp;

    use hopbench_testbed::State;

    use super::*;

    #[test]
    fn old_readings_are_a_limit() {
        let mut inventory = Inventory::fine();
        inventory.notes = vec!["the kubelet of node n1 gave no readings: forbidden".to_owned()];
        assert_eq!(judge(&inventory).state, State::Limited);
        inventory.notes = vec!["Prometheus gave no readings: refused".to_owned()];
        inventory.now = Timestamp::from_second(100).unwrap();
        let reading = |at| Metered {
            who: "n1".into(),
            what: MeteredKind::Node,
            source: "kubelet",
            at: Duration::from_secs(at),
            cpu_ns: 1,
            memory_bytes: None,
            throttled_ns: None,
        };
        inventory.readings = vec![reading(98)];
        assert_eq!(judge(&inventory), Finding::works("kubelet of n1: the last reading is 2 s old"));
        inventory.readings = vec![reading(60)];
        assert_eq!(judge(&inventory).state, State::Limited);
    }
}
