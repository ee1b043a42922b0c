use super::seen::Seen;
use super::{Check, Finding};

pub(super) const CHECK: Check = Check { name: "kube-proxy", needed_for: "what the report calls it", judge };

fn judge(seen: &Seen) -> Finding {
    if let Ok(mode) = &seen.proxy_mode {
        return Finding::works(format!("{mode}, as it says itself"));
    }
    if seen.cilium_config.as_deref().is_some_and(|said| said == "true" || said == "strict") {
        return Finding::works("none: Cilium does its work");
    }
    if let Some(mode) = seen.proxy_config.as_deref().and_then(mode) {
        return Finding::works(format!("{mode}, by the ConfigMap kube-system/kube-proxy"));
    }
    let is_there = seen.daemon_sets.iter().flatten().any(|(_, name)| name == "kube-proxy");
    let there = if is_there { "there is one" } else { "no DaemonSet of that name" };
    Finding::limited(
        format!("its mode is not known: {there}, and neither its port for metrics nor a ConfigMap tells"),
        "`curl localhost:10249/proxyMode` on a node says it",
    )
}

/// The mode in kube-proxy's configuration; what it says where it says nothing.
fn mode(config: &str) -> Option<String> {
    let line = config.lines().find_map(|line| line.trim_start().strip_prefix("mode:"))?;
    let mode = line.trim().trim_matches(['"', '\'']);
    Some(if mode.is_empty() { "iptables".to_owned() } else { mode.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn the_mode_is_what_whoever_knows_best_says() {
        let mut seen = Seen::fine();
        assert_eq!(judge(&seen).found, "iptables, as it says itself");
        seen.proxy_mode = Err("refused".to_owned());
        assert_eq!(judge(&seen).state, State::Limited);
        seen.proxy_config =
            Some("kind: KubeProxyConfiguration\nipvs:\n  strictARP: false\nmode: \"ipvs\"\n".to_owned());
        assert!(judge(&seen).found.starts_with("ipvs, by"));
        seen.proxy_config = Some("mode: \"\"\n".to_owned());
        assert!(judge(&seen).found.starts_with("iptables, by"));
        seen.cilium_config = Some("true".to_owned());
        assert!(judge(&seen).found.starts_with("none"));
    }
}
