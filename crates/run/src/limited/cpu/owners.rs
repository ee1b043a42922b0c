//! The owners of a CPU in words: who may use it.

use std::collections::BTreeSet;

use hopbench_model::number;

use crate::limited::evidence::{Burden, CLIENT, SERVER};

/// Those that may use a CPU, by name, in the order of the burdens.
pub(super) struct Owners<'a>(pub(super) Vec<(&'a str, Vec<&'a Burden>)>);

impl<'a> Owners<'a> {
    pub(super) fn of(owners: &[&'a Burden]) -> Self {
        let mut out: Vec<(&str, Vec<&Burden>)> = Vec::new();
        for &burden in owners {
            match out.iter_mut().find(|(who, _)| *who == burden.who) {
                Some((_, known)) => known.push(burden),
                None => out.push((&burden.who, vec![burden])),
            }
        }
        Self(out)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &'a Burden> {
        self.0.iter().flat_map(|(_, burdens)| burdens.iter().copied())
    }

    /// The one that used the most, and how many cores; of equals the first.
    pub(super) fn largest(&self) -> Option<(&'a str, f64)> {
        let used = self.0.iter().map(|(who, burdens)| (*who, cores(burdens)));
        used.rev().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The owner of the CPU.
    pub(super) fn whose(&self, cpu: usize) -> String {
        match &self.0[..] {
            [] => "neither end may use it".to_owned(),
            [(who, burdens)] => {
                let owner = the(who, burdens.len());
                let held = burdens.iter().all(|burden| burden.cpus.is_some());
                if held {
                    format!("it is the CPU of {owner}")
                } else {
                    format!("of those that are metered only {owner} may use it")
                }
            }
            several => format!("{} share {}", together(several), self.shared(cpu)),
        }
    }

    /// What all of them share.
    pub(super) fn shared(&self, cpu: usize) -> String {
        let sets: BTreeSet<Option<&BTreeSet<usize>>> =
            self.all().map(|burden| burden.cpus.as_ref()).collect();
        match sets.iter().collect::<Vec<_>>()[..] {
            [None] => "all CPUs".to_owned(),
            [Some(same)] => number::cpus(&same.iter().copied().collect::<Vec<_>>()),
            _ => format!("CPU {cpu}"),
        }
    }

    /// What they used.
    pub(super) fn used(&self) -> String {
        let used = |(who, burdens): &(&str, Vec<&Burden>)| {
            let together = if burdens.len() > 1 { " together" } else { "" };
            let the = if burdens.len() > 1 { "the " } else { "" };
            format!(
                "{the}{} used {:.2} cores{together}",
                self::the(who, burdens.len()),
                cores(burdens)
            )
        };
        self.0.iter().map(used).collect::<Vec<_>>().join(", ")
    }
}

/// `the client`, `20 clients`.
fn the(who: &str, count: usize) -> String {
    if count == 1 { format!("the {who}") } else { format!("{count} {who}s") }
}

/// `both ends`; with proxies `the client, the client-sidecar and the server`.
fn together(owners: &[(&str, Vec<&Burden>)]) -> String {
    if owners.iter().map(|(who, _)| *who).eq([CLIENT, SERVER]) {
        return "both ends".to_owned();
    }
    let names: Vec<String> = owners.iter().map(|(who, burdens)| the(who, burdens.len())).collect();
    match names.split_last() {
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// Cores that they used together.
fn cores(burdens: &[&Burden]) -> f64 {
    burdens.iter().map(|burden| burden.cores).sum()
}
