//! The check for the rights of this user.

use std::collections::BTreeMap;

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(super) const CHECK: Check = Check { name: "rights", needed_for: "everything", judge };

const REMEDY: &str = "`hopbench kube manifests` prints the rights that hopbench uses";

fn judge(inventory: &Inventory) -> Finding {
    let lacking = match &inventory.lacking {
        Ok(lacking) => lacking,
        Err(why) => return Finding::limited(format!("not known: {why}"), REMEDY),
    };
    let mut by_use: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (right, verb) in lacking {
        by_use.entry(right.only_for).or_default().push(format!("{verb} {}", right.resource));
    }
    let needed = by_use.remove("");
    let lines = |by_use: BTreeMap<&str, Vec<String>>| -> Vec<String> {
        by_use
            .into_iter()
            .map(|(what, rights)| format!("may not {} ({what})", rights.join(", ")))
            .collect()
    };
    match (needed, lines(by_use)) {
        (None, rest) if rest.is_empty() => Finding::works("all"),
        (None, rest) => Finding::limited(rest.join("\n"), REMEDY),
        (Some(needed), rest) => {
            let first = format!("may not {}", needed.join(", "));
            Finding::missing([vec![first], rest].concat().join("\n"), REMEDY)
        }
    }
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;

    use super::*;
    use crate::api::rights::RIGHTS;

    #[test]
    fn what_nothing_goes_without_is_missing_and_the_rest_a_limit() {
        let right =
            |resource: &str| RIGHTS.iter().find(|right| right.resource == resource).unwrap();
        let mut inventory = Inventory::fine();
        assert_eq!(judge(&inventory), Finding::works("all"));
        inventory.lacking = Ok(vec![(right("nodes/proxy"), "get")]);
        let limited = judge(&inventory);
        assert_eq!(limited.state, State::Limited);
        assert_eq!(limited.found, "may not get nodes/proxy (what the kubelets and cAdvisor meter)");
        inventory.lacking = Ok(vec![(right("nodes/proxy"), "get"), (right("secrets"), "create")]);
        let missing = judge(&inventory);
        assert_eq!(missing.state, State::Missing);
        assert!(missing.found.starts_with("may not create secrets\n"), "{missing:?}");
    }
}
