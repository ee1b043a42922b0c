//! The runs of a line.

use maud::{Markup, html};

use crate::document::line::{Line, Tone};

/// All runs.
pub(super) fn line(line: &Line) -> Markup {
    html! { @for (tone, text) in &line.runs { (run(*tone, text)) } }
}

/// One run. The text says what is a gain or a loss, too: a colour is never the only difference.
pub(super) fn run(tone: Tone, text: &str) -> Markup {
    if text.is_empty() {
        return Markup::default();
    }
    let class = match tone {
        Tone::Plain => return html! { (text) },
        Tone::Name => return html! { strong { (text) } " " },
        Tone::Strong => return html! { strong { (text) } },
        Tone::Link => {
            return match Line::link(text) {
                Some(file) => html! { a href=(file) { (file) } },
                None => html! { (text) },
            };
        }
        Tone::Quiet | Tone::Base => "quiet",
        Tone::Better => "verdict better",
        Tone::Worse => "verdict worse",
        Tone::Same => "verdict same",
        Tone::Doubt => "verdict doubt",
    };
    html! { span class=(class) { (text) } }
}
