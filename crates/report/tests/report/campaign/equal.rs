//! Every path at the loads that were found.

use hopbench_model::SearchOutcome;

use super::fixture::Made;
use super::render;
use super::searched::{self, At, SLO, searched};
use super::searches::{path, scripted, search};

#[test]
fn a_terminal_has_every_path_at_the_loads_that_were_found() {
    let page = render(&searched(), "table");
    let found = search(&searched(), "web", "rate");
    for load in &found.equal_load {
        let (_, own) = page
            .split_once(&format!(
                "  every path at {:.0}/s, found on {}\n",
                load.load, load.found_on
            ))
            .unwrap();
        let own = own.split("every path").next().unwrap();
        for path in &load.paths {
            assert!(
                own.lines().any(|line| line.trim_start().starts_with(&path.path)),
                "{}: {own}",
                path.path
            );
        }
    }
    assert_eq!(page.matches("every path at").count(), found.equal_load.len());
    // Of a knee the setting has words of its own, and nothing is too wide.
    let mut knee = searched();
    for record in
        knee.records.iter_mut().filter(|record| record.workload == "pool" && record.path == "relay")
    {
        let step = record.search.as_mut().unwrap();
        (step.goal, step.why) = ("equal-load".to_owned(), "direct".to_owned());
    }
    let page = render(&knee, "table");
    assert!(
        page.contains("every path at connections=")
            && page.lines().all(|line| line.chars().count() <= 80),
        "{page}"
    );
}

#[test]
fn every_path_is_shown_at_the_loads_of_the_others() {
    let made = searched();
    let slo = search(&made, "web", "rate");
    let rows: Vec<&str> = slo.equal_load.iter().map(|row| row.found_on.as_str()).collect();
    assert_eq!(rows, ["direct", "again", "overlay"]);
    let on_overlay = &slo.equal_load[2];
    assert_eq!(Some(on_overlay.load), path(&slo, "overlay").found());
    assert_eq!(
        on_overlay.paths.iter().map(|p| (p.path.as_str(), p.trials)).collect::<Vec<_>>(),
        [("direct", 3), ("again", 3), ("overlay", 3), ("relay", 3)]
    );
    // The middle of three trials, 1, 2 and 3 % above.
    let p99 = on_overlay.paths[0].figure("response_p99_ns").unwrap().spread.median;
    assert!((p99 / searched::p99_ns(20_000.0, on_overlay.load) / 1.02 - 1.0).abs() < 1e-6, "{p99}");
    let markdown = render(&made, "markdown");
    assert!(markdown.contains("/s, found on overlay:\n"), "{markdown}");
    assert!(search(&made, "half", "rate").equal_load.is_empty());
}

#[test]
fn the_threads_that_were_found_belong_to_a_setting() {
    let mut made = searched();
    let at = At {
        path: 2,
        point: searched::KNEE,
        goal: "equal-load",
        parameter: "connections",
        figure: "requests_per_s",
    };
    let mut trial = searched::trial(&made.run, at, 40, 64.0, "direct", 9000.0);
    trial.job["threads"] = 2.into();
    made.records.push(trial);
    let knee = search(&made, "pool", "connections");
    assert_eq!(
        (knee.equal_load.len(), knee.equal_load[0].setting.as_str()),
        (1, "connections=64 threads=2")
    );
    assert_eq!(knee.equal_load[0].paths[0].path, "overlay");
    assert!(render(&made, "html").contains("connections=64 threads=2, found on direct"));
    // It stands with the connections, and nothing is missing with the threads.
    made.run.plan.points[searched::KNEE].search.as_mut().unwrap().equal_load = true;
    assert_eq!(search(&made, "pool", "threads").no_equal_load, "");
}

#[test]
fn that_there_is_nothing_at_equal_load_is_said() {
    let said = |made: &Made, text: &str| {
        for format in ["table", "markdown", "html", "csv", "json"] {
            let page = render(made, format);
            let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(text), "{format}: {page}");
        }
    };
    let mut none = scripted(&[(0, 1000.0, 1000.0, 1020.0), (2, 800.0, 800.0, 816.0)]);
    for record in &mut none.records {
        let step = record.search.as_mut().unwrap();
        step.outcome = step.outcome.map(|_| SearchOutcome::BelowLowest);
    }
    let open = none.clone();
    none.run.plan.cells.retain(|cell| [0, 2].contains(&cell.path));
    said(&none, "every path at equal load was asked for, but no search found a load");
    // Paths without a trial have not ended.
    said(&open, "every path at equal load was asked for and not measured: a search has not ended");
    // Nobody asked, or it was made.
    none.run.plan.points[SLO].search.as_mut().unwrap().equal_load = false;
    for made in [&none, &searched()] {
        assert!(!render(made, "table").contains("equal load was asked for"));
    }
}
