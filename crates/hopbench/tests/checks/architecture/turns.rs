//! Tests that measure: those that take a turn alone stand in `scripts/measuring-tests.txt`.

use std::path::PathBuf;

use super::source::{crates, folder, read, rust_files};

/// The words by which a test has the machine to itself.
const ALONE: &[&str] = &["Turn::alone", "inside_alone", "outside_alone"];

/// A test, as far as its turn goes.
#[derive(Debug, PartialEq)]
struct Turns {
    name: String,
    is_alone: bool,
}

fn says_alone(line: &str) -> bool {
    let line = line.trim_start();
    let is_code = !line.starts_with("//") && !line.starts_with("use ");
    is_code && ALONE.iter().any(|word| line.contains(word))
}

/// The tests of a file that run without being asked for, and its other lines that say so. Tests on
/// a cluster are ignored by default, and take no turn.
fn turns(text: &str) -> (Vec<Turns>, Vec<&str>) {
    let (mut tests, mut others) = (Vec::new(), Vec::new());
    let mut attributes: Vec<&str> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if code.starts_with("#[") {
            attributes.push(code);
        } else if !code.starts_with("//") {
            let attributes = std::mem::take(&mut attributes);
            if attributes.contains(&"#[test]") {
                let end = format!("{}}}", " ".repeat(line.len() - code.len()));
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
                let name = code.trim_start_matches("fn ").split('(').next().unwrap_or_default();
                if !attributes.iter().any(|attribute| attribute.starts_with("#[ignore")) {
                    let is_alone = body.into_iter().any(says_alone);
                    tests.push(Turns { name: name.to_owned(), is_alone });
                }
            } else if says_alone(line) {
                others.push(line);
            }
        }
    }
    (tests, others)
}

#[test]
fn the_turns_of_tests_are_found() {
    let text = "use lab::outside_alone;\n#[test]\nfn waits() {\n    Turn::shared();\n}\n\
                #[test]\n#[ignore = \"slow\"]\nfn asked_for() {\n    Turn::alone();\n}\n\
                /// It measures.\n#[test]\nfn measures() {\n    // Its turn.\n    \
                let _turn = Turn::alone();\n}\n\
                fn helper() {\n    Turn::alone()\n}\n";
    let test = |name: &str, is_alone| Turns { name: name.to_owned(), is_alone };
    let found = (vec![test("waits", false), test("measures", true)], vec!["    Turn::alone()"]);
    assert_eq!(turns(text), found);
}

#[test]
fn the_tests_that_measure_are_those_that_are_alone() {
    let list = read(&crates().join("../scripts/measuring-tests.txt"));
    let list: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let own: Vec<&[&str]> =
        list.iter().filter(|line| line[0] == "hopbench").map(|line| &line[1..]).collect();
    assert!(!own.is_empty(), "the list has lines of this package");
    let root = folder("hopbench").join("tests");
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for file in rust_files(&root) {
        let path = file.strip_prefix(&root).expect("a file of these tests").with_extension("");
        let path = path.to_string_lossy().replace('/', "::");
        // The helpers of all tests, which have these words by themselves.
        if path.starts_with("lab::") || path.starts_with("checks::architecture") {
            continue;
        }
        let (target, module) = path.split_once("::").unwrap_or((&path, "main"));
        let module = if module == "main" { "" } else { module };
        let text = read(&file);
        let (tests, others) = turns(&text);
        wrong.extend(others.iter().map(|line| {
            format!("{path}: a helper is alone, where its test should be: {}", line.trim())
        }));
        for test in tests {
            let name = format!("{module}::{}", test.name);
            let name = name.trim_start_matches("::");
            let is_listed = own.iter().any(|line| {
                line[0] == target && line.get(1).is_none_or(|begins| name.starts_with(begins))
            });
            seen += u32::from(test.is_alone && is_listed);
            match (test.is_alone, is_listed) {
                (true, false) => wrong.push(format!("{target} {name}: alone, and not listed")),
                (false, true) => wrong.push(format!("{target} {name}: listed, and not alone")),
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "measuring-tests.txt: {wrong:#?}");
    assert!(seen > 10, "tests that measure were found: {seen}");
}

/// The names of the tests of a file, also of those that run only if they are asked for.
fn names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
        if line.starts_with("#[") {
            is_test |= line == "#[test]";
        } else if std::mem::take(&mut is_test) {
            names.push(line.trim_start_matches("fn ").split('(').next().unwrap_or_default());
        }
    }
    names
}

/// The folder of a package's tests.
fn tests_of(package: &str) -> PathBuf {
    folder(package.trim_start_matches("hopbench-")).join("tests")
}

/// Whether a name of tests of a target begins so, as far as files and the names of functions tell.
fn begins_a_test(package: &str, target: &str, begins: &str) -> bool {
    let (module, test) = begins.rsplit_once("::").unwrap_or(("", begins));
    let tests = tests_of(package);
    let module = if module.is_empty() { "main" } else { module };
    rust_files(&tests).iter().any(|file| {
        let path = file.strip_prefix(&tests).expect("a file of these tests").with_extension("");
        let path = path.to_string_lossy().replace('/', "::");
        let is_here = path == format!("{target}::{module}")
            || (test.is_empty() && path.starts_with(&format!("{target}::{module}::")))
            || (module == "main" && path == target);
        is_here && names(&read(file)).iter().any(|name| name.starts_with(test))
    })
}

#[test]
fn each_line_of_the_list_has_tests() {
    assert!(begins_a_test("hopbench", "checks", "architecture::turns::each_line"));
    assert!(!begins_a_test("hopbench", "checks", "architecture::turns::no_such"));
    assert!(!begins_a_test("hopbench", "checks", "architecture::turns::begins_a"), "a helper");
    let list = read(&crates().join("../scripts/measuring-tests.txt"));
    let words = list.lines().filter(|line| !line.starts_with('#'));
    let wrong: Vec<&str> = words
        .filter(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            [package, target, begins] => !begins_a_test(package, target, begins),
            [package, target] => {
                let tests = tests_of(package);
                !tests.join(target).exists() && !tests.join(format!("{target}.rs")).exists()
            }
            _ => true,
        })
        .collect();
    assert!(wrong.is_empty(), "measuring-tests.txt has lines without a test: {wrong:#?}");
}
