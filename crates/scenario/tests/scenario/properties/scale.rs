//! Large plans, and inputs that are too large.

use std::fmt::Write;

use hopbench_sys::clock;

use crate::common::{lines, plan, try_plan};

/// Numbers from 1 on, as a list.
fn numbers(count: u32) -> String {
    (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
}

fn paths(count: usize) -> String {
    (0..count).fold(String::new(), |mut out, n| {
        let _ = writeln!(out, "  p{n}: host@a -> bridge@b");
        out
    })
}

/// What a plan may take in a build for tests, which is many times slower than the 1 s that users
/// get: this says that the work grows with the points, not with their square.
const PATIENCE_S: f64 = 20.0;

#[test]
fn ten_thousand_cells() {
    let began = clock::now();
    let text = format!(
        "name: x\npaths:\n{}workloads: {{w: {{rr: {{size: [{}]}}}}}}\n",
        paths(100),
        numbers(100)
    );
    let many_paths = plan(&text);
    let text = format!(
        "name: x\npaths:\n{}workloads: {{w: {{rr: {{size: [{}], connections: [{}]}}}}}}\n",
        paths(1),
        numbers(1000),
        numbers(10)
    );
    let many_points = plan(&text);
    let took = (clock::now() - began) as f64 / 1e9;
    assert_eq!((many_paths.cells.len(), many_points.cells.len()), (10_000, 10_000));
    assert_eq!((many_paths.points.len(), many_points.points.len()), (100, 10_000));
    assert!(took < PATIENCE_S, "{took} s");
}

#[test]
fn what_is_too_large_is_refused() {
    let refused = |text: &str| lines(&try_plan(text).expect_err("too large"));
    let began = clock::now();
    let cells = format!(
        "name: x\npaths:\n{}workloads:\n  w: {{rr: {{size: [{}], connections: [{}], time: \
         [{}]}}}}\n",
        paths(1),
        numbers(1000),
        numbers(1000),
        numbers(1000)
    );
    assert_eq!(
        refused(&cells),
        "x.yaml:5:3: workloads.w.rr: found 1000000000 points on 1 paths, 1000000000 cells so far, \
         expected at most 100 000 cells"
    );
    assert_eq!(
        refused(&format!("name: x\n{}", "#".repeat(1 << 20))),
        "x.yaml: found 1048584 bytes, expected a file of at most 1MiB"
    );
    assert_eq!(
        refused(&"[".repeat(200)),
        "x.yaml:1:33: found lists and mappings in each other, expected at most 32 levels of them"
    );
    let places =
        format!("name: x\nplaces: [{}]\nworkloads: {{w: rr}}\n", vec!["host"; 101].join(", "));
    assert_eq!(refused(&places), "x.yaml:2:9: places: found 10201 paths, expected at most 10000");
    let unknown: String = (0..1000).fold(String::new(), |mut out, n| {
        let _ = writeln!(out, "k{n}: 1");
        out
    });
    let told = refused(&unknown);
    assert_eq!(told.lines().count(), 201);
    assert!(told.ends_with("x.yaml: found 803 more problems, expected none"), "{told}");
    assert!((clock::now() - began) as f64 / 1e9 < PATIENCE_S);
}
