//! Formats of comparisons, for people and for programs.

use hopbench_report::comparison::{Asked, Comparison, comparison_format};
use serde_json::Value;

use super::{bounded, compared, made};

fn render(comparison: &Comparison, format: &str, all: bool) -> String {
    (comparison_format(format).unwrap().render)(comparison, all)
}

fn slower() -> Comparison {
    let b = made(10, 2, |path| if path == "bridge" { 0.9 } else { 1.0 });
    compared(&made(10, 1, |_| 1.0), &b, &bounded(&["throughput>5%", "p99_service>0.01%"]))
}

#[test]
fn a_terminal_has_80_columns_and_what_changed() {
    let found = slower();
    let table = render(&found, "table", false);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains("bridge bulk"), "{table}");
    assert!(table.contains(&found.counts()), "{table}");
    assert!(
        !table.contains("same within")
            && table.contains("BROKEN throughput>5%: bridge bulk: slower by"),
        "{table}"
    );
    assert!(table.contains("would not have been seen"), "{table}");
    assert!(table.contains("only repeated runs show"), "{table}");
    let all = render(&found, "table", true);
    assert!(all.contains("same within") && all.lines().count() > table.lines().count(), "{all}");
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
    let same = made(5, 1, |_| 1.0);
    let table = render(&compared(&same, &same, &Asked::default()), "table", false);
    assert!(table.contains("a run is compared with itself"), "{table}");
}

#[test]
fn counts_add_up() {
    let found = slower();
    let counts = found.counts();
    let (all, parts) = counts.split_once(": ").unwrap();
    let number = |text: &str| text.split(' ').next().unwrap().parse::<usize>().unwrap();
    assert_eq!(number(all), found.comparisons.len());
    assert_eq!(parts.split(", ").map(number).sum::<usize>(), found.comparisons.len(), "{counts}");
    assert!(parts.contains("slower") && parts.contains(" same"), "{counts}");
}

#[test]
fn a_program_reads_it_whole() {
    let found = slower();
    let json: Value = serde_json::from_str(&render(&found, "json", false)).unwrap();
    assert_eq!(json["schema"], "hopbench.comparison/1");
    assert_eq!(json["comparisons"].as_array().unwrap().len(), found.comparisons.len());
    let worst = &json["comparisons"][0];
    assert_eq!(
        (worst["outcome"].as_str(), worst["is_worse"].as_bool()),
        (Some("worse"), Some(true))
    );
    assert!(
        worst["q"].as_f64().unwrap() <= 0.05 && worst["baseline"]["median"].as_f64().unwrap() > 0.0
    );
    assert_eq!(json["bounds"][0]["bound"], "throughput>5%");
    assert_eq!(json["candidate"][0]["folder"], "results/run-2");
}

#[test]
fn a_comment_has_a_table_and_what_broke() {
    let page = render(&slower(), "markdown", false);
    assert!(
        page.starts_with("### hopbench: ") && page.contains("**Bounds are broken in "),
        "{page}"
    );
    assert!(
        page.contains("| cell | figure | A -&gt; B | verdict |")
            || page.contains("| cell | figure | A -> B | verdict |")
    );
    assert!(page.contains("| bridge bulk | received | "), "{page}");
}

#[test]
fn a_ci_system_reads_a_test_case_a_bound_and_cell() {
    // Names that are markup, end a text or are no characters of XML at all.
    let hostile = "a<b>&\"'\u{1}]]>\u{ffff}é";
    let mut sides = [
        made(10, 1, |_| 1.0),
        made(10, 2, |path| if path.starts_with("bridge") { 0.8 } else { 1.0 }),
    ];
    for made in &mut sides {
        made.run.plan.paths[1].name = hostile.to_owned();
        made.records
            .iter_mut()
            .filter(|r| r.path == "bridge")
            .for_each(|record| record.path = hostile.to_owned());
        made.records.truncate(38);
    }
    sides[1]
        .records
        .retain(|record| record.path != "host" || record.workload != "bulk" || record.round <= 2);
    let found = compared(&sides[0], &sides[1], &bounded(&["throughput>5%", "p99_service>10%"]));
    let text = render(&found, "junit", false);
    let document =
        roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let root = document.root_element();
    assert_eq!(
        (root.tag_name().name(), root.attribute("tests"), root.attribute("failures")),
        ("testsuites", Some("6"), Some("3"))
    );
    let suites: Vec<_> = root.children().filter(|node| node.has_tag_name("testsuite")).collect();
    assert_eq!(
        suites.iter().map(|suite| suite.attribute("name").unwrap()).collect::<Vec<_>>(),
        ["throughput>5%", "p99_service>10%"]
    );
    let first = suites[0];
    assert_eq!(
        ["tests", "failures", "errors", "skipped"].map(|name| first.attribute(name).unwrap()),
        ["4", "2", "0", "1"]
    );
    let case =
        |name: &str| first.children().find(|node| node.attribute("name") == Some(name)).unwrap();
    let shown = hostile.replace(['\u{1}', '\u{ffff}'], "\u{fffd}");
    let failure = case(&format!("{shown} bulk"))
        .children()
        .find(|node| node.has_tag_name("failure"))
        .unwrap();
    assert!(failure.attribute("message").unwrap().starts_with("slower by "), "{text}");
    assert!(
        failure.text().unwrap().starts_with(&format!("throughput>5%: {shown} bulk: slower by ")),
        "{text}"
    );
    let skipped = case("host bulk").children().find(|node| node.has_tag_name("skipped")).unwrap();
    assert_eq!(skipped.attribute("message"), Some("too few rounds (3 needed)"));
    // The pages for people stay what they are as well.
    assert!(render(&found, "markdown", true).contains("a&lt;b&gt;&amp;"));
    assert!(render(&found, "table", true).lines().all(|line| line.chars().count() <= 80));
}
