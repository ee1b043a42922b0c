//! Tests of the layout of every crate: no cycles between modules or folders, no full folders, and
//! few lines of goldens.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::modules::{Modules, roots};
use super::source::{crate_names, crates, folder, golden_files, read, rust_files};

/// The most Rust files in a folder.
const MOST_FILES: usize = 12;

/// The most lines in all golden files together: whoever changes a page reads what became of them.
const MOST_GOLDEN_LINES: usize = 4000;

/// The modules of every crate, by root.
static MODULES: LazyLock<BTreeMap<String, Vec<Modules>>> = LazyLock::new(|| {
    let text = |file: &Path| file.exists().then(|| read(file));
    let of = |krate: &String| {
        roots(&folder(krate).join("src")).iter().map(|root| Modules::of(root, &text)).collect()
    };
    crate_names().into_iter().map(|krate| (krate.clone(), of(&krate))).collect()
});

/// Holds every crate to a rule, which `faults` finds broken.
fn hold(faults: impl Fn(&str) -> Vec<String>) {
    let mut wrong = Vec::new();
    for krate in crate_names() {
        let faults = faults(&krate);
        if !faults.is_empty() {
            wrong.push(format!("{krate}:\n  {}", faults.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_use_each_other_in_one_direction() {
    hold(|krate| MODULES[krate].iter().flat_map(Modules::cycles).collect());
}

#[test]
fn folders_use_each_other_in_one_direction() {
    hold(|krate| MODULES[krate].iter().flat_map(Modules::folder_cycles).collect());
}

#[test]
fn a_folder_has_few_files() {
    hold(|krate| {
        let mut files: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for file in rust_files(&folder(krate).join("src")) {
            *files.entry(file.parent().expect("a folder").to_owned()).or_default() += 1;
        }
        let full = files.into_iter().filter(|(_, count)| *count > MOST_FILES);
        let told = |(folder, count): (PathBuf, usize)| {
            let folder = folder.strip_prefix(crates()).unwrap_or(&folder).display().to_string();
            format!("{folder} has {count} Rust files, at most {MOST_FILES} are allowed")
        };
        full.map(told).collect()
    });
}

#[test]
fn goldens_have_few_lines() {
    let files: Vec<PathBuf> = crate_names().iter().flat_map(|krate| golden_files(krate)).collect();
    for krate in ["kube", "mesh", "report"] {
        assert!(
            files.iter().any(|file| file.starts_with(folder(krate))),
            "no golden of {krate} is seen"
        );
    }
    let mut lines: Vec<(usize, PathBuf)> =
        files.into_iter().map(|file| (read(&file).lines().count(), file)).collect();
    lines.sort_unstable();
    let all: usize = lines.iter().map(|(count, _)| count).sum();
    let longest: Vec<String> = lines
        .iter()
        .rev()
        .take(5)
        .map(|(count, file)| format!("{count} {}", file.display()))
        .collect();
    assert!(
        all <= MOST_GOLDEN_LINES,
        "goldens have {all} lines, at most {MOST_GOLDEN_LINES} are allowed; the longest:\n{}",
        longest.join("\n")
    );
}

/// The modules of made-up files, named from `src`.
fn made_up(files: &[(&str, &str)]) -> Modules {
    let text = |path: &Path| {
        let file = files.iter().find(|(name, _)| Path::new("src").join(name) == path);
        file.map(|(_, text)| (*text).to_owned())
    };
    Modules::of(Path::new("src/lib.rs"), &text)
}

fn cycles(files: &[(&str, &str)]) -> Vec<String> {
    made_up(files).cycles().into_iter().collect()
}

#[test]
fn a_cycle_is_seen_however_it_is_written() {
    let with = |b: &str| {
        cycles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub fn f() { crate::b::g() }"),
            ("b.rs", b),
        ])
    };
    for b in [
        "use crate::a::f; pub fn g() { f() }",
        "use super::a::{self, f}; pub fn g() { f() }",
        "use super::{a::f as h, c::{d, e}}; pub fn g() { h() }",
        "use crate::a; pub fn g() { a::f() }",
        "use crate::a as x; pub fn g() { x::f() }",
        "use crate::a::*; pub fn g() { f() }",
        "pub fn g() { if true { super::a::f() } }",
        "pub fn g() { self::inner::h() } mod inner \
         { pub fn h() { super::super::a::f() } fn i() { super::g() } }",
    ] {
        assert!(!with(b).is_empty(), "{b}");
    }
    for b in [
        "pub fn g() {}",
        "pub fn g() { \"crate::a::f\"; } // crate::a::f",
        "#[cfg(test)] use crate::a::f; pub fn g() {}",
        "pub fn g() {} #[cfg(test)] mod tests { use crate::a::f; }",
        "use crate::a; pub fn g() {}",
        "pub use crate::a::f; pub fn g() {}",
    ] {
        assert_eq!(with(b), Vec::<String>::new(), "{b}");
    }
    assert_eq!(
        with("use crate::a::f; pub fn g() { f() }"),
        ["a -> b (crate::b::g), b -> a (use crate::a::f)"]
    );
}

#[test]
fn a_parent_may_declare_and_pass_on_and_not_share() {
    let child = ("a/b.rs", "use super::Own; pub struct Part(Own);");
    let with = |a: &str| cycles(&[("lib.rs", "mod a;"), ("a.rs", a), child]);
    assert_eq!(with("mod b; pub use b::Part; pub struct Own;"), Vec::<String>::new());
    let both = ["a -> a::b (use b::Part), a::b -> a (use super::Own)"];
    assert_eq!(with("mod b; use b::Part; pub struct Own; fn f(_: Part) {}"), both);
    assert_eq!(
        with("mod b; pub use b::Part; pub struct Own; fn f(_: Part) {}"),
        both,
        "it uses what it passes on"
    );
    let apart = [
        ("lib.rs", "mod a;"),
        ("a.rs", "mod b; mod c; pub use c::Own; use b::Part; fn f(_: Part) {}"),
        child,
    ];
    assert_eq!(
        cycles(&[&apart[..], &[("a/c.rs", "pub struct Own;")]].concat()),
        Vec::<String>::new()
    );
}

#[test]
fn folders_count_with_all_that_is_in_them() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod one; mod two;"),
        ("a/one.rs", "use crate::b::one::X; pub struct Y(X);"),
        ("a/two.rs", "pub struct Z;"),
        ("b.rs", "pub mod one; mod two;"),
        ("b/one.rs", "pub struct X;"),
        ("b/two.rs", "use crate::a::two::Z; struct W(Z);"),
    ];
    assert_eq!(cycles(&files), Vec::<String>::new());
    let expected = ["a -> b (a::one use crate::b::one::X), b -> a (b::two use crate::a::two::Z)"];
    assert_eq!(made_up(&files).folder_cycles().into_iter().collect::<Vec<_>>(), expected);
}
