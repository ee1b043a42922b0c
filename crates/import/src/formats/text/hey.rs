//! hey: the text of a run. It states neither its connections nor its rate.

use hopbench_model::Problem;

use crate::kinds::TestKind;
use crate::reading::units::{TIMES, count, number, scaled, split};
use crate::reading::{Line, Text};
use crate::stated::Stated;

/// Answers of which hey keeps the times; its mean is wrong beyond them.
const MOST_KEPT: f64 = 1e6;

const STATUSES: &str = "Status code distribution:";
const ERRORS: &str = "Error distribution:";
const PERCENTILES: &str = "Latency distribution:";

pub(super) fn is_it(text: &Text<'_>) -> bool {
    // oha and ghz have the other lines, too.
    let is_total = |line: Line<'_>| line.text.ends_with(" secs");
    text.field("Total:").is_some_and(is_total) && text.field("Slowest:").is_some_and(is_total)
}

pub(super) fn read(text: &Text<'_>) -> Result<Stated, Problem> {
    let mut out = Stated::of(TestKind::Http);
    text.only(&|line| line == "Summary:", "a line `Summary:`")?;
    let total = time(text, "Total:")?;
    if total <= 0.0 {
        return Err(text.wrong(text.needed_field("Total:")?, "a time of more than 0"));
    }
    out.window_s = total / 1e9;
    // It comes last, so a file without it is cut off.
    let statuses = text.needed(&|line| line == STATUSES, STATUSES)?;
    let (mut answered, mut bad) = (0.0, 0.0);
    for (line, code, rest) in counts(text, statuses) {
        let number = rest.strip_suffix(" responses").and_then(count);
        let number = text.value(line, number, "`[200] 12 responses`")?;
        answered += number as f64;
        bad += if code >= 400.0 { number as f64 } else { 0.0 };
        out.status(&code.to_string(), number);
    }
    let mut unanswered = 0.0;
    let errors = text.find(&|line| line == ERRORS);
    for (_, number, reason) in errors.into_iter().flat_map(|line| counts(text, line)) {
        unanswered += number;
        out.error(reason, number as u64);
    }
    // The rate that it states counts requests without an answer, too.
    let per_s = answered / out.window_s;
    out.exchanges(answered, per_s, bad + unanswered, answered + unanswered);
    if answered > 0.0 {
        for (name, point) in [("Fastest:", "min"), ("Average:", "mean"), ("Slowest:", "max")] {
            let ns = time(text, name)?;
            if point != "mean" || answered <= MOST_KEPT {
                out.latency(point, ns);
            }
        }
        let head = text.needed(&|line| line == PERCENTILES, PERCENTILES)?;
        for (percent, ns) in text.behind(head).map_while(percentile) {
            out.percentile(percent, ns);
        }
    }
    Ok(out)
}

fn time(text: &Text<'_>, name: &str) -> Result<f64, Problem> {
    let line = text.needed_field(name)?;
    text.value(line, scaled(line.text, TIMES), "a time like `2.0043 secs`")
}

/// `99% in 0.0096 secs`; some versions have the sign twice.
fn percentile(line: Line<'_>) -> Option<(f64, f64)> {
    let (percent, rest) = split(line.text)?;
    let time = rest.trim_start_matches('%').trim_start().strip_prefix("in ")?;
    Some((percent, scaled(time, TIMES)?))
}

/// The lines `[200] 12 responses` below a head: each with the number in brackets and the rest.
fn counts<'a>(
    text: &Text<'a>,
    head: Line<'_>,
) -> impl Iterator<Item = (Line<'a>, f64, &'a str)> + use<'a> {
    text.behind(head).map_while(|line| {
        let (count, rest) = line.text.strip_prefix('[')?.split_once(']')?;
        Some((line, number(count)?, rest.trim()))
    })
}
