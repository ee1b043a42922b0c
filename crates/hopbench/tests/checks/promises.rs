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
