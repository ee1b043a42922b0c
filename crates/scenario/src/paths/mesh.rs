//! `mesh:`, how the proxies of paths are set up.
//!
//! ```yaml
//! mesh: {mtls: false}                    # of every proxy
//!
//! mesh:
//!   concurrency: 4                       # for all variants
//!   variants: [plain, stats, http2]      # known ones
//!
//! mesh:
//!   variants:
//!     plain:                             # a known one
//!     mixer: {policy-check: true, policy-report: true}
//! ```

use hopbench_model::{HttpVersion, Variant};

use crate::document::fields::{Fields, joined, named};
use crate::document::node::{At, Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::testbed::annotations;

/// The keys of a variant.
#[rustfmt::skip]
pub(crate) const VARIANT_KEYS: &[&str] = &[
    "mtls", "stats", "access-log", "policy-check", "policy-report", "concurrency",
    "max-connections", "upstream", "lua", "annotations",
];
/// The words of `upstream`.
pub(crate) const UPSTREAMS: [(&str, HttpVersion); 2] =
    [("http1", HttpVersion::Http1), ("http2", HttpVersion::Http2)];
/// Worker threads of a proxy.
pub(crate) const WORKERS: std::ops::RangeInclusive<u32> = 1..=64;

const FORM: &str = "a mapping like {mtls: true, variants: [plain, stats]}";
const VARIANTS: &str =
    "a list of known variants like [plain, stats], or a mapping from names to what they do";
const SETTINGS: &str = "what its proxies do, like {stats: true}";
const KEY: &str = "mesh.variants";

/// The block.
#[derive(Debug)]
pub(crate) struct Mesh {
    /// Where it stands; absent: the scenario has none.
    pub(crate) at: Option<At>,
    /// At least one.
    pub(crate) variants: Vec<Variant>,
}

impl Mesh {
    /// Reads `mesh:`; without it, every proxy is plain. `None` if it could not be read. With
    /// `has_objects`, what makes variants differ may stand in objects of the testbed.
    pub(crate) fn read(
        node: Option<&Node>,
        has_objects: bool,
        problems: &mut Problems,
    ) -> Option<Self> {
        let Some(node) = node else {
            return Some(Self { at: None, variants: vec![Variant::plain()] });
        };
        let before = problems.count();
        let known = [VARIANT_KEYS, &["variants"]].concat();
        let fields = Fields::read(node, "mesh", &known, FORM, problems)?;
        let base = settings(&fields, Variant::plain(), problems);
        let variants = match fields.get("variants") {
            Some(node) => variants(node, &base, has_objects, problems),
            None => vec![Variant { name: base.name_of(), ..base }],
        };
        (problems.count() == before).then_some(Self { at: Some(node.at), variants })
    }
}

/// Names of those that need no description.
pub(crate) fn known_names() -> Vec<String> {
    Variant::known().into_iter().map(|variant| variant.name).collect()
}

/// The variants, which differ: of two that do the same nobody could tell why figures differ.
fn variants(
    node: &Node,
    base: &Variant,
    has_objects: bool,
    problems: &mut Problems,
) -> Vec<Variant> {
    let all = each(node, base, problems);
    if has_objects {
        return all.into_iter().map(|(_, variant)| variant).collect();
    }
    for (number, (at, variant)) in all.iter().enumerate() {
        let same = |other: &&(At, Variant)| {
            Variant { name: variant.name.clone(), ..other.1.clone() } == *variant
        };
        if let Some((_, first)) = all[..number].iter().find(same) {
            let (found, name) =
                (format!("{} with the settings of", quoted(&variant.name)), quoted(&first.name));
            problems.add(*at, KEY, format!("{found} {name}"), "variants that differ");
        }
    }
    all.into_iter().map(|(_, variant)| variant).collect()
}

fn each(node: &Node, base: &Variant, problems: &mut Problems) -> Vec<(At, Variant)> {
    let known = |name: &str| {
        Variant::known().into_iter().find(|v| v.name == name).map(|v| known_on(base, v))
    };
    let mut out: Vec<(At, Variant)> = Vec::new();
    match &node.kind {
        Kind::Map(_) => {
            for (key, value) in named(node, KEY, VARIANTS, problems).unwrap_or_default() {
                let start = known(&key.text);
                if matches!(value.kind, Kind::Null) && start.is_none() {
                    let expected =
                        format!("{SETTINGS}; none of {} is called so", known_names().join(", "));
                    problems.add(value.at, &joined(KEY, &key.text), "nothing", expected);
                    continue;
                }
                let variant =
                    start.unwrap_or_else(|| Variant { name: key.text.clone(), ..base.clone() });
                if matches!(value.kind, Kind::Null) {
                    out.push((key.at, variant));
                } else if let Some(fields) =
                    Fields::read(value, &joined(KEY, &key.text), VARIANT_KEYS, SETTINGS, problems)
                {
                    let described = settings(&fields, variant, problems);
                    if let Some(known) = known(&key.text).filter(|known| *known != described) {
                        let expected = format!(
                            "another name: {} is known as {}",
                            quoted(&key.text),
                            known.summary()
                        );
                        problems.add(
                            key.at,
                            KEY,
                            format!("{} as {}", quoted(&key.text), described.summary()),
                            expected,
                        );
                    }
                    out.push((key.at, described));
                }
            }
        }
        Kind::List(list) if !list.is_empty() => {
            for name in list {
                add_known(name, known, &mut out, problems);
            }
        }
        Kind::Scalar(_) => add_known(node, known, &mut out, problems),
        Kind::Null | Kind::List(_) => problems.add(node.at, KEY, node.shown(), VARIANTS),
    }
    out
}

fn add_known(
    node: &Node,
    known: impl Fn(&str) -> Option<Variant>,
    out: &mut Vec<(At, Variant)>,
    problems: &mut Problems,
) {
    let Some(name) = node.text() else {
        problems.add(node.at, KEY, node.shown(), "the name of a known variant");
        return;
    };
    match known(name) {
        None => problems.unknown(node.at, KEY, name, &known_names()),
        Some(_) if out.iter().any(|(_, variant)| variant.name == name) => {
            problems.add(
                node.at,
                KEY,
                format!("{} a second time", quoted(name)),
                "each variant once",
            );
        }
        Some(variant) => out.push((node.at, variant)),
    }
}

/// What makes a known variant another than the plain one, over what holds for all variants.
fn known_on(base: &Variant, known: Variant) -> Variant {
    fn over<T: PartialEq>(base: T, known: T, plain: &T) -> T {
        if known == *plain { base } else { known }
    }
    let plain = Variant::plain();
    Variant {
        name: known.name,
        mtls: over(base.mtls, known.mtls, &plain.mtls),
        stats: over(base.stats, known.stats, &plain.stats),
        access_log: over(base.access_log, known.access_log, &plain.access_log),
        policy_check: over(base.policy_check, known.policy_check, &plain.policy_check),
        policy_report: over(base.policy_report, known.policy_report, &plain.policy_report),
        concurrency: over(base.concurrency, known.concurrency, &plain.concurrency),
        max_connections: over(base.max_connections, known.max_connections, &plain.max_connections),
        upstream: over(base.upstream, known.upstream, &plain.upstream),
        lua: base.lua.clone(),
        annotations: base.annotations.clone(),
    }
}

/// The keys that are there, over `base`.
fn settings(fields: &Fields<'_>, base: Variant, problems: &mut Problems) -> Variant {
    let mut switch = |name, otherwise| fields.switch(name, problems).unwrap_or(otherwise);
    let (mtls, stats) = (switch("mtls", base.mtls), switch("stats", base.stats));
    let access_log = switch("access-log", base.access_log);
    let policy_check = switch("policy-check", base.policy_check);
    let policy_report = switch("policy-report", base.policy_report);
    let workers =
        fields.checked("concurrency", "1 to 64 worker threads", |n| WORKERS.contains(n), problems);
    let most = fields.checked(
        "max-connections",
        "a whole number from 1 to 4294967295",
        |n| *n >= 1,
        problems,
    );
    let lua = fields.parsed("lua", "a script of Lua", problems);
    let annotations = fields
        .get("annotations")
        .map(|node| annotations(node, &fields.path_of("annotations"), problems))
        .unwrap_or_default();
    Variant {
        name: base.name,
        mtls,
        stats,
        access_log,
        policy_check,
        policy_report,
        concurrency: workers.unwrap_or(base.concurrency),
        max_connections: most.or(base.max_connections),
        upstream: upstream(fields, problems).unwrap_or(base.upstream),
        lua: lua.or(base.lua),
        annotations: base.annotations.into_iter().chain(annotations).collect(),
    }
}

fn upstream(fields: &Fields<'_>, problems: &mut Problems) -> Option<HttpVersion> {
    let names = UPSTREAMS.map(|(name, _)| name);
    let node = fields.get("upstream")?;
    let Some(text) = node.text() else {
        problems.add(node.at, &fields.path_of("upstream"), node.shown(), names.join(" or "));
        return None;
    };
    let found = UPSTREAMS.iter().find(|(name, _)| *name == text).map(|(_, version)| *version);
    if found.is_none() {
        problems.unknown(node.at, &fields.path_of("upstream"), text, &names);
    }
    found
}
