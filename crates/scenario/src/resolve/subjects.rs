//! The paths of a plan, each once for every subject.

use std::collections::BTreeMap;

use hopbench_model::{
    Cell, LabNode, Path, Place, Plan, Reference, Subject, SubjectChanges, TestbedSpec, Via,
};

use crate::document::fields::Fields;
use crate::document::problem::Problems;
use crate::paths::matrix::MOST_PATHS;
use crate::testbed::MOST_NODES;

/// A plan with every path once for each of its subjects. Those of the first subject are measured
/// twice, if `pairs` says so. In a lab, every other subject has nodes of its own, in the same
/// places and with the same CPUs.
pub(crate) fn split(plan: Plan, pairs: bool) -> Plan {
    let Plan { paths, cells, mut testbed, subjects, .. } = plan;
    let is_lab = matches!(testbed, TestbedSpec::Lab(_));
    if let TestbedSpec::Lab(lab) = &mut testbed {
        lab.nodes = nodes(&lab.nodes, &subjects);
    }
    let mut out = Plan { paths: Vec::new(), cells: Vec::new(), testbed, subjects, ..plan };
    for (at, path) in paths.iter().enumerate() {
        let points = || cells.iter().filter(|cell| cell.path == at).map(|cell| cell.point);
        for (number, subject) in out.subjects.iter().enumerate() {
            let mut of = with(path, subject, is_lab && number > 0);
            let first = name(path, &out.subjects[0]);
            of.reference = (number > 0).then_some(Reference { path: first, again: false });
            let path = out.paths.len();
            out.cells.extend(points().map(|point| Cell { path, point }));
            out.paths.push(of);
        }
        let measured = |point: &usize| out.points[*point].search.is_none();
        let again: Vec<usize> = points().filter(measured).filter(|_| pairs).collect();
        if !again.is_empty() {
            let first = with(path, &out.subjects[0], false);
            let reference = Some(Reference { path: first.name.clone(), again: true });
            let path = out.paths.len();
            out.cells.extend(again.into_iter().map(|point| Cell { path, point }));
            // No path of a scenario can be called so: their names have no spaces.
            out.paths.push(Path { name: format!("{} again", first.name), reference, ..first });
        }
    }
    out.baseline = None;
    out
}

/// A path as a subject has it.
pub(crate) fn with(path: &Path, subject: &Subject, own_nodes: bool) -> Path {
    let node = |node: &String| match own_nodes && !node.is_empty() {
        true => Subject::node_name(node, &subject.name),
        false => node.clone(),
    };
    let place = |place: &Place| {
        let network = subject.network.get(&place.network).unwrap_or(&place.network).clone();
        Place {
            runtime: subject.runtime.clone().or_else(|| place.runtime.clone()),
            node: node(&place.node),
            more_nodes: place.more_nodes.iter().map(node).collect(),
            network,
        }
    };
    let via = match &path.via {
        Via::NodePort(at) => Via::NodePort(node(at)),
        Via::Gateway(at) => Via::Gateway(node(at)),
        other => other.clone(),
    };
    let mut gateways = path.gateways.clone();
    if let Some(gateways) = &mut gateways {
        gateways.more_nodes = gateways.more_nodes.iter().map(node).collect();
    }
    let own = subject.variant.clone().filter(|_| path.is_proxied());
    Path {
        name: name(path, subject),
        from: place(&path.from),
        to: place(&path.to),
        via,
        gateways,
        variant: own.or_else(|| path.variant.clone()),
        subject: Some(subject.name.clone()),
        ..path.clone()
    }
}

fn name(path: &Path, subject: &Subject) -> String {
    format!("{}.{}", path.name, subject.name)
}

/// The nodes of a lab, once for each subject. The first has the nodes themselves.
fn nodes(nodes: &[LabNode], subjects: &[Subject]) -> Vec<LabNode> {
    let mut out = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        out.extend(nodes.iter().map(|node| LabNode {
            name: match number {
                0 => node.name.clone(),
                _ => Subject::node_name(&node.name, &subject.name),
            },
            stands_for: (number > 0).then(|| node.name.clone()),
            settings: subject.node.clone(),
            ..node.clone()
        }));
    }
    out
}

