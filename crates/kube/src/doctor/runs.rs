use super::seen::Seen;
use super::{Check, Finding};
use crate::clean::Outcome;

pub(super) const CHECK: Check = Check { name: "runs", needed_for: "a cluster that is quiet, and clean", judge };

fn judge(seen: &Seen) -> Finding {
    let runs = match &seen.runs {
        Ok(runs) => runs,
        Err(why) => return Finding::limited(format!("not known: {why}"), "`kubectl get namespaces` says it"),
    };
    let (alive, dead): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run.outcome == Outcome::Alive);
    let names =
        |runs: &[&crate::clean::Swept]| runs.iter().map(|run| run.namespace.as_str()).collect::<Vec<_>>().join(", ");
    match (alive.is_empty(), dead.is_empty()) {
        (true, true) => Finding::works("none, and nothing is left of any"),
        (_, false) => Finding::limited(format!("dead runs left {}", names(&dead)), "`hopbench kube clean` removes it"),
        (false, true) => Finding::limited(
            format!("measuring now: {}", names(&alive)),
            "wait until it is done: two runs disturb each other",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::State;
    use super::*;
    use crate::clean::Swept;

    #[test]
    fn runs_that_live_and_that_are_dead_are_told() {
        let run = |name: &str, outcome| Swept {
            run: name.into(),
            namespace: format!("hopbench-{name}"),
            silent_for: Duration::ZERO,
            outcome,
        };
        let mut seen = Seen::fine();
        assert_eq!(judge(&seen).state, State::Works);
        seen.runs = Ok(vec![run("a", Outcome::Alive)]);
        assert_eq!(judge(&seen).found, "measuring now: hopbench-a");
        seen.runs = Ok(vec![run("a", Outcome::Alive), run("b", Outcome::WouldBeRemoved)]);
        assert_eq!(judge(&seen).found, "dead runs left hopbench-b");
    }
}
