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
    match tone {
        Tone::Plain => html! { (text) },
        Tone::Name => html! { strong { (text) } " " },
        Tone::Strong => html! { strong { (text) } },
        Tone::Quiet | Tone::Base => html! { span class="quiet" { (text) } },
        Tone::Better => html! { span class="verdict better" { (text) } },
        Tone::Worse => html! { span class="verdict worse" { (text) } },
        Tone::Same => html! { span class="verdict same" { (text) } },
        Tone::Doubt => html! { span class="verdict doubt" { (text) } },
    }
}
