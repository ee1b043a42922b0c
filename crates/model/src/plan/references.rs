//! The references of a plan: for each path, the path that it is compared with.

use std::collections::BTreeMap;

use super::path::Path;

/// What each path of a plan is compared with, by indices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    baseline: Option<usize>,
    of: Vec<Option<usize>>,
    twins: BTreeMap<usize, usize>,
}

impl References {
    /// Of these paths: each has its own reference, or else the baseline. The baseline, and a path
    /// that others have as their reference, are compared with nothing.
    pub(super) fn of_paths(
        paths: &[Path],
        baseline: Option<&String>,
        twin: Option<&String>,
    ) -> Self {
        let place = |name: &String| paths.iter().position(|path| path.name == *name);
        let baseline = baseline.and_then(place);
        let mut out = Self { baseline, ..Self::default() };
        for (at, path) in paths.iter().enumerate() {
            let own = path.reference.as_ref().and_then(|reference| place(&reference.path));
            let of = own.or(baseline).filter(|of| *of != at);
            let again = path.reference.as_ref().is_some_and(|reference| reference.again)
                || twin == Some(&path.name);
            out.of.push(of);
            out.twins.extend(of.filter(|_| again).map(|of| (of, at)));
        }
        out
    }

    /// The path that this one is compared with; `None`: with no other.
    pub fn of(&self, path: usize) -> Option<usize> {
        self.of.get(path).copied().flatten()
    }

    /// The path that is this one once more.
    pub fn twin_of(&self, path: usize) -> Option<usize> {
        self.twins.get(&path).copied()
    }

    /// Whether a path is another one once more.
    pub fn is_twin(&self, path: usize) -> bool {
        self.twins.values().any(|twin| *twin == path)
    }

    /// Whether it is the baseline, or other paths are compared with this one.
    pub fn is_reference(&self, path: usize) -> bool {
        self.baseline == Some(path) || self.of.contains(&Some(path))
    }

    /// The path that others are compared with, of that path and of its twin; `None` of others.
    pub fn base_of(&self, path: usize) -> Option<usize> {
        if self.is_twin(path) {
            self.of(path)
        } else {
            Some(path).filter(|_| self.is_reference(path))
        }
    }

    /// The path that all others are compared with; `None` where that is not one.
    pub fn only(&self) -> Option<usize> {
        let mut of = self.of.iter().flatten();
        let Some(first) = of.next() else { return self.baseline };
        of.all(|other| other == first).then_some(*first)
    }

    /// The paths with their twins.
    pub fn twins(&self) -> impl Iterator<Item = (usize, usize)> {
        self.twins.iter().map(|(path, twin)| (*path, *twin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Reference, fixture};

    #[test]
    fn a_path_is_compared_with_its_reference_or_with_the_baseline() {
        let path = |name: &str, of: Option<(&str, bool)>| Path {
            reference: of.map(|(path, again)| Reference { path: path.to_owned(), again }),
            ..fixture::path(name)
        };
        let plain = Plan {
            baseline: Some("host".to_owned()),
            twin: Some("host again".to_owned()),
            ..fixture::plan(
                vec![path("host", None), path("bridge", None), path("host again", None)],
                vec![],
            )
        };
        let found = plain.references();
        assert_eq!([0, 1, 2].map(|at| found.of(at)), [None, Some(0), Some(0)]);
        assert_eq!(found.twins().collect::<Vec<_>>(), [(0, 2)]);
        assert!(found.is_twin(2) && found.is_reference(0) && !found.is_reference(1));
        assert_eq!(found.only(), Some(0));
        let subjects = fixture::plan(
            vec![
                path("x.old", None),
                path("x.new", Some(("x.old", false))),
                path("y.old", None),
                path("y.new", Some(("y.old", false))),
                path("y.old again", Some(("y.old", true))),
            ],
            vec![],
        );
        let found = subjects.references();
        let of: Vec<_> = (0..5).map(|at| found.of(at)).collect();
        assert_eq!(of, [None, Some(0), None, Some(2), Some(2)]);
        assert_eq!((found.twin_of(0), found.twin_of(2), found.only()), (None, Some(4), None));
    }
}
