//! Flame graphs as SVG: a box for each frame, as wide as its samples, above the frame that called
//! it.
//!
//! It is written here and not by the crate `inferno`, which adds 110 kB to a binary with opt-level
//! z and fat LTO. The limit of size of `make dist` has no room for that.

use std::collections::BTreeMap;

use hopbench_analysis::ProfileDifference;
use hopbench_model::{Folded, printable};
use quick_xml::escape::escape;

use super::colour;
use super::words;
use crate::number::percentage;

/// Of the image, in pixels.
const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const HEAD: f64 = 58.0;
const FRAME: f64 = 17.0;
/// A letter of the frames' names.
const LETTER: f64 = 6.7;
/// Narrower boxes are left out.
const NARROWEST: f64 = 0.2;
/// Frames of a stack beyond this are left out.
const DEEPEST: usize = 200;

/// A frame with all that it called.
#[derive(Debug, Default)]
struct Node {
    /// How wide it is, in the unit of the samples.
    width: f64,
    /// The two sides of a difference.
    values: [f64; 2],
    /// The same without what it called, as far as that is shown.
    own: [f64; 2],
    children: BTreeMap<String, Self>,
}

/// What boxes look like and say.
struct Style<'a> {
    colour: &'a dyn Fn(&str, &Node, usize) -> String,
    title: &'a dyn Fn(&str, &Node) -> String,
    /// The width of all.
    all: f64,
    height: f64,
}

/// The flame graph of a profile.
pub fn flame_graph(title: &str, folded: &Folded) -> String {
    let mut root = Node::default();
    for (stack, count) in folded.stacks() {
        root.add(stack, count as f64, [count as f64, 0.0]);
    }
    let all = root.width;
    let said = |name: &str, node: &Node| {
        let share = percentage(node.width / all.max(1.0));
        format!("{}: {} samples, {share} %", words::frame(name), node.width)
    };
    let colour = |name: &str, _: &Node, depth: usize| colour::of_frame(name, depth == 0);
    let note = format!("{all} samples. A box is as wide as the share of the samples that it has.");
    image(title, &note, &root, &colour, &said)
}

/// The flame graph of a difference. A box is as wide as the larger of both values: what only one
/// side has is seen, too. Its colour is of its own time, without what it calls: red grew, blue
/// shrank. So the function that grew stands out, and not all that lead to it.
pub fn difference_graph(difference: &ProfileDifference) -> String {
    let mut root = Node::default();
    for (stack, values) in &difference.stacks {
        root.add(stack, values[0].max(values[1]), *values);
    }
    let most = root.most();
    let said = |name: &str, node: &Node| {
        let told = |values: [f64; 2]| values.map(|value| words::value(value, &difference.unit));
        let ([base, path], [own_base, own_path]) = (told(node.values), told(node.own));
        let [from, to] = [&difference.base, &difference.path];
        let name = words::frame(name);
        format!("{name}: {base} on {from}, {path} on {to}; itself {own_base}, {own_path}")
    };
    let colour = |_: &str, node: &Node, _: usize| {
        colour::of_difference(if most > 0.0 { node.own_growth() / most } else { 0.0 })
    };
    let note = format!(
        "Red: its own time, without what it calls, is more on {}. Blue: less. A box is as wide as \
         the larger of the two values.",
        difference.path
    );
    image(&words::headline(difference), &note, &root, &colour, &said)
}

impl Node {
    /// Adds a stack, from the root on.
    fn add(&mut self, stack: &str, width: f64, values: [f64; 2]) {
        let mut node = self;
        node.count(width, values);
        for frame in stack.split(';').take(DEEPEST) {
            if !node.children.contains_key(frame) {
                node.children.insert(frame.to_owned(), Self::default());
            }
            let Some(child) = node.children.get_mut(frame) else { return };
            node = child;
            node.count(width, values);
        }
        (0..2).for_each(|side| node.own[side] += values[side]);
    }

    fn count(&mut self, width: f64, values: [f64; 2]) {
        self.width += width;
        (0..2).for_each(|side| self.values[side] += values[side]);
    }

    /// By how much its own value grew.
    fn own_growth(&self) -> f64 {
        self.own[1] - self.own[0]
    }

    /// The most that anything from here on grew or shrank by itself.
    fn most(&self) -> f64 {
        let own = self.own_growth().abs();
        self.children.values().map(Self::most).fold(own, f64::max)
    }

    /// Frames above each other, of those that are wide enough.
    fn depth(&self, narrowest: f64) -> usize {
        let wide = self.children.values().filter(|child| child.width >= narrowest);
        wide.map(|child| 1 + child.depth(narrowest)).max().unwrap_or(0)
    }
}

fn image(
    title: &str,
    note: &str,
    root: &Node,
    colour: &dyn Fn(&str, &Node, usize) -> String,
    said: &dyn Fn(&str, &Node) -> String,
) -> String {
    let inner = WIDTH - 2.0 * MARGIN;
    let narrowest = root.width * NARROWEST / inner;
    let height = HEAD + root.depth(narrowest) as f64 * FRAME + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"monospace\" font-size=\"11\" role=\"img\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"24\" font-size=\"16\">{}</text>\n\
         <text x=\"{MARGIN}\" y=\"44\" fill=\"#555555\">{}</text>\n",
        safe(title),
        safe(title),
        safe(note)
    );
    let style = Style { colour, title: said, all: root.width, height };
    boxes(&mut out, &style, root, MARGIN, 0);
    out.push_str("</svg>\n");
    out
}

