//! h2load: the text of a run, of any version of HTTP. It does not state the rate of `--rps`.

use hopbench_model::Problem;

use crate::kinds::TestKind;
use crate::reading::units::{TIMES, behind, number, scaled};
use crate::reading::{Line, Text};
use crate::stated::Stated;

/// The columns of the times, as the head of their table names them.
const COLUMNS: [(&str, &str); 6] = [
    ("min", "min"),
    ("max", "max"),
    ("median", "p50"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("mean", "mean"),
];

pub(super) fn is_it(text: &Text<'_>) -> bool {
    text.find(&is_head).is_some() || text.find(&is_end).is_some()
}

fn is_head(line: &str) -> bool {
    line == "starting benchmark..."
}

fn is_end(line: &str) -> bool {
    line.starts_with("finished in ") && line.contains(" req/s")
}

pub(super) fn read(text: &Text<'_>) -> Result<Stated, Problem> {
    let mut out = Stated::of(TestKind::Http);
    if text.find(&is_head).is_some() {
        text.only(&is_head, "")?;
    }
    let end = text.only(&is_end, "a line `finished in 2.01s, 3992.00 req/s`")?;
    let mut parts = end.text["finished in ".len()..].split(", ");
    let total = parts.next().and_then(|time| scaled(time, TIMES));
    let total = text.value(end, total, "a time like `2.01s`")?;
    let per_s = parts.next().and_then(|rate| number(rate.strip_suffix(" req/s")?));
    let per_s = text.value(end, per_s, "requests a second")?;
    out.window_s = total / 1e9;
    setup(text, &mut out);

    let requests = text.needed_field("requests:")?;
    let of = |word: &str| {
        let part = requests.text.split(", ").find_map(|part| number(part.strip_suffix(word)?));
        text.value(requests, part, "`9 total, 9 started, 9 done, 9 succeeded, 0 failed ...`")
    };
    let (done, good, failed) = (of(" done")?, of(" succeeded")?, of(" failed")?);
    // Those that are `errored` or in `timeout` are among those that failed.
    let (errored, late) = (of(" errored")?, of(" timeout")?);
    for (reason, count) in
        [("timeout", late), ("no answer", errored - late), ("bad status", failed - errored)]
    {
        out.error(reason, count.max(0.0) as u64);
    }
    out.exchanges(good, per_s, failed, good + failed);
    if let Some(codes) = text.field("status codes:") {
        for class in ["2xx", "3xx", "4xx", "5xx"] {
            let found = codes.text.split(", ").find_map(|part| number(part.strip_suffix(class)?));
            out.status(class, found.unwrap_or(0.0) as u64);
        }
    }
    // Without an answer all times are 0.
    if done > 0.0 {
        times(text, &mut out)?;
    }
    Ok(out)
}

/// Clients, protocol, and of a run by time its length.
fn setup(text: &Text<'_>, out: &mut Stated) {
    let mut clients = 0.0;
    let mut threads = 0.0;
    for line in text.lines().filter(|line| line.text.starts_with("spawning thread #")) {
        let told = line.text.split_once(": ").map_or("", |(_, told)| told);
        if let Some((each, _)) = told.split_once(" total client(s)") {
            threads += 1.0;
            clients += number(each).unwrap_or(0.0);
        }
        // The rate is that of this time, without what it took to begin and to end.
        if let Some(seconds) = behind(told, "warm-up time and ") {
            out.window_s = seconds;
            out.warmup_s = behind(told, "test with ").unwrap_or(0.0);
        }
    }
    if threads > 0.0 {
        out.number("threads", threads);
        out.connections = Some(clients as u32);
    }
    let fields =
        [("Application protocol:", "protocol"), ("TLS Protocol:", "tls"), ("Cipher:", "cipher")];
    for (start, name) in fields {
        if let Some(line) = text.field(start) {
            out.word(name, line.text);
        }
    }
}

/// The times of requests: the first row of the table that has them.
fn times(text: &Text<'_>, out: &mut Stated) -> Result<(), Problem> {
    let is_table = |line: &str| line.starts_with("min ") && line.contains(" max ");
    let head = text.needed(&is_table, "the table of times")?;
    let is_row = |line: &Line<'_>| {
        line.text.split_once(':').is_some_and(|(name, _)| name.contains("request"))
    };
    let row = text.behind(head).find(is_row);
    let row = row.ok_or_else(|| text.missing("a row `time for request:`"))?;
    let values = row.text.split_once(':').map_or("", |(_, values)| values);
    for (name, value) in head.text.split_whitespace().zip(values.split_whitespace()) {
        if let Some((_, point)) = COLUMNS.iter().find(|(column, _)| *column == name) {
            let ns = text.value(row, scaled(value, TIMES), "times like `84us 11.97ms`")?;
            out.latency(point, ns);
        }
    }
    Ok(())
}
