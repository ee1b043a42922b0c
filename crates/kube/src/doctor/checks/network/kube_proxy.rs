//! The check for the mode of kube-proxy.

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(in crate::doctor::checks) const CHECK: Check =
    Check { name: "kube-proxy", needed_for: "what the report calls it", judge };

fn judge(inventory: &Inventory) -> Finding {
    if let Some(mode) = inventory.kube_proxy.mode() {
        return Finding::works(mode);
    }
    let is_there = inventory.daemon_sets.iter().flatten().any(|(_, name)| name == "kube-proxy");
    let there = if is_there { "there is one" } else { "no DaemonSet of that name" };
    Finding::limited(
        format!(
            "its mode is not known: {there}, and neither its port for metrics nor a ConfigMap tells"
        ),
        "`curl localhost:10249/proxyMode` on a node says it",
    )
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;

    use super::*;

    #[test]
    fn a_mode_that_nobody_says_is_told() {
        let mut inventory = Inventory::fine();
        assert_eq!(judge(&inventory).found, "iptables, as it says itself");
        inventory.kube_proxy.said = Err("refused".to_owned());
        inventory.daemon_sets = Ok(vec![("kube-system".to_owned(), "kube-proxy".to_owned())]);
        let finding = judge(&inventory);
        assert_eq!(finding.state, State::Limited);
        assert!(finding.found.contains("there is one"), "{}", finding.found);
    }
}
