//! Matrices of paths: every kind of place to every kind of place.

use hopbench_analysis::{PathSummary, Summary};

/// One matrix of paths: rows are where clients are, columns where servers are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    /// What its paths have in common: `a to b`.
    pub(crate) title: String,
    /// Kinds of place of the clients.
    pub(crate) from: Vec<String>,
    /// Kinds of place of the servers.
    pub(crate) to: Vec<String>,
    /// Indices of the paths, row by row.
    pub(crate) paths: Vec<Vec<usize>>,
}

/// The paths of a run as matrices, and those that are in none.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Groups that share nodes and way, with every combination of at least two kinds at each end.
    pub(crate) matrices: Vec<Matrix>,
    /// Indices of all other paths. The baseline's twin is among them only without matrices: it has
    /// its place already.
    pub(crate) others: Vec<usize>,
}

impl Layout {
    /// The layout of a run.
    pub(crate) fn of(summary: &Summary) -> Self {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        let named = summary.paths.iter().enumerate().filter(|(_, path)| !path.is_twin);
        for (index, path) in named {
            let title = title(path);
            match groups.iter_mut().find(|(known, _)| *known == title) {
                Some((_, members)) => members.push(index),
                None => groups.push((title, vec![index])),
            }
        }
        let mut out = Self::default();
        for (title, members) in groups {
            match matrix(summary, title, &members) {
                Some(matrix) => out.matrices.push(matrix),
                None => out.others.extend(members),
            }
        }
        if out.matrices.is_empty() {
            out.others = (0..summary.paths.len()).collect();
        }
        out
    }
}

/// The matrix that some paths make; `None` where a place of it is empty, or has two paths, of which
/// one would be hidden.
fn matrix(summary: &Summary, title: String, members: &[usize]) -> Option<Matrix> {
    let mut matrix = Matrix { title, from: Vec::new(), to: Vec::new(), paths: Vec::new() };
    for index in members {
        let path = &summary.paths[*index];
        for (kinds, place) in [(&mut matrix.from, &path.from), (&mut matrix.to, &path.to)] {
            let kind = kind(place).to_owned();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    let at = |from: &str, to: &str| {
        let mut fits = members.iter().filter(|index| {
            let path = &summary.paths[**index];
            kind(&path.from) == from && kind(&path.to) == to
        });
        fits.next().copied().filter(|_| fits.next().is_none())
    };
    let row = |from: &String| matrix.to.iter().map(|to| at(from, to)).collect();
    let rows: Option<Vec<Vec<usize>>> = matrix.from.iter().map(row).collect();
    let paths = rows.filter(|_| matrix.from.len() >= 2 && matrix.to.len() >= 2)?;
    Some(Matrix { paths, ..matrix })
}

/// `bridge` of `bridge@a`.
fn kind(place: &str) -> &str {
    place.split('@').next().unwrap_or(place)
}

fn node(place: &str) -> &str {
    place.split('@').nth(1).unwrap_or_default()
}

fn title(path: &PathSummary) -> String {
    let mut title = format!("{} to {}", node(&path.from), node(&path.to));
    if path.via != "direct" {
        title.push_str(&format!(" via {}", path.via));
    }
    if let Some(family) = path.family {
        title.push_str(&format!(" by {family}"));
    }
    title
}
