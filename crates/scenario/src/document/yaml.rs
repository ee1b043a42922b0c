//! YAML text to a tree of nodes, within bounds.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::node::{At, Key, Kind, Node};
use super::problem::Problems;

/// The longest file that is read, bytes.
pub const MOST_BYTES: usize = 1 << 20;
/// The deepest nesting that is read.
const MOST_NESTING: usize = 32;

/// Reads the one document of `text`; `None` after a problem that leaves no tree to look at.
pub(crate) fn load(text: &str, problems: &mut Problems) -> Option<Node> {
    if text.len() > MOST_BYTES {
        problems.add(At::default(), "", format!("{} bytes", text.len()), "a file of at most 1MiB");
        return None;
    }
    let mut tree = Tree::default();
    let last = lines(text);
    for event in Parser::new_from_str(text) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => {
                let info = error.info();
                problems.add(at(error.marker(), last), "", syntax_error(info), form(info));
                return None;
            }
        };
        let at = at(&span.start, last);
        match event {
            Event::DocumentStart(_) if tree.root.is_some() => {
                problems.add(at, "", "a second document", "one scenario a file");
                break;
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
            Event::Alias(_) => {
                refuse(at, "an alias", problems);
                tree.value(Node::new(at, Kind::Null), problems);
            }
            Event::Scalar(text, style, anchor, tag) => {
                special(at, anchor, tag.is_some(), problems);
                let null = style == ScalarStyle::Plain
                    && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let kind = if null { Kind::Null } else { Kind::Scalar(text.into_owned()) };
                tree.value(Node { at, kind, quoted: style != ScalarStyle::Plain }, problems);
            }
            Event::SequenceStart(anchor, tag) => {
                special(at, anchor, tag.is_some(), problems);
                tree.open.push(Open::new(at, false));
            }
            Event::MappingStart(anchor, tag) => {
                special(at, anchor, tag.is_some(), problems);
                tree.open.push(Open::new(at, true));
            }
            Event::SequenceEnd | Event::MappingEnd => tree.close(problems),
        }
        if tree.open.len() > MOST_NESTING {
            problems.add(at, "", "lists and mappings in each other", "at most 32 levels of them");
            return None;
        }
    }
    if tree.root.is_none() {
        problems.add(
            At::default(),
            "",
            "an empty file",
            "a scenario: a mapping with name, paths and workloads",
        );
    }
    tree.root
}

/// Where something stands in a text of so many lines: the scanner counts the end of the file as a
/// line or two.
fn at(marker: &Marker, last: usize) -> At {
    At { line: marker.line().min(last), column: marker.col() + 1 }
}

/// Lines of a text, that after its last line break included.
fn lines(text: &str) -> usize {
    text.replace("\r\n", "\n").matches(['\n', '\r']).count() + 1
}

fn syntax_error(info: &str) -> String {
    match info {
        "" => "a syntax error".to_owned(),
        info => format!("a syntax error ({info})"),
    }
}

/// What is expected in place of a syntax error. Values with brackets, like a set of nodes, end
/// between braces where the bracket begins.
fn form(info: &str) -> &'static str {
    if info.contains("while parsing a flow mapping") {
        "YAML: between braces, a value with [ ] or a comma stands in quotes, like \
         of: \"nodes [b, c]\" or to: \"bridge@[b, c]\""
    } else {
        "YAML"
    }
}

/// Anchors and tags do not change what is read, but who writes them expects that they do.
fn special(at: At, anchor: usize, tag: bool, problems: &mut Problems) {
    if anchor > 0 {
        refuse(at, "an anchor", problems);
    }
    if tag {
        refuse(at, "a tag", problems);
    }
}

fn refuse(at: At, what: &str, problems: &mut Problems) {
    problems.add(
        at,
        "",
        what,
        "the value itself: anchors, aliases and tags are not used in scenarios",
    );
}

/// The tree under construction.
#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    root: Option<Node>,
}

/// A list or mapping whose end was not seen yet.
struct Open {
    at: At,
    is_map: bool,
    /// The key that waits for its value.
    key: Option<Key>,
    /// The value that comes next belongs to a key that cannot be used.
    skips: bool,
    list: Vec<Node>,
    map: Vec<(Key, Node)>,
}

impl Open {
    fn new(at: At, is_map: bool) -> Self {
        Self { at, is_map, key: None, skips: false, list: Vec::new(), map: Vec::new() }
    }
}

impl Tree {
    /// Takes a complete value to where it belongs.
    fn value(&mut self, mut node: Node, problems: &mut Problems) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        if !open.is_map {
            open.list.push(node);
            return;
        }
        match open.key.take() {
            _ if open.skips => open.skips = false,
            Some(key) => {
                if matches!(node.kind, Kind::Null) {
                    // Nothing has no place of its own.
                    node.at = key.at;
                }
                open.map.push((key, node));
            }
            None => {
                let text = match node.kind {
                    Kind::Scalar(text) => text,
                    Kind::Null => String::new(),
                    _ => {
                        problems.add(node.at, "", node.shown(), "a word as the key");
                        open.skips = true;
                        return;
                    }
                };
                open.key = Some(Key { at: node.at, text });
            }
        }
    }

    fn close(&mut self, problems: &mut Problems) {
        if let Some(Open { at, is_map, list, map, .. }) = self.open.pop() {
            let kind = if is_map { Kind::Map(map) } else { Kind::List(list) };
            self.value(Node::new(at, kind), problems);
        }
    }
}
