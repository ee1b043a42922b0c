//! The pages of the repository, and their size.

use std::fs;
use std::path::{Path, PathBuf};

/// The pages beside those in `docs/`.
const AT_ROOT: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
/// The longest README, lines.
const MOST_LINES: usize = 200;
/// The widest line of prose, characters.
const MOST_COLUMNS: usize = 100;

/// A page.
pub(crate) struct Page {
    /// Its path from the root of the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a page, by its path from the root.
pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The pages at the root and in `docs/`.
pub(crate) fn all() -> Vec<Page> {
    let mut names: Vec<String> = fs::read_dir(root().join("docs"))
        .expect("the folder docs")
        .map(|entry| format!("docs/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .filter(|name| name.ends_with(".md"))
        .collect();
    assert!(names.len() >= 5, "docs/ has only {names:?}");
    names.extend(AT_ROOT.map(str::to_owned));
    names.into_iter().map(|name| Page { text: text(&name), name }).collect()
}

/// The lines of a page outside of its code blocks, with their numbers from 1.
pub(crate) fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut out = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            out.push((index + 1, line));
        }
    }
    out
}

#[test]
fn the_readme_is_short() {
    let lines = text("README.md").lines().count();
    assert!(
        lines <= MOST_LINES,
        "README.md has {lines} lines, at most {MOST_LINES} are allowed: move some to docs/"
    );
}

/// Tables and code cannot be wrapped, and `make bench` writes its part itself.
#[test]
fn prose_is_wrapped() {
    for page in all() {
        let mut in_bench = false;
        for (number, line) in prose(&page.text) {
            if line.starts_with("<!-- make bench:") {
                in_bench = line.contains("begin");
            }
            let is_free = in_bench || line.starts_with('|') || line.starts_with("<!--");
            let columns = line.chars().count();
            assert!(
                is_free || columns <= MOST_COLUMNS,
                "{}:{number} has {columns} columns",
                page.name
            );
        }
    }
}
