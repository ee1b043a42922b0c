//! The check for other runs, and for what dead ones left.

use hopbench_testbed::Finding;

use crate::cleanup::garbage_collect::CleanupOutcome;
use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(super) const CHECK: Check =
    Check { name: "runs", needed_for: "a cluster that is quiet, and clean", judge };

fn judge(inventory: &Inventory) -> Finding {
    let runs = match &inventory.runs {
        Ok(runs) => runs,
        Err(why) => {
            return Finding::limited(
                format!("not known: {why}"),
                "`kubectl get namespaces` says it",
            );
        }
    };
    let (alive, dead): (Vec<_>, Vec<_>) =
        runs.iter().partition(|run| run.outcome == CleanupOutcome::Alive);
    let names = |runs: &[&crate::cleanup::garbage_collect::FoundRun]| {
        runs.iter().map(|run| run.namespace.as_str()).collect::<Vec<_>>().join(", ")
    };
    match (alive.is_empty(), dead.is_empty()) {
        (true, true) => Finding::works("none, and nothing is left of any"),
        (_, false) => Finding::limited(
            format!("dead runs left {}", names(&dead)),
            "`hopbench kube clean` removes it",
        ),
        (false, true) => Finding::limited(
            format!("measuring now: {}", names(&alive)),
            "wait until it is done: two runs disturb each other",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hopbench_testbed::State;

    use super::*;
    use crate::cleanup::garbage_collect::FoundRun;

    #[test]
    fn runs_that_live_and_that_are_dead_are_told() {
        let run = |name: &str, outcome| FoundRun {
            run: name.into(),
            namespace: format!("hopbench-{name}"),
            is_guest: false,
            silent_for: Duration::ZERO,
            outcome,
        };
        let mut inventory = Inventory::fine();
        assert_eq!(judge(&inventory).state, State::Works);
        inventory.runs = Ok(vec![run("a", CleanupOutcome::Alive)]);
        assert_eq!(judge(&inventory).found, "measuring now: hopbench-a");
        inventory.runs =
            Ok(vec![run("a", CleanupOutcome::Alive), run("b", CleanupOutcome::WouldBeRemoved)]);
        assert_eq!(judge(&inventory).found, "dead runs left hopbench-b");
    }
}
