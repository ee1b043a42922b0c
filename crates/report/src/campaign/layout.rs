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

/// The matrices that the paths make: groups that share nodes and way, with every combination of at
/// least two kinds at each end. Empty unless every path belongs to one.
pub(crate) fn matrices(summary: &Summary) -> Vec<Matrix> {
    let mut out: Vec<Matrix> = Vec::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    // The baseline's twin has its place already.
    for (index, path) in summary.paths.iter().enumerate().filter(|(_, path)| !path.is_twin) {
        let title = title(path);
        match out.iter().position(|matrix| matrix.title == title) {
            Some(known) => members[known].push(index),
            None => {
                out.push(Matrix { title, from: Vec::new(), to: Vec::new(), paths: Vec::new() });
                members.push(vec![index]);
            }
        }
    }
    for (matrix, members) in out.iter_mut().zip(&members) {
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
            // A second path in one place of the matrix would be hidden.
            fits.next().copied().filter(|_| fits.next().is_none())
        };
        let rows: Option<Vec<Vec<usize>>> = matrix
            .from
            .iter()
            .map(|from| matrix.to.iter().map(|to| at(from, to)).collect())
            .collect();
        match rows.filter(|_| matrix.from.len() >= 2 && matrix.to.len() >= 2) {
            Some(rows) => matrix.paths = rows,
            None => return Vec::new(),
        }
    }
    out
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
    title
}
