//! A document as HTML. Texts are escaped by their type; [`body`] also spells out what steers the
//! direction of text or is invisible.

mod table;
mod text;

use hopbench_model::printable;
use maud::{Markup, PreEscaped, html};

use self::text::line;
use super::block::{Block, Document, Form, Part, Weight};
use super::chart::Chart;
use super::table::Kind;

/// More lines of a list than this are counted.
const MOST_ITEMS: usize = 200;
/// Maps beside each other, at most.
const MOST_MAPS: usize = 40;
/// More links than this are no way: those in the middle are left out.
const MOST_LINKS: usize = 20;
/// Links that are kept at the end.
const LAST_LINKS: usize = 6;
/// Facts that are shown without unfolding.
const FIRST_FACTS: usize = 3;
/// The id of the fold of facts.
const FACTS: &str = "facts";
/// A listing longer than this is cut, bytes.
const LONGEST_LISTING: usize = 200_000;

/// The document below `kicker`, with `foot` as its last line.
pub(crate) fn body(document: &Document, kicker: &str, foot: &str) -> Markup {
    let links = links(&document.blocks);
    let is_shown = |at: usize| {
        let last = at + LAST_LINKS >= links.len();
        links.len() <= MOST_LINKS || at < MOST_LINKS - LAST_LINKS || last
    };
    let markup = html! {
        header {
            p class="kicker" { (kicker) }
            h1 { (document.title) }
            (facts(&document.facts))
            nav aria-label="Sections" {
                @for (at, (id, title)) in links.iter().enumerate() {
                    @if is_shown(at) {
                        a href={ "#" (id) } { (title) } " "
                    }
                }
            }
        }
        main { (blocks(2, &document.blocks)) }
        footer { (foot) }
    };
    PreEscaped(printable::lines(&markup.into_string()).into_owned())
}

/// The facts in a fold: what a reader came for is the answer below.
fn facts(facts: &[[String; 2]]) -> Markup {
    let first: Vec<String> =
        facts.iter().take(FIRST_FACTS).map(|[name, value]| format!("{name}: {value}")).collect();
    html! {
        @if !facts.is_empty() {
            details id=(FACTS) class="facts" {
                summary { (first.join(" · ")) }
                (anchor(FACTS))
                dl class="facts" {
                    @for [name, value] in facts { div { dt { (name) } dd { (value) } } }
                }
            }
        }
    }
}

/// Every chart of the document.
pub(crate) fn charts(blocks: &[Block]) -> Vec<&Chart> {
    let mut out = Vec::new();
    for block in blocks {
        match block {
            Block::Part(part) => out.extend(charts(&part.blocks)),
            Block::Chart(chart, _) => out.push(chart),
            _ => {}
        }
    }
    out
}

/// JSON for a script element: no character in it can end the element or begin a comment.
pub(crate) fn json<T: serde::Serialize>(data: &T) -> Markup {
    let text = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    // In JSON these only occur inside strings, where the escapes mean the same.
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    PreEscaped(printable::line(&text).into_owned())
}

/// Ids and titles of the parts that are not folded away.
fn links(blocks: &[Block]) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    for block in blocks {
        if let Block::Part(part) = block
            && part.form == Form::Open
        {
            out.push((
                part.id.as_str(),
                part.title.runs.first().map_or("", |(_, text)| text.as_str()),
            ));
            out.extend(links(&part.blocks));
        }
    }
    out
}

fn blocks(level: u8, blocks: &[Block]) -> Markup {
    let is_map = |block: &Block| matches!(block, Block::Table(table) if table.kind == Kind::Map);
    let is_chart = |block: &Block| matches!(block, Block::Chart(..));
    let beside = |a: &Block, b: &Block| (is_chart(a) && is_chart(b)) || (is_map(a) && is_map(b));
    html! {
        @for group in blocks.chunk_by(beside) {
            @if is_chart(&group[0]) {
                div class="plots" { @for one in group { (block(level, one)) } }
            } @else if is_map(&group[0]) {
                div class="maps" {
                    @for one in group.iter().take(MOST_MAPS) { (block(level, one)) }
                }
                @if group.len() > MOST_MAPS {
                    p class="note" { "The first " (MOST_MAPS) " of " (group.len()) " maps." }
                }
            } @else {
                (block(level, &group[0]))
            }
        }
    }
}

fn block(level: u8, block: &Block) -> Markup {
    match block {
        Block::Part(one) => part(level, one),
        Block::Paragraph(Weight::Plain, text) => html! { p { (line(text)) } },
        Block::Paragraph(Weight::Note, text) => html! { p class="note" { (line(text)) } },
        Block::Paragraph(Weight::Alert, text) => {
            html! { p class="alert" { strong { "Note:" } " " (line(text)) } }
        }
        Block::List(lines) => html! {
            ul class="plain" {
                @for text in lines.iter().take(MOST_ITEMS) { li { (line(text)) } }
                @if lines.len() > MOST_ITEMS {
                    li { (lines.len() - MOST_ITEMS) " more: see --format json" }
                }
            }
        },
        Block::Table(one) => table::table(one),
        Block::Chart(chart, spoken) => figure(chart, spoken),
        Block::Listing(text) => {
            let cut = text.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST_LISTING);
            html! {
                pre {
                    (&text[..cut.unwrap_or(text.len())])
                    @if cut.is_some() { "\n... the rest is in run.json" }
                }
            }
        }
    }
}

