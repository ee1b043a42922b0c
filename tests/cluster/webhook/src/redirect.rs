//! The rules that bring a pod's connections to its sidecar, as `iptables-restore` reads them.
//! Chains and order are as Istio has them, as far as there is something for them here. Datagrams
//! are never taken.
//!
//! One of Istio's rules is left out. What the sidecar itself sends to its own pod goes to the
//! application, and not through the inbound side once more.

use std::fmt::Write as _;

use hopbench_mesh::{INBOUND, OUTBOUND};

use crate::bootstrap::{METRICS, STATUS};
use crate::wishes::{Chosen, Wishes};

/// The user and the group of the sidecar, whose own connections are not taken again.
pub(crate) const PROXY: u32 = 1337;
/// Where Istio's agent listens, which is not here.
const AGENT: u16 = 15_020;

/// The rules of a pod.
pub(crate) fn rules(wishes: &Wishes) -> String {
    let mut text = String::from("*nat\n");
    for chain in ["ISTIO_INBOUND", "ISTIO_IN_REDIRECT", "ISTIO_OUTPUT", "ISTIO_REDIRECT"] {
        line(&mut text, &format!(":{chain} - [0:0]"));
    }
    let mut append = |rule: &str| line(&mut text, &format!("-A {rule}"));
    append(&format!("ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports {INBOUND}"));
    append(&format!("ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports {OUTBOUND}"));

    append("PREROUTING -p tcp -j ISTIO_INBOUND");
    for port in [AGENT, STATUS, METRICS].iter().chain(&wishes.not_inbound) {
        append(&format!("ISTIO_INBOUND -p tcp --dport {port} -j RETURN"));
    }
    match &wishes.inbound {
        Chosen::All => append("ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT"),
        Chosen::These(ports) => {
            for port in ports {
                append(&format!("ISTIO_INBOUND -p tcp --dport {port} -j ISTIO_IN_REDIRECT"));
            }
        }
    }

    append("OUTPUT -p tcp -j ISTIO_OUTPUT");
    append(&format!("ISTIO_OUTPUT -m owner --uid-owner {PROXY} -j RETURN"));
    append(&format!("ISTIO_OUTPUT -m owner --gid-owner {PROXY} -j RETURN"));
    append("ISTIO_OUTPUT -o lo -j RETURN");
    for port in &wishes.not_outbound {
        append(&format!("ISTIO_OUTPUT -p tcp --dport {port} -j RETURN"));
    }
    append("ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN");
    for range in &wishes.not_ranges {
        append(&format!("ISTIO_OUTPUT -d {range} -j RETURN"));
    }
    for port in &wishes.outbound {
        append(&format!("ISTIO_OUTPUT -p tcp --dport {port} -j ISTIO_REDIRECT"));
    }
    match &wishes.ranges {
        Chosen::All => append("ISTIO_OUTPUT -j ISTIO_REDIRECT"),
        Chosen::These(ranges) => {
            for range in ranges {
                append(&format!("ISTIO_OUTPUT -d {range} -j ISTIO_REDIRECT"));
            }
        }
    }
    text.push_str("COMMIT\n");
    text
}

fn line(text: &mut String, line: &str) {
    let Ok(()) = writeln!(text, "{line}") else { unreachable!("a text takes all") };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(annotations: &[(&'static str, &'static str)]) -> Vec<String> {
        let wishes = Wishes::of(&annotations.iter().copied().collect()).unwrap();
        rules(&wishes).lines().map(str::to_owned).collect()
    }

    fn at(rules: &[String], rule: &str) -> usize {
        rules
            .iter()
            .position(|line| line == rule)
            .unwrap_or_else(|| panic!("{rule:?} is not in {rules:#?}"))
    }

    #[test]
    fn everything_is_taken_but_the_sidecar_s_own() {
        let rules = of(&[]);
        let all = at(&rules, "-A ISTIO_OUTPUT -j ISTIO_REDIRECT");
        assert!(at(&rules, "-A ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN") < all);
        let all = at(&rules, "-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT");
        assert!(at(&rules, "-A ISTIO_INBOUND -p tcp --dport 15021 -j RETURN") < all);
        assert_eq!(rules.last().unwrap(), "COMMIT");
    }

    #[test]
    fn only_what_is_listed_is_taken() {
        let rules = of(&[
            ("traffic.sidecar.istio.io/includeInboundPorts", "17000,17002"),
            ("traffic.sidecar.istio.io/includeOutboundPorts", "17001"),
            ("traffic.sidecar.istio.io/includeOutboundIPRanges", ""),
        ]);
        let taken: Vec<_> = rules
            .iter()
            .filter(|rule| rule.ends_with("REDIRECT") && !rule.contains("--to"))
            .collect();
        assert_eq!(
            taken,
            [
                "-A ISTIO_INBOUND -p tcp --dport 17000 -j ISTIO_IN_REDIRECT",
                "-A ISTIO_INBOUND -p tcp --dport 17002 -j ISTIO_IN_REDIRECT",
                "-A ISTIO_OUTPUT -p tcp --dport 17001 -j ISTIO_REDIRECT",
            ]
        );
    }

    #[test]
    fn what_is_left_out_comes_first() {
        let rules = of(&[
            ("traffic.sidecar.istio.io/excludeInboundPorts", "7474"),
            ("traffic.sidecar.istio.io/excludeOutboundPorts", "7475"),
            ("traffic.sidecar.istio.io/excludeOutboundIPRanges", "10.9.0.0/16"),
        ]);
        let inbound = at(&rules, "-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT");
        assert!(at(&rules, "-A ISTIO_INBOUND -p tcp --dport 7474 -j RETURN") < inbound);
        let outbound = at(&rules, "-A ISTIO_OUTPUT -j ISTIO_REDIRECT");
        assert!(at(&rules, "-A ISTIO_OUTPUT -p tcp --dport 7475 -j RETURN") < outbound);
        assert!(at(&rules, "-A ISTIO_OUTPUT -d 10.9.0.0/16 -j RETURN") < outbound);
    }
}