/// Checks that there are not too many paths and nodes.
pub(crate) fn check_size(
    fields: &Fields<'_>,
    subjects: &[Subject],
    paths: &[Path],
    testbed: &TestbedSpec,
    problems: &mut Problems,
) {
    let count = subjects.len();
    let at = fields.get("subjects").map_or(fields.at, |node| node.at);
    let mut most = |what: &str, all: usize, most: usize| {
        if count > 1 && all * count > most {
            let found = format!("{count} subjects with {all} {what}");
            problems.add(at, "subjects", found, format!("at most {most} {what} in all"));
        }
    };
    most("paths", paths.len(), MOST_PATHS);
    if let TestbedSpec::Lab(lab) = testbed {
        most("nodes", lab.nodes.len(), MOST_NODES);
    }
}

/// Notes on what subjects leave out of a scenario.
pub(crate) fn note(baseline: Option<&str>, subjects: &[Subject]) -> Option<String> {
    let (baseline, first) = (baseline?, subjects.first()?);
    Some(format!(
        "baseline {baseline}: not with subjects, which compare each path with itself as {} has it",
        first.name
    ))
}

/// The subjects whose changes do not differ, of which nobody could tell why figures differ.
pub(crate) fn alike(subjects: &[Subject]) -> Vec<String> {
    let mut seen: BTreeMap<SubjectChanges, &str> = BTreeMap::new();
    let mut out = Vec::new();
    for subject in subjects {
        if let Some(first) = seen.insert(subject.changes(), &subject.name) {
            out.push(format!(
                "subjects {first} and {} change the same: their difference is noise",
                subject.name
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use hopbench_model::{NodeSettings, fixture};
    use serde_json::json;

    use super::*;

    fn subject(name: &str) -> Subject {
        Subject { name: name.to_owned(), ..Subject::default() }
    }

    fn plan(pairs: bool) -> Plan {
        let node = NodeSettings { mtu: Some(1400), ..NodeSettings::default() };
        let path = Path {
            from: fixture::place("bridge", "a"),
            to: fixture::place("bridge", "b"),
            via: Via::NodePort("b".to_owned()),
            ..fixture::path("p")
        };
        let point = fixture::point("w", fixture::job("rr", json!({})));
        let plan = Plan {
            testbed: TestbedSpec::Lab(fixture::lab(&["a", "b"])),
            subjects: vec![subject("old"), Subject { node, ..subject("new") }],
            baseline: Some("p".to_owned()),
            ..fixture::plan(vec![path], vec![point])
        };
        split(Plan { cells: vec![Cell { path: 0, point: 0 }], ..plan }, pairs)
    }

    #[test]
    fn every_path_is_there_once_for_each_subject_on_nodes_of_its_own() {
        let plan = plan(true);
        let names: Vec<&str> = plan.paths.iter().map(|path| path.name.as_str()).collect();
        assert_eq!(names, ["p.old", "p.new", "p.old again"]);
        let ends: Vec<String> = plan
            .paths
            .iter()
            .map(|path| format!("{} {} {}", path.from, path.to, path.via))
            .collect();
        let old = "bridge@a bridge@b node-port@b";
        assert_eq!(ends, [old, "bridge@a.new bridge@b.new node-port@b.new", old]);
        let references = plan.references();
        assert_eq!((references.of(1), references.twin_of(0)), (Some(0), Some(2)));
        assert_eq!((plan.cells.len(), plan.baseline), (3, None));
        let TestbedSpec::Lab(lab) = &plan.testbed else { panic!("a lab") };
        let nodes: Vec<_> =
            lab.nodes.iter().map(|node| (node.name.as_str(), node.settings.mtu)).collect();
        assert_eq!(nodes, [("a", None), ("b", None), ("a.new", Some(1400)), ("b.new", Some(1400))]);
        assert_eq!(lab.nodes[2].stands_for.as_deref(), Some("a"));
    }

    #[test]
    fn without_pairs_nothing_is_measured_twice() {
        assert_eq!(plan(false).paths.len(), 2);
    }

    #[test]
    fn those_that_change_the_same_are_told() {
        let told = alike(&[subject("old"), subject("new")]);
        assert_eq!(told, ["subjects old and new change the same: their difference is noise"]);
        assert_eq!(alike(&plan(true).subjects), [""; 0]);
    }
}
