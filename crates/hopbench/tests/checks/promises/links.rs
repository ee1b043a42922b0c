//! Links between the pages: each leads to a file that is there, and to a heading that it has.

use std::fs;

use super::pages::{all, prose, root};

/// The targets of the links of a page, in their order. Code has none.
fn links(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (_, line) in prose(text) {
        // Every second part stands between backticks.
        let line: String = line.split('`').step_by(2).collect();
        let mut rest = line.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, behind)) = after.split_once(')') else { break };
            out.push(target.to_owned());
            rest = behind;
        }
    }
    out
}

/// The anchors of the headings of a page, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).into_iter().filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#'))).collect()
}

fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then_some(c),
    };
    heading.trim().to_lowercase().chars().filter_map(kept).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    for page in all() {
        let own = root().join(&page.name);
        let folder = own.parent().expect("a folder");
        for link in links(&page.text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = match link.split_once('#') {
                Some((file, heading)) => (file, Some(heading)),
                None => (link.as_str(), None),
            };
            let target = if file.is_empty() { own.clone() } else { folder.join(file) };
            assert!(target.exists(), "{}: there is no file for the link `{link}`", page.name);
            if let Some(heading) = heading {
                let text = fs::read_to_string(&target)
                    .unwrap_or_else(|error| panic!("{}: {error}", target.display()));
                let known = anchors(&text);
                let is_known = known.iter().any(|known| known == heading);
                assert!(
                    is_known,
                    "{}: there is no heading for the link `{link}` among {known:?}",
                    page.name
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} links were found: the pages have another form");
}

#[test]
fn links_and_headings_are_found() {
    let text = "# A: b, c-d\n[`x`](y.md#z) `[no](none.md)` [w](#a-b-c-d)\n```\n# no heading\n\
                [no](none.md)\n```\n";
    assert_eq!(links(text), ["y.md#z", "#a-b-c-d"]);
    assert_eq!(anchors(text), ["a-b-c-d"]);
}
