//! The values that were asked for: a line each with `-k`, and columns with `-o`.

use std::collections::BTreeSet;

use hopbench_model::Problem;

use super::figures::Figures;
use super::test::{Test, bits_per_s};
use crate::kinds::TestKind::{Datagrams, Stream};
use crate::reading::{Line, Text};

/// The values that are read: their keywords, and the heads of their columns.
const KNOWN: &[(&str, &str)] = &[
    ("THROUGHPUT", "Throughput"),
    ("THROUGHPUT_UNITS", "Throughput Units"),
    ("ELAPSED_TIME", "Elapsed Time (sec)"),
    ("TRANSACTION_RATE", "Transaction Rate Tran/s"),
    ("MIN_LATENCY", "Minimum Latency Microseconds"),
    ("MEAN_LATENCY", "Mean Latency Microseconds"),
    ("P50_LATENCY", "50th Percentile Latency Microseconds"),
    ("P90_LATENCY", "90th Percentile Latency Microseconds"),
    ("P99_LATENCY", "99th Percentile Latency Microseconds"),
    ("MAX_LATENCY", "Maximum Latency Microseconds"),
    ("STDDEV_LATENCY", "Stddev Latency Microseconds"),
    ("RT_LATENCY", "Round Trip Latency usec/tran"),
    ("REQUEST_SIZE", "Request Size Bytes"),
    ("RESPONSE_SIZE", "Response Size Bytes"),
    ("LOCAL_SEND_SIZE", "Local Send Size"),
    ("REMOTE_SEND_SIZE", "Remote Send Size"),
    ("LOCAL_SEND_THROUGHPUT", "Local Send Throughput"),
    ("REMOTE_SEND_THROUGHPUT", "Remote Send Throughput"),
    ("LOCAL_SEND_CALLS", "Local Send Calls"),
    ("REMOTE_RECV_CALLS", "Remote Recv Calls"),
    ("LOCAL_TRANSPORT_RETRANS", "Local Transport Retransmissions"),
    ("REMOTE_TRANSPORT_RETRANS", "Remote Transport Retransmissions"),
    ("LOCAL_CONG_CONTROL", "Local Congestion Control Algorithm"),
    ("REMOTE_CONG_CONTROL", "Remote Congestion Control Algorithm"),
    ("LOCAL_CPU_UTIL", "Local CPU Util %"),
    ("REMOTE_CPU_UTIL", "Remote CPU Util %"),
    ("COMMAND_LINE", "Command Line"),
];

/// The points of the latency, us.
const POINTS: [(&str, &str); 7] = [
    ("MIN_LATENCY", "min"),
    ("MEAN_LATENCY", "mean"),
    ("P50_LATENCY", "p50"),
    ("P90_LATENCY", "p90"),
    ("P99_LATENCY", "p99"),
    ("MAX_LATENCY", "max"),
    ("STDDEV_LATENCY", "stddev"),
];

/// One microsecond, ns.
const MICROSECOND: f64 = 1e3;

/// The values of an output.
#[derive(Debug)]
pub(super) struct Values<'a> {
    all: Vec<Value<'a>>,
}

/// One of them.
#[derive(Debug)]
struct Value<'a> {
    keyword: &'static str,
    text: &'a str,
    /// The line that it stands in.
    line: Line<'a>,
}

impl<'a> Values<'a> {
    /// Those of an output; `None`: it has none. `head`: its first line, without which columns have
    /// no names.
    pub(super) fn of(text: &Text<'a>, head: Option<Line<'a>>) -> Result<Option<Self>, Problem> {
        let mut all: Vec<Value<'a>> = text.lines().filter_map(keyword).collect();
        if let (Some(head), true) = (head, all.is_empty()) {
            all = columns(text, head)?;
        }
        let mut seen = BTreeSet::new();
        let twice = all.iter().find(|value| !seen.insert(value.keyword)).map(|value| value.line);
        match twice {
            Some(line) => Err(text.wrong(line, "one result; put each into a file of its own")),
            None => Ok(Some(Self { all }).filter(|values| !values.all.is_empty())),
        }
    }

