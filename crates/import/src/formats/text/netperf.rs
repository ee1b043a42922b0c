//! netperf: the text of TCP_STREAM, TCP_MAERTS, UDP_STREAM, TCP_RR, TCP_CRR and UDP_RR: the classic
//! table, and the values of `-k` and `-o`.

mod classic;
mod figures;
mod selected;
mod test;

use hopbench_model::Problem;

use self::selected::Values;
use self::test::Test;
use crate::reading::units::behind;
use crate::reading::{Line, Text};
use crate::stated::Stated;

/// The tests that are read.
const EXPECTED: &str = "a test TCP_STREAM, TCP_MAERTS, UDP_STREAM, TCP_RR, TCP_CRR or UDP_RR";
/// What names the test.
const UNNAMED: &str = "a first line `MIGRATED TCP STREAM TEST from ...`, so no `-P 0`, or a value \
                       of COMMAND_LINE";

pub(super) fn is_it(text: &Text<'_>) -> bool {
    let is_value = |line: &str| line.starts_with("THROUGHPUT=") || line.starts_with("P50_LATENCY=");
    text.find(&is_head).is_some() || text.find(&is_value).is_some()
}

/// `MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to ...`; versions before 2.5
/// leave out the first word.
fn is_head(line: &str) -> bool {
    line.contains(" TEST from ") && line.contains(" port ")
}

pub(super) fn read(text: &Text<'_>) -> Result<Stated, Problem> {
    text.whole()?;
    let head = match text.find(&is_head) {
        Some(_) => Some(text.only(&is_head, "")?),
        None => None,
    };
    let values = Values::of(text, head)?;
    let test = test(text, head, values.as_ref())?;
    let figures = match (&values, head) {
        (Some(values), _) => values.figures(text, test)?,
        (None, Some(head)) => classic::figures(text, head, test)?,
        (None, None) => return Err(text.missing(UNNAMED)),
    };
    let mut out = figures.stated(test);
    // The name of the server follows its word: `... AF_INET to 10.0.0.2 () port 0 AF_INET`.
    let target = head.and_then(|head| head.text.split_once(" to ")?.1.split_whitespace().next());
    out.target(target);
    let burst = head.and_then(|head| behind(head.text, "first burst "));
    if let Some(burst) = burst.filter(|burst| *burst > 0.0) {
        // So many requests more are under way at once.
        out.number("burst", burst);
    }
    Ok(out)
}

/// The test, as the first line or the command line names it. With `-P 0` there is no first line.
fn test(
    text: &Text<'_>,
    head: Option<Line<'_>>,
    values: Option<&Values<'_>>,
) -> Result<&'static Test, Problem> {
    let command = values.and_then(Values::command);
    let by_command = command.and_then(|command| Test::by_command(command.text));
    match head {
        Some(head) => text.value(head, Test::by_title(head.text).or(by_command), EXPECTED),
        None => match command {
            Some(command) => text.value(command, by_command, EXPECTED),
            None => Err(text.missing(UNNAMED)),
        },
    }
}
