//! What a run and its objects are called.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_control::secret::random_bytes;
use hopbench_model::Fault;

use crate::pod::PodId;

/// Letters of a run's name.
const RUN_LETTERS: usize = 10;
/// What a run's name is made of: no vowels, so that no word comes of it.
const LETTERS: &[u8; 31] = b"bcdfghjklmnpqrstvwxz0123456789y";
/// The longest name; host names have 63 characters, and a number may be added.
const MOST: usize = 58;

/// A new run's name.
///
/// # Errors
/// A kernel without random numbers.
pub(crate) fn run() -> Result<String, Fault> {
    let random = random_bytes().map_err(Fault::environment)?;
    Ok(random[..RUN_LETTERS].iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect())
}

/// Where the ports of agents on nodes' own networks begin: below the ports of node ports (30000 and up) and below those
/// that kernels give away (32768 and up).
const HOST_PORTS: std::ops::Range<u16> = 20_000..30_000;
/// How many of them a run has.
const PORTS_OF_A_RUN: u16 = 16;

/// The first port of a run's agents on nodes' own networks: runs that share a node rarely have the same.
pub(crate) fn host_port(run: &str) -> u16 {
    let slots = u64::from((HOST_PORTS.end - HOST_PORTS.start) / PORTS_OF_A_RUN);
    let hash = run
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    HOST_PORTS.start + (hash % slots) as u16 * PORTS_OF_A_RUN
}

/// The namespace of a run.
pub fn namespace(run: &str) -> String {
    format!("hopbench-{run}")
}

/// The run that is meant by its name or by its namespace.
pub(crate) fn run_of(text: &str) -> &str {
    text.strip_prefix(&namespace("")).unwrap_or(text)
}

/// Whether a text is a label as RFC 1123 has it, which every kind of name in Kubernetes may be.
pub(crate) fn is_label(text: &str) -> bool {
    let is_inside = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    (1..=63).contains(&text.len()) && text.bytes().all(is_inside) && !text.starts_with('-') && !text.ends_with('-')
}

/// Names of pods in the cluster.
pub(crate) fn pods(all: &BTreeSet<PodId>) -> BTreeMap<PodId, String> {
    let mut taken = BTreeSet::new();
    all.iter().map(|pod| (pod.clone(), unique(&label(&pod.to_string()), &mut taken))).collect()
}

/// The name of the Service of a path, for the agents or for the server program of this number: a long name is cut, and
/// those of one path differ all the same.
pub(crate) fn service(number: usize, path: &str, program: Option<(usize, &str)>) -> String {
    let (of, program) = program.map_or_else(Default::default, |(of, name)| (format!("-{of}"), format!("-{name}")));
    let whole = label(&format!("path{number}-{path}{program}"));
    if whole.len() < MOST { whole } else { label(&format!("path{number}{of}-{path}{program}")) }
}

fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut candidate = name.to_owned();
    for number in 2.. {
        if taken.insert(candidate.clone()) {
            break;
        }
        candidate = format!("{name}-x{number}");
    }
    candidate
}

/// A text as a name that Kubernetes takes: lower-case letters, digits and single dashes, a letter first.
pub(crate) fn label(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= MOST {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.starts_with(|c: char| c.is_ascii_lowercase()) { name.to_owned() } else { format!("p-{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::place;
    use crate::pod::Group;

    #[test]
    fn a_run_has_ten_letters() {
        let run = run().unwrap();
        assert_eq!(run.len(), 10);
        assert!(run.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{run}");
        assert_ne!(run, super::run().unwrap());
        assert_eq!((run_of(&run), run_of(&namespace(&run))), (run.as_str(), run.as_str()));
        assert!(is_label(&namespace(&run)));
        assert_eq!(LETTERS.iter().collect::<BTreeSet<_>>().len(), LETTERS.len());
    }

    #[test]
    fn runs_have_ports_of_their_own_on_nodes() {
        let ports: BTreeSet<u16> = (0..100).map(|_| host_port(&run().unwrap())).collect();
        assert!(ports.len() > 70, "of 625 slots: {ports:?}");
        assert!(ports.iter().all(|port| (20_000..=29_984).contains(port) && port % 16 == 0), "{ports:?}");
        assert_eq!(host_port("bcdfghjklm"), host_port("bcdfghjklm"));
    }

    #[test]
    fn names_are_those_of_the_pods_as_kubernetes_takes_them() {
        let pod = |node: &str, group: Group, index| PodId { place: place(node), group, program: None, index };
        let all = BTreeSet::from([
            pod("bridge@a", Group::Shared, 0),
            pod("bridge@a", Group::Shared, 1),
            pod("bridge+runsc@a", Group::Path("Über svc".into()), 0),
            pod("bridge@a-2", Group::Shared, 0),
            pod("bridge@a", Group::Path("long".repeat(30)), 0),
        ]);
        let names = pods(&all);
        assert_eq!(names[&pod("bridge@a", Group::Shared, 0)], "bridge-a");
        let two =
            [pod("bridge@a", Group::Shared, 1), pod("bridge@a-2", Group::Shared, 0)].map(|pod| names[&pod].clone());
        assert_eq!(BTreeSet::from(two), BTreeSet::from(["bridge-a-2".to_owned(), "bridge-a-2-x2".to_owned()]));
        assert_eq!(names[&pod("bridge+runsc@a", Group::Path("Über svc".into()), 0)], "bridge-runsc-a-ber-svc");
        assert!(names.values().all(|name| name.len() <= 63));
        assert_eq!(names.values().collect::<BTreeSet<_>>().len(), all.len());
        assert_eq!(service(3, "ClusterIP!", Some((0, "nginx"))), "path3-clusterip-nginx");
        let long = "long".repeat(30);
        let all =
            [service(3, &long, None), service(3, &long, Some((0, "nginx"))), service(3, &long, Some((1, "envoy")))];
        assert!(all.iter().all(|name| name.len() <= 63), "{all:?}");
        assert_eq!(BTreeSet::from(all).len(), 3);
        assert_eq!(label("9 lives"), "p-9-lives");
    }
}