/// The boxes of all that a frame called, which begins at `x`.
fn boxes(out: &mut String, style: &Style<'_>, node: &Node, x: f64, depth: usize) {
    let mut x = x;
    for (name, child) in &node.children {
        let width = child.width / style.all * (WIDTH - 2.0 * MARGIN);
        // Without any value nothing has a width.
        if width >= NARROWEST {
            let y = style.height - MARGIN - (depth + 1) as f64 * FRAME;
            let fill = (style.colour)(name, child, depth);
            out.push_str(&format!(
                "<g><title>{}</title><rect x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" \
                 fill=\"{fill}\"/>",
                safe(&(style.title)(name, child)),
                (width - 0.2).max(0.1),
                FRAME - 1.0
            ));
            let letters = ((width - 4.0) / LETTER).max(0.0) as usize;
            let label = shortened(&words::plain(name), letters);
            if !label.is_empty() {
                let (x, y) = (x + 2.0, y + 12.0);
                out.push_str(&format!("<text x=\"{x:.1}\" y=\"{y}\">{}</text>", safe(&label)));
            }
            out.push_str("</g>\n");
            boxes(out, style, child, x, depth + 1);
        }
        x += width;
    }
}

/// A name in so many letters; empty where too little of it would be left.
fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    if letters < 3 {
        return String::new();
    }
    name.chars().take(letters - 2).chain("..".chars()).collect()
}

/// A text that is neither markup nor steers.
fn safe(text: &str) -> String {
    escape(printable::line(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use hopbench_analysis::{ProfileSide, profile_difference};

    use super::*;

    /// The boxes of a graph: the title, the left edge and the width.
    fn boxes_of(svg: &str) -> Vec<(String, f64, f64, String)> {
        let document = roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
        let groups = document.descendants().filter(|node| node.has_tag_name("g"));
        let of = |group: roxmltree::Node<'_, '_>| {
            let child = |name: &str| group.children().find(|node| node.has_tag_name(name)).unwrap();
            let number = |name: &str| child("rect").attribute(name).unwrap().parse().unwrap();
            let title = child("title").text().unwrap_or_default().to_owned();
            let fill = child("rect").attribute("fill").unwrap().to_owned();
            (title, number("x"), number("width"), fill)
        };
        groups.map(of).collect()
    }

    #[test]
    fn a_box_is_as_wide_as_its_samples() {
        let text = "client;main 100\nclient;main;send_[k] 300\nsoftirq;rx_[k] 600\n";
        let svg = flame_graph("web on overlay", &Folded::parse(text).unwrap());
        let boxes = boxes_of(&svg);
        let titles: Vec<&str> = boxes.iter().map(|(title, ..)| title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "client: 400 samples, 40 %",
                "main: 400 samples, 40 %",
                "send (kernel): 300 samples, 30 %",
                "softirq: 600 samples, 60 %",
                "rx (kernel): 600 samples, 60 %",
            ]
        );
        let [client, main, send, softirq, _] = &boxes[..] else { panic!("{boxes:?}") };
        assert!((client.2 - 1180.0 * 0.4).abs() < 0.5 && (send.2 - 1180.0 * 0.3).abs() < 0.5);
        assert!((main.1 - client.1).abs() < 0.1 && (softirq.1 - 10.0 - 472.0).abs() < 0.2);
        assert!(svg.contains(">web on overlay</text>") && !svg.contains("<script"), "{svg}");
    }

    #[test]
    fn a_difference_shows_what_only_one_side_has() {
        let parse = |text: &str| Folded::parse(text).unwrap();
        let base = parse("client;gone 50\nclient;same 100\n");
        let path = parse("client;new 100\nclient;same 100\n");
        let side = |folded, label| ProfileSide { label, folded, of_sample: 0.01 };
        let svg =
            difference_graph(&profile_difference(side(&base, "bridge"), side(&path, "overlay")));
        let boxes = boxes_of(&svg);
        let named = |name: &str| {
            let found = boxes.iter().find(|(title, ..)| title.starts_with(&format!("{name}:")));
            found.unwrap_or_else(|| panic!("{name}: {boxes:?}"))
        };
        // Widths of 0.5, 1 and 1 of all.
        assert!((named("gone").2 - 1180.0 * 0.2).abs() < 0.5, "{boxes:?}");
        assert!((named("new").2 - 1180.0 * 0.4).abs() < 0.5, "{boxes:?}");
        assert_eq!(named("new").3, "#d63030", "it grew by the most");
        assert_eq!([&named("same").3, &named("client").3], ["#f0f0f0", "#f0f0f0"]);
        let [red, _, blue] =
            [1, 3, 5].map(|at| u8::from_str_radix(&named("gone").3[at..at + 2], 16).unwrap());
        assert!(blue > red, "{:?}", named("gone"));
    }

    #[test]
    fn names_of_others_are_no_markup_and_nothing_is_deep_enough_to_overflow() {
        let mut folded = Folded::default();
        folded.add(["client", "</title><script>alert(1)</script>\u{202e}"], 5);
        let deep: Vec<String> = (0..100_000).map(|n| n.to_string()).collect();
        folded.add(deep.iter().map(String::as_str), 5);
        let svg = flame_graph("<b>&\"", &folded);
        assert!(!svg.contains("<script") && !svg.contains('\u{202e}') && !svg.contains("<b>"));
        assert!(boxes_of(&svg).len() < DEEPEST + 10);
        let empty = flame_graph("nothing", &Folded::default());
        assert!(boxes_of(&empty).is_empty() && !empty.contains("NaN"), "{empty}");
    }
}
