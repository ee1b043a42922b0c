use super::seen::Seen;
use super::{Check, Finding};

pub(super) const CHECK: Check = Check { name: "kube-proxy", needed_for: "what the report calls it", judge };

fn judge(seen: &Seen) -> Finding {
    if let Some(mode) = seen.kube_proxy.mode() {
        return Finding::works(mode);
    }
    let is_there = seen.daemon_sets.iter().flatten().any(|(_, name)| name == "kube-proxy");
    let there = if is_there { "there is one" } else { "no DaemonSet of that name" };
    Finding::limited(
        format!("its mode is not known: {there}, and neither its port for metrics nor a ConfigMap tells"),
        "`curl localhost:10249/proxyMode` on a node says it",
    )
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_mode_that_nobody_says_is_told() {
        let mut seen = Seen::fine();
        assert_eq!(judge(&seen).found, "iptables, as it says itself");
        seen.kube_proxy.said = Err("refused".to_owned());
        seen.daemon_sets = Ok(vec![("kube-system".to_owned(), "kube-proxy".to_owned())]);
        let finding = judge(&seen);
        assert_eq!(finding.state, State::Limited);
        assert!(finding.found.contains("there is one"), "{}", finding.found);
    }
}
