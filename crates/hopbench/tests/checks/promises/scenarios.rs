//! The reference of scenarios: every key of the schema and of a plan as JSON, every scenario that
//! is shipped, and the examples of all pages.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use hopbench_scenario::{SHIPPED, Shipped};
use serde_json::Value;

use super::pages::{all, text};

const REFERENCE: &str = "docs/scenarios.md";

/// The program, which finds no cluster.
fn hopbench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hopbench"));
    let output = command.args(arguments).env("KUBECONFIG", "/no/such/kubeconfig").output();
    output.unwrap_or_else(|error| panic!("hopbench {arguments:?}: {error}"))
}

/// The names of all properties of a JSON Schema, at any depth.
fn properties(schema: &Value, out: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::Object(named) if name == "properties" => {
                        out.extend(named.keys().cloned());
                        named.values().for_each(|property| properties(property, out));
                    }
                    _ => properties(member, out),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|member| properties(member, out)),
        _ => {}
    }
}

/// How long a scenario takes, as its comment says and a table shortens it: `about 3 min`, `2 to 5.5
/// min`.
fn takes(scenario: &Shipped) -> String {
    let comment: Vec<&str> =
        scenario.text.lines().map_while(|line| line.strip_prefix('#')).collect();
    let comment = comment.join(" ");
    let (before, _) = comment.split_once(" minutes").expect("how long it takes");
    let mut words = before.split_whitespace().rev();
    let most = words.next().expect("a number");
    match (words.next(), words.next()) {
        (Some("to"), Some(least)) => format!("{least} to {most} min"),
        _ => format!("about {most} min"),
    }
}

#[test]
fn every_key_of_the_schema_is_described() {
    let output = hopbench(&["schema"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let schema: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut keys = BTreeSet::new();
    properties(&schema, &mut keys);
    assert!(keys.len() > 80, "the schema has another form: {keys:?}");
    let page = text(REFERENCE);
    let missing: Vec<&String> =
        keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "{REFERENCE} does not describe {missing:?}");
}

/// Whether this machine can measure the plan is not the question.
#[test]
fn every_key_of_a_plan_as_json_is_described() {
    let output = hopbench(&["plan", "quickstart", "--format", "json"]);
    let told = String::from_utf8_lossy(&output.stderr);
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    let page = text(REFERENCE);
    let (_, behind) = page.split_once("**A plan for other programs.**").expect("its paragraph");
    let rows = behind.lines().skip_while(|line| !line.starts_with('|'));
    let table: String = rows.take_while(|line| line.starts_with('|')).collect();
    let keys = plan.as_object().expect("an object").keys();
    let missing: Vec<&String> = keys.filter(|key| !table.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "{REFERENCE} does not describe {missing:?}");
}

#[test]
fn every_shipped_scenario_is_listed() {
    let page = text(REFERENCE);
    for scenario in SHIPPED {
        let row = page.lines().find(|line| line.starts_with(&format!("| [`{}`](", scenario.name)));
        let row = row.unwrap_or_else(|| panic!("{REFERENCE} has no row for {}", scenario.name));
        for part in [scenario.summary().to_owned(), takes(scenario)] {
            assert!(row.contains(&part), "{REFERENCE}: expected `{part}` in {row}");
        }
    }
}

/// The scenario is read without a problem (exit code 2); whether this machine can measure it is not
/// the question.
#[test]
fn the_scenario_of_the_readme_is_one() {
    let page = text("README.md");
    let (_, behind) = page.split_once("```yaml\n").expect("a scenario");
    let (scenario, _) = behind.split_once("```").expect("the end of the scenario");
    assert!(scenario.starts_with("name: "), "{scenario}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.yaml");
    std::fs::write(&file, scenario).expect("a file");
    let output = hopbench(&["plan", &file.to_string_lossy()]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{:?}: {told}", output.status);
}

/// The examples in YAML of a page.
fn examples(text: &str) -> impl Iterator<Item = &str> {
    text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default())
}

/// An example of some keys as a whole scenario.
fn completed(example: &str) -> String {
    let has = |key: &str| example.lines().any(|line| line.starts_with(key));
    let paths = "paths: {direct: bridge@a -> bridge@b, overlay: overlay@a -> overlay@b, \
                 both: bridge@a -> bridge@b mesh both}\n";
    let mut out = String::new();
    if !has("name:") {
        out.push_str("name: example\n");
    }
    out.push_str(example);
    if !has("paths:") && !has("places:") {
        out.push_str(paths);
    }
    if !has("workloads:") {
        out.push_str("workloads: {web: {http: {}}}\n");
    }
    out
}

/// Whether anything can be measured here is not the question, as above.
#[test]
fn the_examples_of_all_pages_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("example.yaml");
    let path = file.to_string_lossy();
    let mut checked = 0;
    for page in all() {
        for example in examples(&page.text) {
            let first = example.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
            // The steps of a CI job, and machines that a plan would connect to.
            if first.starts_with("- ") || example.contains("hosts:") {
                continue;
            }
            // A file about a cluster can say which scenario it is for.
            let named = example.split("hopbench run ").nth(1);
            let named = named.and_then(|rest| rest.split_whitespace().next());
            let (text, arguments) = match first.starts_with("kubernetes:") {
                true => (
                    example.to_owned(),
                    vec!["plan", named.unwrap_or("quickstart"), "--testbed", &*path],
                ),
                false => (completed(example), vec!["plan", &*path]),
            };
            std::fs::write(&file, text).expect("a file");
            let output = hopbench(&arguments);
            let told = String::from_utf8_lossy(&output.stderr);
            let is_read = matches!(output.status.code(), Some(0 | 3));
            assert!(is_read, "{}: {:?}: {told}\n{example}", page.name, output.status);
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} examples were found: the pages have another form");
}
