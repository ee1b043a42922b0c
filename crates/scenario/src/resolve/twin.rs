//! The A/A pair: the baseline measured once more, as a path of its own. What the two differ by is
//! noise.

use std::collections::HashSet;

use hopbench_model::{Cell, Path, Plan};

/// Adds the twin of a plan's baseline, with a cell wherever the baseline has one that rounds
/// measure, of workloads that another path has, too. Nothing where there is no such cell.
pub(crate) fn add(plan: &mut Plan) {
    let Some(of) =
        plan.baseline.as_ref().and_then(|name| place(plan, name)).filter(|_| plan.paths.len() > 1)
    else {
        return;
    };
    let path = plan.paths.len();
    let others: HashSet<&str> = plan
        .cells
        .iter()
        .filter(|cell| cell.path != of)
        .map(|cell| plan.points[cell.point].workload.as_str())
        .collect();
    let again = |cell: &&Cell| {
        let point = &plan.points[cell.point];
        cell.path == of && point.search.is_none() && others.contains(point.workload.as_str())
    };
    let cells: Vec<Cell> =
        plan.cells.iter().filter(again).map(|cell| Cell { path, ..*cell }).collect();
    if cells.is_empty() {
        return;
    }
    // No path of a scenario can be called so: their names have no spaces.
    let name = format!("{} again", plan.paths[of].name);
    plan.paths.push(Path { name: name.clone(), ..plan.paths[of].clone() });
    plan.cells.extend(cells);
    plan.twin = Some(name);
}

/// The index of the twin.
pub(crate) fn index(plan: &Plan) -> Option<usize> {
    plan.twin.as_ref().and_then(|name| place(plan, name))
}

/// Keeps the cells of the twin that have something to be compared with. Of the same workload, the
/// baseline's cell must be `kept`, and another path's.
pub(crate) fn follow(plan: &Plan, kept: &mut [bool]) {
    let Some(twin) = index(plan) else { return };
    let baseline = plan.baseline.as_ref().and_then(|name| place(plan, name));
    let workload = |cell: &Cell| plan.points[cell.point].workload.as_str();
    let (mut points, mut compared) = (HashSet::new(), HashSet::new());
    for (cell, _) in
        plan.cells.iter().zip(&*kept).filter(|(cell, kept)| **kept && cell.path != twin)
    {
        if Some(cell.path) == baseline {
            points.insert(cell.point);
        } else {
            compared.insert(workload(cell));
        }
    }
    for (cell, kept) in plan.cells.iter().zip(kept).filter(|(cell, _)| cell.path == twin) {
        *kept = points.contains(&cell.point) && compared.contains(workload(cell));
    }
}

fn place(plan: &Plan, name: &str) -> Option<usize> {
    plan.paths.iter().position(|path| path.name == name)
}
