//! ping: the text of iputils, BusyBox and BSD.

use hopbench_model::Problem;

use crate::kinds::TestKind;
use crate::reading::units::{TIMES, behind, count, number, scaled};
use crate::reading::{Line, Text};
use crate::stated::Stated;

pub(super) fn is_it(text: &Text<'_>) -> bool {
    text.find(&is_head).is_some() && text.find(&|line| line.contains(" bytes")).is_some()
}

/// Bytes of data that hold the time of an echo.
const SMALLEST_TIMED: u64 = 16;

fn is_times(line: &str) -> bool {
    line.contains("min/avg/max")
}

fn is_head(line: &str) -> bool {
    line.starts_with("PING ")
}

pub(super) fn read(text: &Text<'_>) -> Result<Stated, Problem> {
    let mut out = Stated::of(TestKind::Echoes);
    let head = text.only(&is_head, "a line `PING ADDRESS`")?;
    out.target(head.text.split_whitespace().nth(1));
    if let Some(size) = size(head.text) {
        out.param("size", size);
    }
    let counts = text.needed(
        &|line| line.contains(" packets transmitted, "),
        "a line `N packets transmitted, N received`",
    )?;
    let both = sent_and_received(counts.text);
    let (sent, received) = text.value(counts, both, "`5 packets transmitted, 5 received, ...`")?;
    out.metric("sent", sent);
    out.metric("received", received);
    if sent > 0.0 {
        out.metric("lost_ratio", (1.0 - received / sent).max(0.0));
    }
    for part in counts.text.split(", ") {
        if let Some(time) = part.strip_prefix("time ").and_then(|time| scaled(time, TIMES)) {
            out.window_s = time / 1e9;
        }
        let twice = part.strip_prefix('+').and_then(|part| part.strip_suffix(" duplicates"));
        if let Some(twice) = twice.and_then(number) {
            out.metric("duplicates", twice);
        }
    }
    // An echo without room for its time has none.
    let is_timed =
        size(head.text).is_none_or(|size| size >= SMALLEST_TIMED) || text.find(&is_times).is_some();
    if received > 0.0 && is_timed {
        times(text, &mut out)?;
        median(text, &mut out, received);
    }
    Ok(out)
}

/// `5 packets transmitted, 5 received` or `5 packets transmitted, 5 packets received`.
fn sent_and_received(text: &str) -> Option<(f64, f64)> {
    let mut parts = text.split(", ");
    let sent = number(parts.next()?.strip_suffix(" packets transmitted")?)?;
    let received = parts.next()?.strip_suffix(" received")?;
    Some((sent, number(received.strip_suffix(" packets").unwrap_or(received))?))
}

/// Bytes of an echo's data: `56(84) bytes of data`, `56 data bytes`.
fn size(head: &str) -> Option<u64> {
    let words: Vec<&str> = head.split_whitespace().collect();
    let size = |pair: &[&str]| match pair {
        [size, "data"] => count(size),
        [size, "bytes"] => count(size.split_once('(')?.0),
        _ => None,
    };
    words.windows(2).find_map(size)
}

/// `rtt min/avg/max/mdev = 0.030/0.045/0.070/0.010 ms`.
fn times(text: &Text<'_>, out: &mut Stated) -> Result<(), Problem> {
    let line = text.needed(&is_times, "a line `rtt min/avg/max`")?;
    let values = || {
        let mut words = line.text.split_once(" = ")?.1.split_whitespace();
        let (times, unit) = (words.next()?, words.next()?.trim_end_matches(','));
        let (_, factor) = TIMES.iter().find(|(name, _)| *name == unit)?;
        let times: Option<Vec<f64>> = times.split('/').take(3).map(number).collect();
        let times = times.filter(|times| times.len() == 3)?;
        Some([times[0] * factor, times[1] * factor, times[2] * factor])
    };
    let [min, mean, max] = text.value(line, values(), "three times like `0.030/0.045/0.070 ms`")?;
    out.latency("min", min);
    out.latency("mean", mean);
    out.latency("max", max);
    Ok(())
}

/// The median, where every echo that came has a line with its time.
fn median(text: &Text<'_>, out: &mut Stated, received: f64) {
    let time = |line: Line<'_>| {
        let ms = behind(line.text, " time=").filter(|_| line.text.contains(" ms"))?;
        (!line.text.contains("DUP!")).then_some(ms * 1e6)
    };
    let mut times: Vec<f64> = text.lines().filter_map(time).collect();
    if times.is_empty() || times.len() as f64 != received {
        return;
    }
    times.sort_by(f64::total_cmp);
    // The nearest rank, as in histograms of our own.
    out.latency("p50", times[(times.len() - 1) / 2]);
}
