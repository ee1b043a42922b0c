//! Names in few columns, so that no two of them look alike.

use std::collections::{BTreeMap, BTreeSet};

use super::wrap::{columns, cut, cut_after, plain};

/// Of a name that is cut in its middle, the start keeps at least this share of the columns: one in
/// so many.
const LEAST_START: usize = 4;
/// The start of such a name is shorter by at least this than one that is cut at its end.
const LEAST_END: usize = 4;

/// How each name is shown.
#[derive(Debug)]
pub(crate) struct Names {
    shown: BTreeMap<String, String>,
    /// The columns of the longest.
    width: usize,
}

impl Names {
    /// The names in `most` columns. Names are cut at their end where they stay distinct. Else they
    /// are cut in the middle, all after the same number of characters. Where no such cut keeps them
    /// apart, they are shown in up to `limit` columns.
    pub(crate) fn of<'a>(
        names: impl IntoIterator<Item = &'a str>,
        most: usize,
        limit: usize,
    ) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let all = |shown: &dyn Fn(&str) -> String| -> BTreeMap<String, String> {
            names.iter().map(|name| ((*name).to_owned(), shown(name))).collect()
        };
        let is_distinct = |shown: &BTreeMap<String, String>| {
            shown.values().collect::<BTreeSet<_>>().len() == names.len()
        };
        let starts = (most / LEAST_START..=most.saturating_sub(1 + LEAST_END)).rev();
        let middles = starts.map(|start| all(&|name| cut_after(name, start, most)));
        let shown = std::iter::once(all(&|name| cut(name, most))).chain(middles).find(is_distinct);
        let shown = shown.unwrap_or_else(|| all(&|name| cut(name, limit.max(most))));
        let width = shown.values().map(|shown| columns(shown)).max().unwrap_or(0);
        Self { shown, width }
    }

    /// A name as it is shown; one that is none of these is whole.
    pub(crate) fn shown(&self, name: &str) -> String {
        self.shown.get(name).cloned().unwrap_or_else(|| plain(name))
    }

    /// The columns of the longest.
    pub(crate) fn width(&self) -> usize {
        self.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(names: &[&str], most: usize) -> Vec<String> {
        let all = Names::of(names.iter().copied(), most, 40);
        assert_eq!(
            all.width(),
            names.iter().map(|name| columns(&all.shown(name))).max().unwrap_or(0)
        );
        names.iter().map(|name| all.shown(name)).collect()
    }

    #[test]
    fn names_that_fit_are_whole() {
        assert_eq!(shown(&["bridge", "overlay"], 8), ["bridge", "overlay"]);
        assert_eq!(shown(&["overlay", "overlay"], 8), ["overlay", "overlay"]);
        assert_eq!(shown(&[], 8), Vec::<String>::new());
    }

    #[test]
    fn names_that_differ_at_their_start_are_cut_at_their_end() {
        assert_eq!(shown(&["bridge.same-node", "host.same-node"], 9), ["bridge.s~", "host.sam~"]);
    }

    #[test]
    fn names_that_differ_at_their_end_are_cut_in_the_middle() {
        let told = shown(&["bridge.same-node.a", "bridge.same-node.b", "bridge"], 12);
        assert_eq!(told, ["bridge.~de.a", "bridge.~de.b", "bridge"]);
    }

    #[test]
    fn names_that_no_cut_keeps_apart_are_whole() {
        let names = [
            "host.same-node.cluster-ip",
            "host.cross-node.cluster-ip",
            "host+runsc.cross-node.cluster-ip",
            "host+runsc.same-node.cluster-ip",
        ];
        assert_eq!(shown(&names, 12), names);
        // But not longer than they may be.
        let long = "x".repeat(60);
        let other = format!("{long}y{long}");
        assert_eq!(shown(&[&long, &other, "x"], 12)[2], "x");
        assert!(shown(&[&long, &other], 12).iter().all(|name| columns(name) <= 40));
    }
}
