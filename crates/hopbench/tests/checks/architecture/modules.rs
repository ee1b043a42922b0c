//! The modules of a crate, and which of them use which, as far as the checks need to understand
//! Rust.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::source::code;

/// The modules of a crate without those that exist for tests only. The first is the crate's root.
#[derive(Default)]
pub(crate) struct Modules {
    all: Vec<Module>,
}

/// Who uses whom, and by which words.
type Graph = BTreeMap<usize, BTreeMap<usize, String>>;

#[derive(Default)]
struct Module {
    /// `a::b`; empty for the root.
    path: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// What it defines itself.
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Its tokens, without `use` and without other modules.
    code: Vec<String>,
}

/// One name that a `use` brings in; `*` for all of a module.
struct Use {
    path: Vec<String>,
    name: String,
    is_public: bool,
}

/// Where a path leads.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    /// An item that this module defines.
    ItemOf(usize),
}

impl Modules {
    /// Those under `root`, a `lib.rs` or `main.rs`; `read` gives the text of a file, if there is
    /// one.
    pub(crate) fn of(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut modules = Self { all: vec![Module::default()] };
        let text = read(root).unwrap_or_else(|| panic!("{} is not there", root.display()));
        let folder = root.parent().expect("a folder").to_owned();
        modules.parse(0, &tokens(&code(&text)), &folder, read);
        modules
    }

    /// Modules that use each other, each cycle in a line. A module that only declares and
    /// re-exports its children does not use them.
    pub(crate) fn cycles(&self) -> BTreeSet<String> {
        let graph = self.graph();
        cycles(&graph).iter().map(|cycle| self.told(cycle, &graph)).collect()
    }

    /// The same for folders: a child of a module counts together with all that is below it.
    pub(crate) fn folder_cycles(&self) -> BTreeSet<String> {
        let graph = self.graph();
        let parents = (0..self.all.len()).filter(|parent| self.all[*parent].children.len() > 1);
        let of_parent = |parent: usize| {
            let mut folders = Graph::new();
            for (from, uses) in &graph {
                for (to, words) in uses {
                    if let (Some(a), Some(b)) =
                        (self.child_above(*from, parent), self.child_above(*to, parent))
                        && a != b
                    {
                        let words = format!("{} {words}", self.name(*from));
                        folders.entry(a).or_default().entry(b).or_insert(words);
                    }
                }
            }
            cycles(&folders)
                .into_iter()
                .map(|cycle| self.told(&cycle, &folders))
                .collect::<Vec<_>>()
        };
        parents.flat_map(of_parent).collect()
    }

    /// The child of `parent` that a module is, or is below of.
    fn child_above(&self, mut module: usize, parent: usize) -> Option<usize> {
        loop {
            let above = self.all[module].parent?;
            if above == parent {
                return Some(module);
            }
            module = above;
        }
    }

    fn name(&self, module: usize) -> &str {
        match self.all[module].path.as_str() {
            "" => "crate",
            path => path,
        }
    }

    fn told(&self, cycle: &[usize], graph: &Graph) -> String {
        let next = cycle.iter().cycle().skip(1);
        let step = |(from, to): (&usize, &usize)| {
            format!("{} -> {} ({})", self.name(*from), self.name(*to), graph[from][to])
        };
        cycle.iter().zip(next).map(step).collect::<Vec<_>>().join(", ")
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (from, module) in self.all.iter().enumerate() {
            let mut add = |target: Option<Target>, words: String| {
                if let Some(Target::ItemOf(to)) = target
                    && to != from
                {
                    graph.entry(from).or_default().entry(to).or_insert(words);
                }
            };
            for path in module.paths() {
                add(self.resolve(from, &path, &mut Vec::new()), path.join("::"));
            }
            let used = module.names();
            for item in &module.uses {
                let words = format!("use {}", item.path.join("::"));
                if item.name == "*" {
                    if let Some(Target::Module(of)) =
                        self.resolve(from, &item.path, &mut Vec::new())
                    {
                        used.iter().for_each(|name| {
                            add(self.find(of, name, &mut Vec::new()), format!("{words}::*"));
                        });
                    }
                } else if !item.is_public || used.contains(item.name.as_str()) {
                    add(self.resolve(from, &item.path, &mut Vec::new()), words);
                }
            }
        }
        graph
    }

    /// Where a path leads that stands in module `from`; `None`: out of the crate. `seen` are the
    /// names that were looked for on the way.
    fn resolve(
        &self,
        from: usize,
        path: &[String],
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Target> {
        let mut rest = path;
        let mut at = match path.first()?.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.all[from].parent?,
            first => match self.find(from, first, seen)? {
                Target::Module(module) => module,
                item => return Some(item),
            },
        };
        rest = &rest[1..];
        while let Some((first, more)) = rest.split_first() {
            at = match first.as_str() {
                "super" => self.all[at].parent?,
                name => match self.find(at, name, seen) {
                    Some(Target::Module(module)) => module,
                    Some(item) => return Some(item),
                    // What a macro defines is not seen.
                    None => return Some(Target::ItemOf(at)),
                },
            };
            rest = more;
        }
        Some(Target::Module(at))
    }

