//! The sources of the workspace, as far as the checks need to understand them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the crates.
pub(crate) fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates' folder").to_owned()
}

/// Crates of the workspace that are not in that folder, with where they are.
pub(crate) const BESIDE: &[(&str, &str)] = &[("test-webhook", "tests/cluster/webhook")];

/// The folder of a crate.
pub(crate) fn folder(krate: &str) -> PathBuf {
    match BESIDE.iter().find(|(name, _)| *name == krate) {
        Some((_, path)) => crates().join("..").join(path),
        None => crates().join(krate),
    }
}

/// The manifest of the workspace.
pub(crate) fn workspace() -> String {
    read(&crates().join("../Cargo.toml"))
}

/// The names of the crates, sorted: those of their packages without `hopbench-`, and of their
/// folders.
pub(crate) fn crate_names() -> Vec<String> {
    let mut names: Vec<_> = entries(&crates())
        .iter()
        .filter(|p| p.join("Cargo.toml").exists())
        .map(|p| stem(p))
        .collect();
    names.extend(BESIDE.iter().map(|(name, _)| (*name).to_owned()));
    names.sort();
    names
}

/// The names of files and folders without their endings.
pub(crate) fn stems(folder: &Path) -> BTreeSet<String> {
    entries(folder).iter().map(|p| stem(p)).collect()
}

/// Every Rust file below a folder.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            out.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    out
}

/// The Rust files of a crate that are part of what is shipped: not those of modules that exist for
/// tests only.
pub(crate) fn shipped_files(krate: &str) -> Vec<PathBuf> {
    let files = rust_files(&folder(krate).join("src"));
    let for_tests: Vec<PathBuf> = files.iter().flat_map(|file| test_modules(file)).collect();
    files
        .into_iter()
        .filter(|file| {
            !for_tests.iter().any(|t| *file == t.with_extension("rs") || file.starts_with(t))
        })
        .collect()
}

/// The golden files of a crate's tests: what is in the folders `golden` and `golden-...`.
pub(crate) fn golden_files(krate: &str) -> Vec<PathBuf> {
    let tests = folder(krate).join("tests");
    let folders = if tests.is_dir() { entries(&tests) } else { Vec::new() };
    let goldens =
        folders.into_iter().filter(|path| path.is_dir() && stem(path).starts_with("golden"));
    goldens.flat_map(|folder| entries(&folder)).collect()
}

/// Where the test modules of a file are, without ending.
fn test_modules(file: &Path) -> Vec<PathBuf> {
    let text = read(file);
    let folder = match stem(file).as_str() {
        "lib" | "main" => file.parent().expect("a folder").to_owned(),
        _ => file.with_extension(""),
    };
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let pairs = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    pairs
        .filter_map(|pair| module_of(pair[1])?.strip_suffix(';').map(|name| folder.join(name)))
        .collect()
}

/// `NAME;` or `NAME {` of a line that declares a module.
fn module_of(line: &str) -> Option<&str> {
    let line = line
        .strip_prefix("pub(crate) ")
        .or_else(|| line.strip_prefix("pub(super) "))
        .unwrap_or(line);
    line.strip_prefix("mod ")
}

/// The lines above a file's tests, which stand at its bottom.
pub(crate) fn shipped_text(file: &Path) -> String {
    let text = read(file);
    let lines: Vec<_> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| {
        pair[0].trim() == "#[cfg(test)]"
            && module_of(pair[1].trim()).is_some_and(|rest| rest.ends_with('{'))
    });
    lines[..tests.unwrap_or(lines.len())].join("\n")
}

/// Rust without comments, strings and characters: what is left of them is a blank.
pub(crate) fn code(text: &str) -> String {
    let bytes: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let skip = match rest {
            ['/', '/', ..] => rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
            ['/', '*', ..] => block_comment(rest),
            ['"', ..] => string(rest),
            ['r', '"' | '#', ..] if !out.ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
                raw_string(rest)
            }
            ['\'', '\\', ..] => {
                2 + rest[2..]
                    .iter()
                    .skip(1)
                    .position(|c| *c == '\'')
                    .map_or(rest.len() - 2, |n| n + 2)
            }
            ['\'', _, '\'', ..] => 3,
            _ => 0,
        };
        if skip == 0 {
            out.push(bytes[at]);
            at += 1;
        } else {
            out.push(' ');
            at += skip;
        }
    }
    out
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at + 1 < rest.len() {
        match rest[at..at + 2] {
            ['/', '*'] => (depth, at) = (depth + 1, at + 2),
            ['*', '/'] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// 0 where it is an identifier like `r#type`.
fn raw_string(rest: &[char]) -> usize {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = &rest[2 + hashes..];
    body.windows(end.len())
        .position(|w| w == end)
        .map_or(rest.len(), |n| 2 + hashes + n + end.len())
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.expect("a folder's entry").path()).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}