    /// The command line of netperf, if it is among them.
    pub(super) fn command(&self) -> Option<Line<'a>> {
        self.get("COMMAND_LINE").map(|value| Line { text: value.text, ..value.line })
    }

    /// The figures of a test.
    pub(super) fn figures(&self, text: &Text<'_>, test: &Test) -> Result<Figures, Problem> {
        let amount = |keyword: &str| self.amount(text, keyword);
        let mut out = Figures {
            seconds: amount("ELAPSED_TIME")?,
            busy: [amount("LOCAL_CPU_UTIL")?, amount("REMOTE_CPU_UTIL")?],
            ..Figures::default()
        };
        if !matches!(test.kind, Stream | Datagrams) {
            let per_s = self.transactions(text)?;
            out.size = amount("REQUEST_SIZE")?;
            out.response = amount("RESPONSE_SIZE")?;
            out.transactions = Some(per_s);
            // Without a transaction no time says anything.
            if per_s > 0.0 {
                out.latency = self.latency(text)?;
            }
            return Ok(out);
        }
        let sender = if test.is_back { "REMOTE" } else { "LOCAL" };
        let of_sender = |name: &str| format!("{sender}_{name}");
        let scale = self.scale(text)?;
        // It is what the end that does not send received.
        out.received = Some(self.needed(text, "THROUGHPUT")? * scale);
        out.sent = amount(&of_sender("SEND_THROUGHPUT"))?.map(|rate| rate * scale);
        out.size = amount(&of_sender("SEND_SIZE"))?;
        if test.kind == Datagrams {
            out.datagrams_sent = amount("LOCAL_SEND_CALLS")?;
            out.datagrams_received = amount("REMOTE_RECV_CALLS")?;
        } else {
            out.sent_again = amount(&of_sender("TRANSPORT_RETRANS"))?;
            let congestion = self.get(&of_sender("CONG_CONTROL")).map(|value| value.text);
            out.congestion = congestion.filter(|word| !word.is_empty()).map(str::to_owned);
        }
        Ok(out)
    }

    /// Transactions a second.
    fn transactions(&self, text: &Text<'_>) -> Result<f64, Problem> {
        if let Some(per_s) = self.amount(text, "TRANSACTION_RATE")? {
            return Ok(per_s);
        }
        let per_s = self.needed(text, "THROUGHPUT")?;
        match self.get("THROUGHPUT_UNITS") {
            Some(unit) if unit.text == "Trans/s" => Ok(per_s),
            Some(unit) => Err(text.wrong(unit.line, "`Trans/s`, or a TRANSACTION_RATE")),
            None => Err(text.missing("TRANSACTION_RATE or THROUGHPUT_UNITS")),
        }
    }

    fn latency(&self, text: &Text<'_>) -> Result<Vec<(&'static str, f64)>, Problem> {
        let mut out = Vec::new();
        for (keyword, point) in POINTS {
            out.extend(self.amount(text, keyword)?.map(|us| (point, us * MICROSECOND)));
        }
        // It follows from the rate, and is the mean where no times were taken.
        if out.iter().all(|(point, _)| *point != "mean") {
            out.extend(self.amount(text, "RT_LATENCY")?.map(|us| ("mean", us * MICROSECOND)));
        }
        Ok(out)
    }

    /// The bits/s of 1 in the unit of throughputs.
    fn scale(&self, text: &Text<'_>) -> Result<f64, Problem> {
        let unit = self.get("THROUGHPUT_UNITS");
        let unit = unit.ok_or_else(|| text.missing("THROUGHPUT_UNITS"))?;
        let scale = unit.text.strip_suffix("/s").and_then(bits_per_s);
        text.value(unit.line, scale, "a unit like `10^6bits/s`")
    }

    fn get(&self, keyword: &str) -> Option<&Value<'a>> {
        self.all.iter().find(|value| value.keyword == keyword)
    }

    /// A number; `None` where it is absent, or was not measured.
    fn amount(&self, text: &Text<'_>, keyword: &str) -> Result<Option<f64>, Problem> {
        let Some(value) = self.get(keyword) else { return Ok(None) };
        let number = value.text.parse().ok().filter(|number: &f64| number.is_finite());
        let number = text.value(value.line, number, &format!("a number for {keyword}"))?;
        // What was not measured is -1.
        Ok(Some(number).filter(|number| *number >= 0.0))
    }

    /// A number without which the test says nothing.
    fn needed(&self, text: &Text<'_>, keyword: &str) -> Result<f64, Problem> {
        self.amount(text, keyword)?.ok_or_else(|| text.missing(keyword))
    }
}

/// `P50_LATENCY=42`.
fn keyword(line: Line<'_>) -> Option<Value<'_>> {
    let (word, text) = line.text.split_once('=')?;
    let &(keyword, _) = KNOWN.iter().find(|(keyword, _)| *keyword == word)?;
    Some(Value { keyword, text: text.trim(), line })
}

/// The values below the heads of their columns, with commas between; none without such heads.
fn columns<'a>(text: &Text<'a>, head: Line<'a>) -> Result<Vec<Value<'a>>, Problem> {
    let named = |name: &str| {
        let known = KNOWN.iter().find(|(_, column)| *column == name.trim());
        known.map(|(keyword, _)| *keyword)
    };
    let is_heads = |line: &Line<'_>| line.text.split(',').any(|name| named(name).is_some());
    let Some(heads) = text.behind(head).find(is_heads) else { return Ok(Vec::new()) };
    let line = text.behind(heads).find(|line| !line.text.is_empty());
    let line = line.ok_or_else(|| text.missing("a line of values"))?;
    let names: Vec<&str> = heads.text.split(',').collect();
    let values = separated(line.text);
    if names.len() != values.len() {
        let expected = format!("{} values, as the line above has names", names.len());
        return Err(text.wrong(line, &expected));
    }
    let value = |(name, text): (&str, &'a str)| {
        Some(Value { keyword: named(name)?, text: text.trim(), line })
    };
    Ok(names.into_iter().zip(values).filter_map(value).collect())
}

/// The values between the commas of a line. One in quotes may have commas of its own.
fn separated(line: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let is_end = |c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    line.split(is_end).collect()
}
