//! The results of searches, a line a path: for those who read no table.

use hopbench_analysis::{LoadComparison, SearchSummary, SearchedPath, UNDECIDED_MARK};

/// What a search found on a path.
pub(crate) struct FoundLine<'a> {
    /// The path's name.
    pub(crate) path: String,
    /// The load with what it lies between, or why there is none: `4979/s [4979, 5078]`.
    pub(crate) text: String,
    /// How the load compares with the baseline's; of a knee how the throughput there does.
    pub(crate) comparison: Option<&'a LoadComparison>,
    /// Whether what was found is doubtful: it was not decided, or may be the generator's.
    pub(crate) is_doubtful: bool,
}

/// A line a path, in the scenario's order.
pub(crate) fn lines<'a>(search: &'a SearchSummary) -> Vec<FoundLine<'a>> {
    let line = |path: &'a SearchedPath| FoundLine {
        path: path.path.clone(),
        text: format!("{}{}", mark(path), path.text),
        comparison: path.comparison.as_ref(),
        is_doubtful: path.is_doubtful(),
    };
    search.paths.iter().map(line).collect()
}

impl FoundLine<'_> {
    /// All of it: `overlay: 3900/s [3900, 3978]; against the baseline: lower by 22 % [20, 23]`.
    pub(crate) fn text(&self) -> String {
        let compared = self.comparison.map(|found| format!("; against the baseline: {}", found.text));
        format!("{}: {}{}", self.path, self.text, compared.unwrap_or_default())
    }
}

/// The marks of a load that is doubtful, before it.
pub(crate) fn mark(path: &SearchedPath) -> String {
    let undecided = if path.undecided.is_empty() { "" } else { UNDECIDED_MARK };
    format!("{undecided}{}", if path.generator_limited { "! " } else { "" })
}
