//! The maps and the bars of the HTML page: what is coloured, and how much of a large run is shown.

use hopbench_model::{Schedule, Via};
use serde_json::json;

use super::fixture::{self, Costs, Made, Noise};
use super::{figures, render};

/// The page without its styles and scripts.
fn body(made: &Made) -> String {
    let page = render(made, "html");
    let main = page.split("<main>").nth(1).unwrap();
    main.split("</main>").next().unwrap().to_owned()
}

/// Cells of the maps that say better or worse.
fn coloured(page: &str) -> usize {
    (1..=4)
        .map(|n| {
            page.matches(&format!("heat w{n}")).count()
                + page.matches(&format!("heat b{n}")).count()
        })
        .sum()
}

#[test]
fn one_round_colours_nothing() {
    let page = body(&fixture::quickstart(1));
    assert_eq!(coloured(&page), 0);
    assert!(page.contains("One round shows no verdict: nothing is coloured"));
    assert!(page.contains("<small>×"), "the factors are there");
}

#[test]
fn colours_follow_the_verdict_whichever_direction_is_good() {
    let td = |rates: &[(f64, f64)], class: &str| {
        body(&figures::made(rates)).matches(&format!("<td class=\"heat {class}\">")).count()
    };
    let slow = [(8e9, 4e9), (8e9, 4.1e9), (8e9, 4e9)];
    assert_eq!((td(&slow, "w4"), td(&slow, "b4")), (1, 0), "half the rate is worse");
    let fast = slow.map(|(base, other)| (other, base));
    assert_eq!((td(&fast, "w4"), td(&fast, "b4")), (0, 1), "twice the rate is better");
    assert_eq!(td(&[(8e9, 8e9), (8e9, 7.9e9), (7.9e9, 8e9)], "same"), 1);
    // Overlay has more latency and less throughput: worse in both columns.
    let page = body(&fixture::quickstart(3));
    // The answer has such a row, too.
    let (_, page) = page.split_once("<section id=\"overview\">").unwrap();
    let row =
        page.split("<th scope=\"row\">overlay").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(row.contains("heat w") && !row.contains("heat b"), "{row}");
}

#[test]
fn a_page_has_a_bounded_number_of_maps() {
    let kinds = ["host", "bridge"];
    let mut paths = Vec::new();
    for from in kinds {
        for to in kinds {
            paths.push(fixture::path(&format!("{from}-{to}"), (from, "a"), (to, "b"), Via::Direct));
        }
    }
    let job = || fixture::job("stream", json!({}), Schedule::Closed, 1);
    let points =
        (1..=90).map(|n| fixture::point("bulk", &[("threads", json!(n))], job())).collect();
    let run = fixture::run("maps", paths, points, 1, None);
    let costs = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut noise = Noise::default();
    let records = run
        .plan
        .cells
        .iter()
        .map(|cell| fixture::record(&run, *cell, 1, costs, &mut noise))
        .collect();
    let page = body(&Made { run, records });
    assert_eq!(page.matches("<table class=\"map\">").count(), 40);
    assert!(page.contains("The first 40 of 90 maps."));
}

#[test]
fn a_path_beside_a_matrix_leaves_it_whole() {
    let kinds = ["host", "bridge"];
    let between = |from: &str, to: &str| {
        fixture::path(&format!("{from}-{to}"), (from, "a"), (to, "b"), Via::Direct)
    };
    let mut paths: Vec<_> =
        kinds.iter().flat_map(|from| kinds.map(|to| between(from, to))).collect();
    paths.push(fixture::path("odd", ("host", "a"), ("overlay", "b"), Via::ClusterIp));
    let job = fixture::job("stream", json!({}), Schedule::Closed, 1);
    let run = fixture::run("beside", paths, vec![fixture::point("bulk", &[], job)], 3, None);
    let costs = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let made = fixture::measured(run, |_| costs);
    let page = body(&made);
    let (_, overview) = page.split_once("<section id=\"overview\">").unwrap();
    let (overview, _) = overview.split_once("</section>").unwrap();
    let rows: Vec<&str> = overview
        .split("<th scope=\"row\">")
        .skip(1)
        .map(|row| row.split(['<', ' ']).next().unwrap())
        .collect();
    assert_eq!(rows, ["host", "bridge", "odd"]);
    let text = render(&made, "table");
    let head = text.lines().find(|line| line.trim_start().starts_with("from "));
    let head: Vec<&str> = head.expect("a matrix").split_whitespace().collect();
    assert_eq!(head, ["from", "to", "host", "to", "bridge"]);
}

/// A stream workload over so many paths, with records of some of them.
fn many(paths: usize, measured: usize) -> Made {
    let paths = (0..paths)
        .map(|n| fixture::path(&format!("path-{n}"), ("host", "a"), ("host", "b"), Via::Direct));
    let points =
        vec![fixture::point("bulk", &[], fixture::job("stream", json!({}), Schedule::Closed, 1))];
    let run = fixture::run("bars", paths.collect(), points, 1, None);
    let costs = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut noise = Noise::default();
    let cells = run.plan.cells.iter().take(measured);
    let records = cells.map(|cell| fixture::record(&run, *cell, 1, costs, &mut noise)).collect();
    Made { run, records }
}

#[test]
fn bars_are_counted_by_what_has_a_figure() {
    assert!(body(&many(30, 28)).contains("The first 24 of 28 paths."));
    assert!(!body(&many(30, 20)).contains("The first 24"), "20 bars are all there are");
}
