//! The cells that are profiled.

use std::collections::BTreeSet;

use hopbench_meter::profile::Access;
use hopbench_model::{Cell, Fault, Nanos, Pattern, Plan, Point, SECOND};

use crate::results::CellName;

/// Cells of a run that are profiled, at most.
pub const MOST_PROFILES: usize = 16;
/// The window of a profiled trial, ns.
const WINDOW: Nanos = 2 * SECOND;

/// The cells of a run that are profiled, and what the kernel allows.
#[derive(Debug, Clone)]
pub struct Profiling {
    /// In the order in which they are profiled.
    cells: Vec<CellName>,
    /// Cells that would have been profiled if there were no bound.
    left_out: usize,
    access: Access,
}

impl Profiling {
    /// The cells of a plan that these words name, `PATH/WORKLOAD`, and those that they are
    /// compared with. `*` in the place of a name means all. Without words: all paths and
    /// workloads, as far as the bound goes. Of each workload it is the first point. `access` is
    /// asked when all of that is well.
    ///
    /// # Errors
    /// A word that names no cell, or more cells than [`MOST_PROFILES`] (input); what the kernel
    /// forbids (environment).
    pub fn of(
        plan: &Plan,
        words: &[String],
        access: impl FnOnce() -> Result<Access, String>,
    ) -> Result<Self, Fault> {
        let all = candidates(plan);
        if all.is_empty() {
            let found = "a plan whose workloads are all searched";
            return Err(Fault::input(format!(
                "--profile: found {found}, expected one with rounds: a search has no load of its \
                 own"
            )));
        }
        let mut chosen: BTreeSet<usize> = BTreeSet::new();
        for word in words {
            let named = all.iter().enumerate().filter(|(_, cell)| is_named(plan, **cell, word));
            let named: Vec<usize> = named.map(|(at, _)| at).collect();
            if named.is_empty() {
                return Err(unknown(plan, &all, word));
            }
            chosen.extend(named);
        }
        if words.is_empty() {
            chosen.extend(0..all.len());
        }
        let references = plan.references();
        let base = |at: &usize| {
            let Cell { path, point } = all[*at];
            let base = Cell { path: references.of(path)?, point };
            all.iter().position(|cell| *cell == base)
        };
        let bases: Vec<usize> = chosen.iter().filter_map(base).collect();
        chosen.extend(bases);
        let left_out = chosen.len().saturating_sub(MOST_PROFILES);
        if left_out > 0 && !words.is_empty() {
            return Err(Fault::input(format!(
                "--profile: found {} cells with those that they are compared with, expected at \
                 most {MOST_PROFILES}",
                chosen.len()
            )));
        }
        let cells = chosen.iter().take(MOST_PROFILES).map(|at| CellName::of(plan, all[*at]));
        let access = access().map_err(|why| Fault::environment(format!("--profile: {why}")))?;
        Ok(Self { cells: cells.collect(), left_out, access })
    }

    /// The access that the kernel allows.
    pub(super) fn access(&self) -> Access {
        self.access
    }

    /// A point as it is measured for a profile: its window is 2 s.
    pub fn point(point: &Point) -> Point {
        let mut point = point.clone();
        // Echoes have a length of their own.
        if point.job.kind().pattern != Pattern::Probes {
            point.job.timing.window_ns = WINDOW;
        }
        point
    }

    /// The cells, as a plan numbers them; those that are not in it are left out.
    pub fn cells(&self, plan: &Plan) -> Vec<Cell> {
        let find = |name: &CellName| {
            plan.cells.iter().copied().find(|cell| CellName::of(plan, *cell) == *name)
        };
        self.cells.iter().filter_map(find).collect()
    }

    /// What was left out, and how to have it; `None`: nothing.
    pub fn bounded(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "{} of {} cells are profiled; name others with --profile=PATH/WORKLOAD",
                self.cells.len(),
                self.cells.len() + self.left_out
            )
        })
    }
}

/// The first point of each workload on every path but twins, workload by workload, and what others
/// are compared with first.
fn candidates(plan: &Plan) -> Vec<Cell> {
    // Neither a search nor a tool of others has a window of ours.
    let is_ours = |point: &&Point| point.search.is_none() && point.peer.is_none();
    let references = plan.references();
    let mut workloads: Vec<&str> = Vec::new();
    for point in plan.points.iter().filter(is_ours) {
        if !workloads.contains(&point.workload.as_str()) {
            workloads.push(&point.workload);
        }
    }
    let mut out: Vec<Cell> = Vec::new();
    for workload in workloads {
        let of_workload = |cell: &&Cell| {
            let point = &plan.points[cell.point];
            point.workload == workload && point.search.is_none() && !references.is_twin(cell.path)
        };
        let mut cells: Vec<Cell> = Vec::new();
        for cell in plan.cells.iter().filter(of_workload) {
            match cells.iter_mut().find(|known| known.path == cell.path) {
                Some(known) => known.point = known.point.min(cell.point),
                None => cells.push(*cell),
            }
        }
        cells.sort_by_key(|cell| !references.is_reference(cell.path));
        out.extend(cells);
    }
    out
}

