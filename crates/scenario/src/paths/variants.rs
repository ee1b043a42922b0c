//! Paths with proxies, one for each variant: `both.plain`, `both.stats` ...

use std::collections::HashMap;

use hopbench_model::{MeshMode, Path, Variant};

use super::matrix::MOST_PATHS;
use super::mesh::Mesh;
use crate::document::node::{At, quoted};
use crate::document::problem::{Problems, shortened};

/// The paths with their variants. Where there are several, a path with proxies becomes one for each
/// of them, in their order; paths without proxies stay as they are.
pub(crate) fn split(
    paths: Vec<(At, Path)>,
    mesh: &Mesh,
    problems: &mut Problems,
) -> Vec<(At, Path)> {
    let proxied = paths.iter().filter(|(_, path)| path.is_proxied()).count();
    if let (Some(at), 0) = (mesh.at, proxied) {
        let modes: Vec<&str> =
            MeshMode::ALL.iter().filter(|mode| !mode.is_none()).map(|mode| mode.name()).collect();
        let expected = format!("one with mesh {} or via gateway@NODE", modes.join(", "));
        problems.add(at, "mesh", "no path that it is for", expected);
    }
    let count = paths.len() - proxied + proxied.saturating_mul(mesh.variants.len());
    if let (Some(at), true) = (mesh.at, mesh.variants.len() > 1 && count > MOST_PATHS) {
        let found = format!("{proxied} paths with {} variants", mesh.variants.len());
        problems.add(at, "mesh.variants", found, format!("at most {MOST_PATHS} paths"));
        return Vec::new();
    }
    let split = paths.into_iter().flat_map(|(at, path)| {
        let variants = if path.is_proxied() { mesh.variants.as_slice() } else { &[] };
        let paths = match variants {
            [] => vec![path],
            [one] => vec![Path { variant: Some(one.clone()), ..path }],
            several => several.iter().map(|variant| with(&path, variant)).collect(),
        };
        paths.into_iter().map(move |path| (at, path))
    });
    split.collect()
}

fn with(path: &Path, variant: &Variant) -> Path {
    Path { name: name(&path.name, variant), variant: Some(variant.clone()), ..path.clone() }
}

/// The name of a path for a variant.
fn name(path: &str, variant: &Variant) -> String {
    format!("{path}.{}", variant.name)
}

/// Says of every name that several paths have that they do.
pub(crate) fn unique(paths: &[(At, Path)], problems: &mut Problems) {
    let mut seen: HashMap<&str, &Path> = HashMap::new();
    for (at, path) in paths {
        let Some(other) = seen.insert(&path.name, path) else {
            continue;
        };
        let of = |path: &Path| {
            let variant = path.variant.as_ref()?;
            let whole = path.name.strip_suffix(&name("", variant))?;
            Some(format!("; one is {} with the variant {}", quoted(whole), quoted(&variant.name)))
        };
        let split = of(path).or_else(|| of(other)).unwrap_or_default();
        problems.add(
            *at,
            "paths",
            format!("two paths called {}{split}", quoted(&path.name)),
            "each path once",
        );
    }
}

/// Says that no path is called `found`; of one that became several, which they are.
pub(crate) fn unknown<'p>(
    at: At,
    key: &str,
    found: &str,
    paths: impl IntoIterator<Item = &'p Path>,
    problems: &mut Problems,
) {
    let (mut names, mut parts) = (Vec::new(), Vec::new());
    for path in paths {
        names.push(path.name.as_str());
        if path.variant.as_ref().is_some_and(|variant| path.name == name(found, variant)) {
            parts.push(path.name.as_str());
        }
    }
    if parts.is_empty() {
        problems.unknown(at, key, found, &names);
    } else {
        let found = format!("{}, which is a path for each variant", quoted(found));
        problems.add(at, key, found, format!("one of {}", shortened(&parts)));
    }
}

