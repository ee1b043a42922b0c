use hopbench_model::{Plan, SearchGoal};
use serde_json::json;

use super::super::hunt::tests::{planned, run};
use super::super::load::Parameter;
use super::*;

/// Two paths that are searched for a knee, and compared.
fn two() -> Plan {
    let goal = SearchGoal::Knee { connections: vec![2, 4, 8], threads: Vec::new(), least_growth: 0.05 };
    let mut plan = planned("rr", json!({"size": "1B"}), goal);
    plan.points[0].search.as_mut().unwrap().equal_load = true;
    plan.paths.push(hopbench_model::Path { name: "y".to_owned(), ..plan.paths[0].clone() });
    plan.cells.push(Cell { path: 1, point: 0 });
    plan
}

fn step(found_on: &str, parameter: &str, load: f64) -> SearchStep {
    SearchStep {
        goal: EQUAL_LOAD.to_owned(),
        step: 9,
        parameter: parameter.to_owned(),
        load,
        why: found_on.to_owned(),
        figure: "requests_per_s".to_owned(),
        value: Some(1.0),
        within: true,
        outcome: None,
    }
}

#[test]
fn visits_count_at_the_load_that_they_were_made_at() {
    let plan = two();
    let mut hunts: Vec<Hunt<'_>> = plan.cells.iter().map(|cell| Hunt::new(&plan, *cell).unwrap()).collect();
    // Both stop growing at four connections.
    for hunt in &mut hunts {
        run(hunt, |loads| loads[0].value.min(4.0));
        assert_eq!(hunt.found(), [Load { parameter: Parameter::Connections, value: 4.0 }]);
    }
    let of_x = plan.cells[0];
    let visit = |found_on, parameter, load| visited(of_x, &step(found_on, parameter, load)).unwrap();
    let old = [visit("x", "connections", 2.0), visit("x", "threads", 4.0), visit("y", "connections", 8.0)];
    assert!(items(&hunts, &old).iter().all(|item| item.done == 0), "other loads");
    let made = [visit("y", "connections", 4.0), visit("y", "connections", 4.0), visit("x", "connections", 4.0)];
    let done: Vec<_> = items(&hunts, &made).iter().map(|item| (item.at, item.found_on, item.done)).collect();
    assert_eq!(done, [(0, 0, 1), (1, 0, 0), (0, 1, 2), (1, 1, 0)]);
}

#[test]
fn a_visit_is_one_even_where_its_load_was_found_on_a_path_that_is_gone() {
    let plan = two();
    assert!(visited(plan.cells[0], &step("gone", "connections", 2.0)).is_some());
    let of_search = SearchStep { goal: "knee".to_owned(), why: "y".to_owned(), ..step("y", "connections", 2.0) };
    assert_eq!(visited(plan.cells[0], &of_search), None);
}
