//! The classic tables: a head of some lines, and a row of figures. With `-c` and `-C` the rows have
//! columns of CPU, too.

use hopbench_model::Problem;

use super::figures::Figures;
use super::test::{Test, bits_per_s};
use crate::kinds::TestKind::{Datagrams, Stream};
use crate::reading::{Line, Text};

/// A row of figures.
const ROW: &str = "a row of figures, each in its column, as the head above names them";

/// The figures below the first line, `head`.
pub(super) fn figures(text: &Text<'_>, head: Line<'_>, test: &Test) -> Result<Figures, Problem> {
    let is_units = |line: &Line<'_>| line.text.starts_with("bytes") && line.text.contains("secs");
    let units = text.behind(head).find(is_units);
    let units =
        units.ok_or_else(|| text.missing("the table of the test, or the values of -k or -o"))?;
    match test.kind {
        Stream => stream(text, units),
        Datagrams => datagrams(text, units),
        _ => transactions(text, head, units),
    }
}

/// `87380 16384 16384 10.00 9410.52`.
fn stream(text: &Text<'_>, units: Line<'_>) -> Result<Figures, Problem> {
    let (line, row) = row_behind(text, units)?;
    let [_, _, size, seconds, rate, rest @ ..] = row.as_slice() else {
        return Err(text.wrong(line, ROW));
    };
    Ok(Figures {
        seconds: Some(positive(text, line, *seconds)?),
        size: Some(*size),
        received: Some(rate * scale(text, units)?),
        busy: busy(text, line, rest, 4)?,
        ..Figures::default()
    })
}

/// Two rows: what was sent, `212992 1024 10.00 34456 0 564.42`, and what arrived, `212992 10.00
/// 34453 564.38`.
fn datagrams(text: &Text<'_>, units: Line<'_>) -> Result<Figures, Problem> {
    let scale = scale(text, units)?;
    let (first, ours) = row_behind(text, units)?;
    let [_, size, seconds, sent, refused, rate, here @ ..] = ours.as_slice() else {
        return Err(text.wrong(first, ROW));
    };
    let (second, theirs) = row_behind(text, first)?;
    let [_, _, received, arrived, there @ ..] = theirs.as_slice() else {
        return Err(text.wrong(second, ROW));
    };
    Ok(Figures {
        seconds: Some(positive(text, first, *seconds)?),
        size: Some(*size),
        sent: Some(rate * scale),
        received: Some(arrived * scale),
        datagrams_sent: Some(*sent),
        datagrams_refused: Some(*refused),
        datagrams_received: Some(*received),
        busy: [busy(text, first, here, 2)?[0], busy(text, second, there, 2)?[0]],
        ..Figures::default()
    })
}

/// `16384 131072 1 1 10.00 25595.35`, and a row with the buffers of the server.
fn transactions(text: &Text<'_>, head: Line<'_>, units: Line<'_>) -> Result<Figures, Problem> {
    // With another unit than transactions the column has another name.
    let mut heads = text.behind(head).take_while(|line| line.number < units.number);
    if !heads.any(|line| line.text.split_whitespace().any(|word| word == "Rate")) {
        return Err(text.wrong(units, "transactions a second; measure without -f"));
    }
    let (line, row) = row_behind(text, units)?;
    let [_, _, size, response, seconds, rate, rest @ ..] = row.as_slice() else {
        return Err(text.wrong(line, ROW));
    };
    // It comes last.
    row_behind(text, line)?;
    Ok(Figures {
        seconds: Some(positive(text, line, *seconds)?),
        size: Some(*size),
        response: Some(*response),
        transactions: Some(*rate),
        busy: busy(text, line, rest, 4)?,
        ..Figures::default()
    })
}

/// The next line that has something, as numbers.
fn row_behind<'a>(text: &Text<'a>, line: Line<'_>) -> Result<(Line<'a>, Vec<f64>), Problem> {
    let found = text.behind(line).find(|line| !line.text.is_empty());
    let line = found.ok_or_else(|| text.missing(ROW))?;
    let number = |word: &str| word.parse().ok().filter(|number: &f64| number.is_finite());
    let row: Option<Vec<f64>> = line.text.split_whitespace().map(number).collect();
    Ok((line, text.value(line, row, ROW)?))
}

/// The columns of CPU at the end of a row: none, or so many, of which the first ones are CPU time.
fn busy(
    text: &Text<'_>,
    line: Line<'_>,
    columns: &[f64],
    count: usize,
) -> Result<[Option<f64>; 2], Problem> {
    if !columns.is_empty() && columns.len() != count {
        return Err(text.wrong(line, ROW));
    }
    // What was not measured is -1.
    let of = |index: usize| columns.get(index).copied().filter(|percent| *percent >= 0.0);
    Ok([of(0), of(1)])
}

/// The bits/s of 1 in the unit of a table, which stands in the last line of its head.
fn scale(text: &Text<'_>, units: Line<'_>) -> Result<f64, Problem> {
    let mut words = units.text.split_whitespace();
    let scale = words.find_map(|word| bits_per_s(word.split('/').next()?));
    text.value(units, scale, "a unit like `10^6bits/sec`")
}

fn positive(text: &Text<'_>, line: Line<'_>, seconds: f64) -> Result<f64, Problem> {
    text.value(line, Some(seconds).filter(|seconds| *seconds > 0.0), "a time of more than 0")
}