/// Whether this can be the name of one of these paths, or of a path that a variant makes of one of
/// them.
pub(crate) fn may_be(name: &str, paths: &[&str]) -> bool {
    let part = |path: &&str| {
        name.strip_prefix(*path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    paths.iter().any(part)
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Via, fixture};

    use super::*;

    fn path(name: &str, via: Via, mesh: MeshMode) -> (At, Path) {
        let at = At { line: name.len(), column: 1 };
        (at, Path { via, mesh, ..fixture::path(name) })
    }

    fn paths() -> Vec<(At, Path)> {
        vec![
            path("both", Via::Direct, MeshMode::Both),
            path("plain", Via::ClusterIp, MeshMode::None),
            path("gateway", Via::Gateway("c".to_owned()), MeshMode::None),
        ]
    }

    fn mesh(names: &[&str]) -> Mesh {
        let variant = |name: &&str| Variant { name: (*name).to_owned(), ..Variant::plain() };
        Mesh { at: Some(At::default()), variants: names.iter().map(variant).collect() }
    }

    fn told(run: impl FnOnce(&mut Problems)) -> Vec<String> {
        let mut problems = Problems::new("x.yaml");
        run(&mut problems);
        problems
            .finish(None::<()>)
            .expect_err("no result was given")
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn paths_with_proxies_are_split_and_the_others_stay() {
        let mut problems = Problems::new("");
        let split = split(paths(), &mesh(&["one", "two"]), &mut problems);
        let names: Vec<&str> = split.iter().map(|(_, path)| path.name.as_str()).collect();
        assert_eq!(names, ["both.one", "both.two", "plain", "gateway.one", "gateway.two"]);
        let variants: Vec<_> =
            split.iter().map(|(_, p)| p.variant.as_ref().map(|v| v.name.as_str())).collect();
        assert_eq!(variants, [Some("one"), Some("two"), None, Some("one"), Some("two")]);
        assert!(
            split.iter().zip([4, 4, 5, 7, 7]).all(|((at, _), line)| at.line == line),
            "where they stood"
        );
        assert_eq!(problems.count(), 0);
    }

    #[test]
    fn one_variant_leaves_names_alone() {
        let mut problems = Problems::new("");
        let split = split(paths(), &mesh(&["only"]), &mut problems);
        let all: Vec<_> =
            split.iter().map(|(_, p)| (p.name.as_str(), p.variant.is_some())).collect();
        assert_eq!(all, [("both", true), ("plain", false), ("gateway", true)]);
        assert_eq!(problems.count(), 0);
    }

    #[test]
    fn names_that_collide_after_splitting_are_told_with_the_reason() {
        let mut all = paths();
        all.push(path("both.two", Via::Direct, MeshMode::None));
        for all in [all.clone(), all.into_iter().rev().collect()] {
            let lines = told(|problems| {
                let split = split(all, &mesh(&["one", "two"]), problems);
                unique(&split, problems);
            });
            assert_eq!(lines.len(), 1);
            assert!(
                lines[0].contains(
                    "found two paths called `both.two`; one is `both` with the variant `two`, \
                     expected each path once"
                ),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn who_names_a_path_that_was_split_is_told_its_parts() {
        let split = split(paths(), &mesh(&["one", "two"]), &mut Problems::new(""));
        let of = |name: &str| {
            told(|problems| {
                unknown(At::default(), "baseline", name, split.iter().map(|(_, p)| p), problems);
            })
        };
        assert_eq!(
            of("both"),
            ["x.yaml: baseline: found `both`, which is a path for each variant, expected one of \
              both.one, both.two"]
        );
        assert_eq!(
            of("both.owo"),
            ["x.yaml: baseline: found `both.owo`, expected one of both.one, both.two, plain, \
              gateway.one, gateway.two; did you mean `both.two`?"]
        );
    }

    #[test]
    fn variants_do_not_multiply_paths_without_end() {
        let many: Vec<(At, Path)> =
            (0..2001).map(|n| path(&format!("p{n}"), Via::Direct, MeshMode::Both)).collect();
        let lines = told(|problems| {
            split(many.clone(), &mesh(&["a", "b", "c", "d", "e"]), problems);
        });
        assert_eq!(
            lines,
            ["x.yaml: mesh.variants: found 2001 paths with 5 variants, expected at most 10000 \
              paths"]
        );
        assert_eq!(split(many, &mesh(&["a", "b", "c", "d"]), &mut Problems::new("")).len(), 8004);
    }
}
