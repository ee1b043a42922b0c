//! Names of a run's pods and Services in the cluster.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_testbed::placement::PodId;

/// The longest name; host names have 63 characters, and a number may be added.
const MOST: usize = 58;

/// Names of pods in the cluster.
pub(crate) fn pods(all: &BTreeSet<PodId>) -> BTreeMap<PodId, String> {
    let mut taken = BTreeSet::new();
    all.iter().map(|pod| (pod.clone(), unique(&label(&pod.to_string()), &mut taken))).collect()
}

/// The name of the Service of a path, for the agents or for the server program of this number: a
/// long name is cut, and those of one path differ all the same.
pub(crate) fn service(number: usize, path: &str, program: Option<(usize, &str)>) -> String {
    let (of, program) =
        program.map_or_else(Default::default, |(of, name)| (format!("-{of}"), format!("-{name}")));
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

/// A text as a name that Kubernetes takes: lower-case letters, digits and single dashes, a letter
/// first.
fn label(text: &str) -> String {
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
    if name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.to_owned()
    } else {
        format!("p-{name}")
    }
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::placement::Group;

    use super::*;
    use crate::plan::fixture::place;

    #[test]
    fn names_are_those_of_the_pods_as_kubernetes_takes_them() {
        let pod = |node: &str, group: Group, index| PodId {
            place: place(node),
            subject: None,
            group,
            program: None,
            index,
        };
        let all = BTreeSet::from([
            pod("bridge@a", Group::Shared, 0),
            pod("bridge@a", Group::Shared, 1),
            pod("bridge+runsc@a", Group::Path("Über svc".into()), 0),
            pod("bridge@a-2", Group::Shared, 0),
            pod("bridge@a", Group::Path("long".repeat(30)), 0),
        ]);
        let names = pods(&all);
        assert_eq!(names[&pod("bridge@a", Group::Shared, 0)], "bridge-a");
        let two = [pod("bridge@a", Group::Shared, 1), pod("bridge@a-2", Group::Shared, 0)]
            .map(|pod| names[&pod].clone());
        assert_eq!(
            BTreeSet::from(two),
            BTreeSet::from(["bridge-a-2".to_owned(), "bridge-a-2-x2".to_owned()])
        );
        assert_eq!(
            names[&pod("bridge+runsc@a", Group::Path("Über svc".into()), 0)],
            "bridge-runsc-a-ber-svc"
        );
        assert!(names.values().all(|name| name.len() <= 63));
        assert_eq!(names.values().collect::<BTreeSet<_>>().len(), all.len());
        assert_eq!(service(3, "ClusterIP!", Some((0, "nginx"))), "path3-clusterip-nginx");
        assert_eq!(service(1, "one again", None), "path1-one-again");
        let long = "long".repeat(30);
        let all = [
            service(3, &long, None),
            service(3, &long, Some((0, "nginx"))),
            service(3, &long, Some((1, "envoy"))),
        ];
        assert!(all.iter().all(|name| name.len() <= 63), "{all:?}");
        assert_eq!(BTreeSet::from(all).len(), 3);
        assert_eq!(label("9 lives"), "p-9-lives");
    }
}