fn anchor(id: &str) -> Markup {
    html! { a class="anchor" href={ "#" (id) } aria-label="Link to this part" { "#" } }
}

/// A part that is folded away is open on paper, and for those who follow a link to it.
fn part(level: u8, part: &Part) -> Markup {
    let anchor = anchor(&part.id);
    let title = line(&part.title);
    html! {
        @if part.form == Form::Open {
            section id=(part.id) {
                @if level == 2 { h2 { (title) " " (anchor) } } @else { h3 { (title) " " (anchor) } }
                (blocks(level + 1, &part.blocks))
            }
        } @else {
            details id=(part.id) { summary { (title) } (anchor) (blocks(level + 1, &part.blocks)) }
        }
    }
}

fn figure(chart: &Chart, spoken: &str) -> Markup {
    let bars = if chart.kind == "line" { 0 } else { chart.categories.len() };
    html! {
        figure {
            figcaption {
                (chart.title)
                @if !chart.left_out.is_empty() { " " small { (chart.left_out) } }
            }
            div class={ "canvas " (chart.kind) } data-bars=(bars) {
                canvas id=(chart.id) role="img" aria-label=(spoken) { (spoken) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Cell, Column, Line, Row, Table, Tone, markdown, terminal};

    const BAD: &str = "</script><img src=x onerror=\"a'b\">&\u{202e}\u{1b}";

    /// A text in every place of a document.
    fn everywhere(bad: &str) -> Document {
        let tones = [
            Tone::Plain,
            Tone::Name,
            Tone::Strong,
            Tone::Quiet,
            Tone::Better,
            Tone::Worse,
            Tone::Doubt,
            Tone::Link,
        ];
        let line = || tones.into_iter().fold(Line::default(), |line, tone| line.with(tone, bad));
        let cell = || Cell { small: bad.into(), hint: bad.into(), mark: "*", ..Cell::from(bad) };
        let column =
            || Column { unit: bad.to_owned(), group: bad.to_owned(), ..Column::number(bad, bad) };
        let table = |kind| Table {
            caption: bad.to_owned(),
            is_titled: true,
            kind,
            columns: vec![Column::name(bad), column()],
            rows: vec![Row { remark: bad.to_owned(), ..Row::of([cell(), cell()]) }],
        };
        let blocks = vec![
            Block::paragraph(line()),
            Block::note(line()),
            Block::alert(line()),
            Block::List(vec![line()]),
            table(Kind::Figures).into(),
            table(Kind::Map).into(),
            Block::Listing(bad.to_owned()),
        ];
        let part = |form| Part::new(form, bad, line(), vec![Block::note(line())]).into();
        let blocks = blocks.into_iter().chain([part(Form::Open), part(Form::Closed)]).collect();
        Document { title: bad.to_owned(), facts: vec![[bad.to_owned(), bad.to_owned()]], blocks }
    }

    #[test]
    fn no_text_ends_its_element_or_steers() {
        let page = body(&everywhere(BAD), BAD, BAD).into_string();
        assert!(page.matches("&lt;/script&gt;&lt;img src=x onerror=&quot;").count() > 50, "{page}");
        for bad in ["</script", "<img", "=\"a'b", "\u{202e}", "\u{1b}"] {
            assert!(!page.contains(bad), "`{}`: {page}", bad.escape_debug());
        }
        assert!(page.contains("\\u202e\\u001b"));
    }

    #[test]
    fn only_files_below_the_page_are_links() {
        let page = |text: &str| {
            let blocks = vec![Block::paragraph(Line::default().with(Tone::Link, text))];
            let document = Document { title: String::new(), facts: Vec::new(), blocks };
            (body(&document, "", "").into_string(), markdown(&document, 1))
        };
        let (html, text) = page("profile/a-vs-b.web.svg");
        assert!(html.contains("<a href=\"profile/a-vs-b.web.svg\">"), "{html}");
        assert!(text.contains("[profile/a-vs-b.web.svg](profile/a-vs-b.web.svg)"), "{text}");
        for bad in ["javascript:x", "/etc/passwd", "../x", "a/../b", "//host/x", "a b", ""] {
            let (html, text) = page(bad);
            assert!(!html.contains("<a href") && !text.contains("]("), "{bad}: {html}{text}");
        }
    }

    #[test]
    fn no_text_steers_a_terminal_or_marks_up() {
        let document = everywhere(BAD);
        let page = terminal(&document, 80);
        assert!(
            page.lines().all(|line| line.chars().all(|c| matches!(c, ' '..='~' | 'µ' | '×' | '±'))),
            "{page}"
        );
        let page = markdown(&document, 1);
        assert!(
            !page.contains("<img") && !page.contains('\u{1b}') && page.contains("&lt;img"),
            "{page}"
        );
    }

    #[test]
    fn no_text_ends_a_script() {
        let text = json(&"</script><!--&\u{202e}").into_string();
        assert_eq!(text, "\"\\u003c/script\\u003e\\u003c!--\\u0026\\u202e\"");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "</script><!--&\u{202e}");
    }
}