/// Whether `PATH/WORKLOAD` names a cell; `*` stands for any.
fn is_named(plan: &Plan, cell: Cell, word: &str) -> bool {
    let (path, point) = plan.at(cell);
    let is = |name: &str, wanted: &str| wanted == "*" || wanted == name;
    word.split_once('/').is_some_and(|(wanted_path, wanted_workload)| {
        is(&path.name, wanted_path) && is(&point.workload, wanted_workload)
    })
}

fn unknown(plan: &Plan, all: &[Cell], word: &str) -> Fault {
    const MOST_NAMED: usize = 8;
    let name = |cell: &Cell| {
        let (path, point) = plan.at(*cell);
        format!("{}/{}", path.name, point.workload)
    };
    let mut known: Vec<String> = all.iter().take(MOST_NAMED).map(name).collect();
    if all.len() > MOST_NAMED {
        known.push(format!("{} more", all.len() - MOST_NAMED));
    }
    Fault::input(format!(
        "--profile: found `{word}`, expected PATH/WORKLOAD: {}, with * for all",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Path, fixture};
    use serde_json::json;

    use super::*;

    /// Paths `a`, `b`, `c`, of which `b` is the baseline and `c` its twin, and two workloads of
    /// which one has two points.
    fn plan() -> Plan {
        let point = |workload: &str, size: u32| {
            let mut point = fixture::point(workload, fixture::job("rr", json!({"size": size})));
            point.point = [("size".to_owned(), json!(size))].into();
            point
        };
        let paths: Vec<Path> = ["a", "b", "c"].map(fixture::path).into();
        let points = vec![point("rr", 1), point("rr", 64), point("web", 1)];
        let cell = |path| (0..3).map(move |point| Cell { path, point });
        let cells = (0..3).flat_map(cell).collect();
        let (baseline, twin) = (Some("b".to_owned()), Some("c".to_owned()));
        Plan { cells, baseline, twin, ..fixture::plan(paths, points) }
    }

    fn allowed() -> Result<Access, String> {
        Ok(Access::Machine)
    }

    fn chosen(plan: &Plan, words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let profiling = Profiling::of(plan, &words, allowed).map_err(|fault| fault.text)?;
        let name = |cell: &Cell| {
            let (path, point) = plan.at(*cell);
            format!("{}/{} {}", path.name, point.workload, point.point["size"])
        };
        Ok(profiling.cells(plan).iter().map(name).collect())
    }

    #[test]
    fn all_paths_at_the_first_point_of_each_workload() {
        assert_eq!(chosen(&plan(), &[]).unwrap(), ["b/rr 1", "a/rr 1", "b/web 1", "a/web 1"]);
    }

    #[test]
    fn named_cells_come_with_the_baselines() {
        assert_eq!(chosen(&plan(), &["a/web"]).unwrap(), ["b/web 1", "a/web 1"]);
        assert_eq!(chosen(&plan(), &["b/rr"]).unwrap(), ["b/rr 1"]);
        assert_eq!(chosen(&plan(), &["*/rr", "a/rr"]).unwrap(), ["b/rr 1", "a/rr 1"]);
        for bad in ["a", "x/rr", "a/x", "c/rr", ""] {
            let why = chosen(&plan(), &["b/rr", bad]).unwrap_err();
            assert!(why.contains(&format!("found `{bad}`")) && why.contains("a/rr"), "{why}");
        }
    }

    #[test]
    fn there_are_few_of_them() {
        let mut many = plan();
        many.paths = (0..20).map(|n| fixture::path(&format!("p{n}"))).collect();
        many.cells = (0..20).map(|path| Cell { path, point: 0 }).collect();
        (many.baseline, many.twin) = (Some("p7".to_owned()), None);
        let profiling = Profiling::of(&many, &[], allowed).unwrap();
        let cells = profiling.cells(&many);
        assert_eq!((cells.len(), cells[0].path), (MOST_PROFILES, 7));
        assert!(profiling.bounded().unwrap().starts_with("16 of 20 cells"));
        assert!(chosen(&many, &["*/*"]).unwrap_err().contains("found 20 cells"));
    }

    #[test]
    fn the_kernel_is_asked_last() {
        let refuse = || Err("the kernel forbids it".to_owned());
        let fault = Profiling::of(&plan(), &["x/y".to_owned()], refuse).unwrap_err();
        assert!(fault.text.contains("found `x/y`"), "{fault}");
        let fault = Profiling::of(&plan(), &[], refuse).unwrap_err();
        assert_eq!(fault, Fault::environment("--profile: the kernel forbids it"));
    }
}
