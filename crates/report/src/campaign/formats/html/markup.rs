//! The markup of the page. Every text that is not written here goes through [`esc`].

use hopbench_model::printable::{spell, steers};

/// Text in an element or a quoted attribute. Characters that steer text direction or are invisible
/// controls are spelled out.
pub(super) fn esc(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if steers(c) => spell(&mut out, c),
            c => out.push(c),
        }
    }
    out
}

/// JSON for a script element: no character in it can end the element or begin a comment.
pub(super) fn json<T: serde::Serialize>(data: &T) -> String {
    let text = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    // In JSON these only occur inside strings, where the escapes mean the same.
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' | '>' | '&' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if steers(c) => spell(&mut out, c),
            c => out.push(c),
        }
    }
    out
}

/// An `id` that any text can be part of.
pub(super) fn id(prefix: &str, index: usize) -> String {
    format!("{prefix}-{index}")
}

/// A heading with a link to the part that it begins: that of this id.
pub(super) fn heading(level: u8, id: &str, inner: &str) -> String {
    format!("<h{level}>{inner} <a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to this part\">#</a></h{level}>\n")
}

/// A part that is folded away; paper, and whoever follows a link to it, finds it open.
pub(super) fn folded(id: &str, title: &str, inner: &str) -> String {
    format!(
        "<details id=\"{id}\"><summary>{title}</summary>\n\
         <a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to this part\">#</a>\n{inner}</details>\n"
    )
}

/// A table inside a box that scrolls sideways on narrow screens.
pub(super) fn table(class: &str, caption: &str, head: &str, body: &str) -> String {
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"{class}\"><caption>{}</caption><thead>{head}</thead>\
         <tbody>{body}</tbody></table></div>\n",
        esc(caption)
    )
}

/// A table of names and values.
pub(super) fn facts<'a>(caption: &str, facts: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let body: String = facts
        .map(|(name, value)| {
            format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>", esc(&name.replace('_', " ")), esc(value))
        })
        .collect();
    if body.is_empty() {
        return String::new();
    }
    let head = "<tr><th scope=\"col\">Fact</th><th scope=\"col\">Value</th></tr>";
    table("facts", caption, head, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_element() {
        assert_eq!(esc("<a b=\"c\" d='e'>&"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
        assert_eq!(esc("a\u{202e}b\u{1b}"), "a\\u202eb\\u001b");
        assert_eq!(json(&"</script><!--"), "\"\\u003c/script\\u003e\\u003c!--\"");
        let read: String = serde_json::from_str(&json(&"</script>&")).unwrap();
        assert_eq!(read, "</script>&");
    }
}
