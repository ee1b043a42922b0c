//! A crate's Cargo.toml, as far as the checks need to understand it.

use super::source::{folder, read};

/// What a crate depends on.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    /// Packages that are linked into it.
    pub(crate) linked: Vec<String>,
    /// Packages that only its tests use.
    pub(crate) for_tests: Vec<String>,
    /// Whether the lints of the workspace apply.
    pub(crate) workspace_lints: bool,
}

impl Manifest {
    /// Of a crate.
    pub(crate) fn of(krate: &str) -> Self {
        let mut out = Self::default();
        let mut section = String::new();
        for line in read(&folder(krate).join("Cargo.toml")).lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']').to_owned();
                continue;
            }
            let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
                continue;
            };
            let package = key.trim().split('.').next().unwrap_or_default().to_owned();
            if section == "lints" {
                out.workspace_lints |= package == "workspace" && value.trim() == "true";
            } else if section.ends_with("dev-dependencies") {
                out.for_tests.push(package);
            } else if section.ends_with("dependencies") {
                out.linked.push(package);
            }
        }
        out
    }

    /// The crates of this workspace among `packages`, by folder.
    pub(crate) fn ours(packages: &[String]) -> impl Iterator<Item = &str> {
        packages.iter().filter_map(|package| package.strip_prefix("hopbench-"))
    }
}
