//! The promises of the pages, checked: the tests that SECURITY.md names, links and headings, the
//! size of the pages, and the reference of scenarios.

mod links;
mod pages;
mod scenarios;

/// File and name of each test that a line of the tables names, which ends in both.
fn named(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter_map(|line| {
            let mut parts = line.strip_suffix(" |")?.rsplit('`').skip(1);
            let (name, file) = (parts.next()?, parts.nth(1)?);
            file.starts_with("crates/").then_some((file, name))
        })
        .collect()
}

#[test]
fn each_promise_has_its_test() {
    let root = pages::root();
    let text = pages::text("SECURITY.md");
    let named = named(&text);
    assert!(named.len() > 20, "the tables of SECURITY.md have another form: {named:?}");
    for (file, name) in named {
        let source = std::fs::read_to_string(root.join(file))
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        let at = source
            .find(&format!("fn {name}()"))
            .unwrap_or_else(|| panic!("{file} has no test {name}"));
        let before = &source[..at];
        let above = before
            .lines()
            .rev()
            .take(3)
            .any(|line| line.contains("test]") || line.contains("::test("));
        assert!(above, "{file}: {name} is no test");
    }
}

/// A second try would hide a promise that is broken now and then.
#[test]
fn no_promise_has_a_second_try() {
    let retried = std::fs::read_to_string(pages::root().join("scripts/measuring-tests.txt"))
        .expect("the list of tests that measure");
    let retried: Vec<Vec<&str>> = retried
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').collect())
        .collect();
    assert!(retried.len() > 10, "the list has another form: {retried:?}");
    let text = pages::text("SECURITY.md");
    for (file, name) in named(&text) {
        let mut parts = file.split('/').skip(1);
        let (folder, target) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
        let package =
            if folder == "hopbench" { folder.to_owned() } else { format!("hopbench-{folder}") };
        let target = target.trim_end_matches(".rs");
        let begins = |begin: &str| match begin.rsplit_once("::") {
            // All of a module, which has a file or a folder of its name.
            Some((module, "")) => file.contains(&format!("/{}", module.replace("::", "/"))),
            Some((_, begin)) => name.starts_with(begin),
            None => name.starts_with(begin),
        };
        let has = |line: &&Vec<&str>| {
            let [of, at, rest @ ..] = line.as_slice() else { return false };
            *of == package && *at == target && rest.first().is_none_or(|begin| begins(begin))
        };
        assert_eq!(retried.iter().find(has), None, "{file}: {name}");
    }
}
