use hopbench_model::{Cell, Plan, SearchGoal};
use serde_json::json;

use super::super::load::Parameter;
use super::super::search_driver::tests::{planned, run};
use super::*;
use crate::results::{Searched, TrialId};

/// Two paths that are searched for a knee, and compared.
fn two() -> Plan {
    let goal =
        SearchGoal::Knee { connections: vec![2, 4, 8], threads: vec![1, 2, 3], least_growth: 0.05 };
    let mut plan = planned("rr", json!({"size": "1B"}), goal);
    plan.points[0].search.as_mut().unwrap().equal_load = true;
    plan.paths.push(hopbench_model::Path { name: "y".to_owned(), ..plan.paths[0].clone() });
    plan.cells.push(Cell { path: 1, point: 0 });
    plan
}

/// A trial of an earlier session at an equal load, by its search.
fn visit(at: usize, found_on: &str, (connections, threads): (u32, u32)) -> EarlierTrial {
    let step = SearchStep {
        goal: EQUAL_LOAD.to_owned(),
        step: 9,
        parameter: "connections".to_owned(),
        load: connections.into(),
        why: found_on.to_owned(),
        figure: "requests_per_s".to_owned(),
        value: Some(1.0),
        within: true,
        broken: Vec::new(),
        found: None,
        outcome: None,
    };
    let trial =
        TrialId { path: String::new(), workload: String::new(), point: String::new(), round: 9 };
    EarlierTrial {
        at,
        past: Searched {
            trial,
            step,
            job: json!({"connections": connections, "threads": threads}),
        },
    }
}

#[test]
fn visits_count_at_all_that_was_found() {
    let plan = two();
    let mut drivers: Vec<SearchDriver<'_>> =
        plan.cells.iter().map(|cell| SearchDriver::new(&plan, *cell).unwrap()).collect();
    let found = [(Parameter::Threads, 2.0), (Parameter::Connections, 4.0)];
    let found = found.map(|(parameter, value)| Load { parameter, value });
    // Both stop growing at four connections, and at two threads.
    for driver in &mut drivers {
        run(driver, |loads| {
            loads[0].value.min(4.0) * loads.get(1).map_or(1.0, |threads| threads.value.min(2.0))
        });
        assert_eq!(driver.found(), found);
    }
    let mut old = vec![
        visit(0, "x", (2, 2)),
        visit(0, "x", (4, 1)),
        visit(1, "y", (8, 2)),
        visit(0, "gone", (4, 2)),
    ];
    old.push(visit(0, "x", (4, 2)));
    old[4].past.step.parameter = "threads".to_owned();
    assert!(items(&drivers, &old).iter().all(|item| item.done == 0), "other loads");
    let made = [visit(0, "y", (4, 2)), visit(0, "y", (4, 2)), visit(0, "x", (4, 2))];
    let done: Vec<_> =
        items(&drivers, &made).iter().map(|item| (item.at, item.found_on, item.done)).collect();
    assert_eq!(done, [(0, "x", 1), (1, "x", 0), (0, "y", 2), (1, "y", 0)]);
}

/// What a testbed cannot measure is not part of the plan that it measures, whose cells then have
/// other numbers.
#[test]
fn a_search_that_is_gone_is_compared_with_those_of_its_workload() {
    let whole = two();
    let mut plan = two();
    plan.paths.remove(0);
    plan.cells = vec![Cell { path: 0, point: 0 }];
    let gone = SearchDriver::gone(&whole, whole.cells[0], "no such path".to_owned()).unwrap();
    let mut drivers = vec![SearchDriver::new(&plan, plan.cells[0]).unwrap(), gone];
    run(&mut drivers[0], |_| 1.0);
    let of = |drivers: &[SearchDriver<'_>]| -> Vec<(usize, String)> {
        items(drivers, &[]).iter().map(|item| (item.at, item.found_on.to_owned())).collect()
    };
    let on = |at: usize, found_on: &str| (at, found_on.to_owned());
    assert_eq!(of(&drivers), [on(0, "y"), on(1, "y")], "what x found is not known");
    assert!(!drivers[1].is_open() && drivers[1].next().is_some());
    drivers[1] = SearchDriver::new(&whole, whole.cells[0]).unwrap();
    run(&mut drivers[1], |_| 1.0);
    drivers[1].gone = Some("no such path".to_owned());
    assert_eq!(of(&drivers), [on(0, "y"), on(1, "y"), on(0, "x"), on(1, "x")]);
}

#[test]
fn equal_loads_of_nothing_are_told_of() {
    let plan = two();
    let mut drivers: Vec<SearchDriver<'_>> =
        plan.cells.iter().map(|cell| SearchDriver::new(&plan, *cell).unwrap()).collect();
    let told = |drivers: &[SearchDriver<'_>]| fruitless(drivers, &items(drivers, &[]));
    assert_eq!(
        told(&drivers),
        ["equal-load of w: no search found a load, so no path is measured at another's"]
    );
    run(&mut drivers[0], |_| 1.0);
    assert_eq!(told(&drivers), Vec::<String>::new(), "one is enough");
}