    /// What a name means in a module.
    fn find(&self, module: usize, name: &str, seen: &mut Vec<(usize, String)>) -> Option<Target> {
        let look = (module, name.to_owned());
        if seen.contains(&look) {
            return None;
        }
        seen.push(look);
        let Module { children, items, uses, .. } = &self.all[module];
        if let Some(child) = children.get(name) {
            return Some(Target::Module(*child));
        }
        if items.contains(name) {
            return Some(Target::ItemOf(module));
        }
        if let Some(found) = uses
            .iter()
            .filter(|one| one.name == name)
            .find_map(|one| self.resolve(module, &one.path, seen))
        {
            return Some(found);
        }
        uses.iter().filter(|one| one.name == "*").find_map(|one| {
            match self.resolve(module, &one.path, seen) {
                Some(Target::Module(of)) => self.find(of, name, seen),
                _ => None,
            }
        })
    }

    /// Takes in the content of a module; whether it is more than a test.
    fn parse(
        &mut self,
        module: usize,
        tokens: &[String],
        folder: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> bool {
        let word = |at: usize| tokens.get(at).map_or("", String::as_str);
        let (mut at, mut depth) = (0, 0_usize);
        while at < tokens.len() {
            match (word(at), word(at + 1)) {
                ("#", "!") if word(at + 2) == "[" => {
                    let end = group_end(tokens, at + 2);
                    if is_for_tests(&tokens[at + 3..end]) {
                        return false;
                    }
                    at = end;
                }
                ("#", "[") => {
                    let end = group_end(tokens, at + 1);
                    at = if is_for_tests(&tokens[at + 2..end]) {
                        item_end(tokens, end)
                    } else {
                        end
                    };
                }
                ("use", next) if next != "<" => {
                    let is_public = depth == 0 && is_public(&tokens[..at]);
                    at = use_tree(tokens, at + 1, &[], &mut |path, name| {
                        self.all[module].uses.push(Use { path, name, is_public });
                    });
                }
                ("mod", name) if [";", "{"].contains(&word(at + 2)) => {
                    let below = folder.join(name);
                    let child = self.all.len();
                    let path = [self.all[module].path.as_str(), name]
                        .join("::")
                        .trim_start_matches("::")
                        .to_owned();
                    self.all.push(Module { path, parent: Some(module), ..Module::default() });
                    let is_shipped = if word(at + 2) == ";" {
                        let text = read(&below.with_extension("rs"))
                            .unwrap_or_else(|| panic!("no {}", below.display()));
                        self.parse(child, &self::tokens(&code(&text)), &below, read)
                    } else {
                        self.parse(
                            child,
                            &tokens[at + 3..group_end(tokens, at + 2) - 1],
                            &below,
                            read,
                        )
                    };
                    at = if word(at + 2) == ";" { at + 3 } else { group_end(tokens, at + 2) };
                    if is_shipped {
                        self.all[module].children.insert(name.to_owned(), child);
                    } else {
                        self.all.truncate(child);
                    }
                }
                (first, second) => {
                    // `'static` defines nothing.
                    let is_lifetime = at > 0 && word(at - 1) == "'";
                    if depth == 0 && !is_lifetime && defines(first, second) {
                        let name = if first == "macro_rules" { word(at + 2) } else { second };
                        self.all[module].items.insert(name.to_owned());
                    }
                    match first {
                        "{" | "[" | "(" => depth += 1,
                        "}" | "]" | ")" => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    self.all[module].code.push(first.to_owned());
                    at += 1;
                }
            }
        }
        true
    }
}

impl Module {
    /// The paths of more than one segment in its code.
    fn paths(&self) -> Vec<Vec<String>> {
        let word = |at: usize| self.code.get(at).map_or("", String::as_str);
        let mut out = Vec::new();
        for at in 0..self.code.len() {
            let begins = is_name(word(at)) && word(at + 1) == "::" && is_name(word(at + 2));
            if !begins || at > 0 && [".", "::"].contains(&word(at - 1)) {
                continue;
            }
            let more =
                (at + 1..).step_by(2).take_while(|at| word(*at) == "::" && is_name(word(at + 1)));
            let path =
                std::iter::once(at).chain(more.map(|at| at + 1)).map(|at| word(at).to_owned());
            out.push(path.collect());
        }
        out
    }

    /// Names in its code that stand for items: types, and what is called.
    fn names(&self) -> BTreeSet<&str> {
        let word = |at: usize| self.code.get(at).map_or("", String::as_str);
        let is_item = |at: &usize| {
            let before = at.checked_sub(1).map_or("", word);
            let is_called = ["(", "::", "!"].contains(&word(at + 1));
            let is_named = word(*at).starts_with(|c: char| c.is_ascii_uppercase()) || is_called;
            is_name(word(*at)) && is_named && ![".", "::", "fn"].contains(&before)
        };
        (0..self.code.len()).filter(is_item).map(word).collect()
    }
}

/// The shortest cycle through each node that is on one, beginning with its smallest node.
fn cycles(graph: &Graph) -> BTreeSet<Vec<usize>> {
    let through = |start: usize| {
        let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for next in graph.get(&node).into_iter().flat_map(BTreeMap::keys) {
                if *next == start {
                    let back =
                        std::iter::successors(Some(node), |node| came_from.get(node).copied());
                    let mut cycle: Vec<usize> = back.collect();
                    cycle.reverse();
                    let smallest = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or(0);
                    cycle.rotate_left(smallest);
                    return Some(cycle);
                }
                if !came_from.contains_key(next) {
                    came_from.insert(*next, node);
                    queue.push_back(*next);
                }
            }
        }
        None
    };
    graph.keys().filter_map(|start| through(*start)).collect()
}

/// Names, `::`, and every other sign by itself.
fn tokens(code: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut joins = false;
    let mut colon = false;
    for sign in code.chars() {
        let in_name = sign.is_alphanumeric() || sign == '_';
        match out.last_mut() {
            Some(last) if in_name && joins => last.push(sign),
            Some(last) if sign == ':' && colon => last.push(sign),
            _ if sign.is_whitespace() => {}
            _ => out.push(sign.to_string()),
        }
        colon = sign == ':' && !colon;
        joins = in_name;
    }
    out
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether two words begin the definition of an item.
fn defines(first: &str, second: &str) -> bool {
    const KINDS: [&str; 8] = ["fn", "struct", "enum", "trait", "const", "static", "type", "union"];
    const NO_NAMES: [&str; 4] = ["fn", "unsafe", "async", "mut"];
    first == "macro_rules"
        || KINDS.contains(&first) && is_name(second) && !NO_NAMES.contains(&second)
}

/// Whether the words of an attribute leave something out of what is shipped.
fn is_for_tests(attribute: &[String]) -> bool {
    let has = |word: &str| attribute.iter().any(|other| other == word);
    attribute.first().is_some_and(|first| first == "cfg") && has("test") && !has("not")
}

/// Whether a `pub` of any reach stands at the end of `before`.
fn is_public(before: &[String]) -> bool {
    let visibility = match before.last().map(String::as_str) {
        Some(")") => {
            before.iter().rposition(|word| word == "(").map_or(&[][..], |open| &before[..open])
        }
        _ => before,
    };
    visibility.last().is_some_and(|word| word == "pub")
}

/// The place after the group that opens at `at`.
fn group_end(tokens: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (place, word) in tokens.iter().enumerate().skip(at) {
        match word.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    tokens.len()
}

/// The place after the item, field or statement that begins at `at`, with more attributes perhaps.
fn item_end(tokens: &[String], mut at: usize) -> usize {
    #[rustfmt::skip]
    const ITEMS: [&str; 10] = [
        "fn", "unsafe", "async", "impl", "struct", "enum", "trait", "mod", "extern", "macro_rules",
    ];
    let word = |at: usize| tokens.get(at).map_or("", String::as_str);
    while word(at) == "#" {
        at = group_end(tokens, at + 1);
    }
    if word(at) == "pub" {
        at = if word(at + 1) == "(" { group_end(tokens, at + 1) } else { at + 1 };
    }
    let is_value = ["use", "static", "type"].contains(&word(at))
        || word(at) == "const" && word(at + 1) != "fn";
    let is_item = ITEMS.contains(&word(at)) || word(at) == "const";
    while at < tokens.len() {
        match word(at) {
            ";" => return at + 1,
            "," if !is_value && !is_item => return at + 1,
            ")" | "]" | "}" => return at,
            "{" if !is_value => return group_end(tokens, at),
            "(" | "[" | "{" => at = group_end(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Gives `take` each name of the tree of a `use`; the place after it.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    above: &[String],
    take: &mut dyn FnMut(Vec<String>, String),
) -> usize {
    let word = |at: usize| tokens.get(at).map_or("", String::as_str);
    let mut path = above.to_vec();
    loop {
        match word(at) {
            "::" => at += 1,
            "*" => {
                take(path, "*".to_owned());
                return at + 1;
            }
            "{" => {
                let end = group_end(tokens, at);
                at += 1;
                while at < end - 1 {
                    at = use_tree(tokens, at, &path, take);
                    at += usize::from(word(at) == ",");
                }
                return end;
            }
            name => {
                if name != "self" || path.is_empty() {
                    path.push(name.to_owned());
                }
                at += 1;
                if word(at) == "::" {
                    continue;
                }
                let last = path.last().cloned().unwrap_or_default();
                if word(at) == "as" {
                    take(path, word(at + 1).to_owned());
                    return at + 2;
                }
                take(path, last);
                return at;
            }
        }
    }
}

/// The roots of a crate's modules.
pub(crate) fn roots(src: &Path) -> Vec<PathBuf> {
    ["lib.rs", "main.rs"]
        .map(|name| src.join(name))
        .into_iter()
        .filter(|root| root.exists())
        .collect()
}
