//! JUnit XML for the test report of a CI system: a test case a bound and cell.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::comparison::format::ComparisonFormat;
use crate::comparison::{BoundSummary, Case, CaseState, Comparison};
use crate::format::Format;
use crate::number::as_written;

/// The format; see the [module](self).
pub(super) const FORMAT: ComparisonFormat = Format {
    name: "junit",
    summary: "for a CI system: a test case a bound and cell (needs --fail-on)",
    render,
};

fn render(comparison: &Comparison, _all: bool) -> String {
    let mut out = Vec::new();
    // Nothing that is written into memory fails.
    let _ = document(&mut out, comparison);
    let mut out = String::from_utf8_lossy(&out).into_owned();
    out.push('\n');
    out
}

fn document(out: &mut Vec<u8>, comparison: &Comparison) -> std::io::Result<()> {
    let mut writer = Writer::new_with_indent(out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let totals = totals(comparison.bounds.iter());
    let suites = writer.create_element("testsuites").with_attribute(("name", "hopbench compare"));
    suites.with_attributes(attributes(&totals)).write_inner_content(|writer| {
        comparison.bounds.iter().try_for_each(|bound| suite(writer, comparison, bound))
    })?;
    Ok(())
}

fn suite(
    writer: &mut Writer<&mut Vec<u8>>,
    comparison: &Comparison,
    bound: &BoundSummary,
) -> std::io::Result<()> {
    let totals = totals([bound].into_iter());
    let element =
        writer.create_element("testsuite").with_attribute(("name", &*clean(&bound.bound)));
    // The time at which the candidate was measured.
    let timestamp =
        comparison.candidate.first().map_or("", |run| run.started_at.get(..19).unwrap_or_default());
    let element = element.with_attribute(("timestamp", &*clean(timestamp)));
    element.with_attributes(attributes(&totals)).write_inner_content(|writer| {
        bound.cases.iter().try_for_each(|case| self::case(writer, bound, case))
    })?;
    Ok(())
}

fn case(
    writer: &mut Writer<&mut Vec<u8>>,
    bound: &BoundSummary,
    case: &Case,
) -> std::io::Result<()> {
    let element = writer
        .create_element("testcase")
        .with_attribute(("classname", &*clean(&case.metric)))
        .with_attribute(("name", &*clean(&case.cell)));
    let text = clean(&format!("{}: {}: {}", bound.bound, case.cell, case.text));
    let said = clean(&case.text);
    element.write_inner_content(|writer| {
        match case.state {
            CaseState::Broken => {
                let failure = writer.create_element("failure").with_attribute(("message", &*said));
                failure
                    .with_attribute(("type", "worse"))
                    .write_text_content(BytesText::new(&text))?
            }
            CaseState::Unjudged => writer
                .create_element("skipped")
                .with_attribute(("message", &*said))
                .write_empty()?,
            CaseState::Kept => {
                writer.create_element("system-out").write_text_content(BytesText::new(&text))?
            }
            // A test that saw nothing has not passed.
            CaseState::Unseen => {
                let share = as_written(bound.share * 100.0);
                let text = format!("a worsening of {share} % would not have been seen: {said}");
                writer
                    .create_element("skipped")
                    .with_attribute(("message", &*text))
                    .write_empty()?
            }
        };
        Ok(())
    })?;
    Ok(())
}

/// Tests, failures and skipped ones.
fn totals<'a>(bounds: impl Iterator<Item = &'a BoundSummary>) -> [(&'static str, String); 4] {
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    for bound in bounds {
        tests += bound.cases.len();
        failures += bound.cases_of(CaseState::Broken).count();
        skipped += bound.cases.len() - bound.judged();
    }
    [("tests", tests), ("failures", failures), ("errors", 0), ("skipped", skipped)]
        .map(|(name, n)| (name, n.to_string()))
}

fn attributes<'a>(
    totals: &'a [(&'static str, String)],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    totals.iter().map(|(name, n)| (*name, n.as_str()))
}

/// A text without the characters that no XML document may have, however they are written.
fn clean(text: &str) -> String {
    let allowed = |c: char| {
        matches!(
            c,
            '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..
        )
    };
    text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect()
}
