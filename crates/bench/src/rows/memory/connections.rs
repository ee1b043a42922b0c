//! Memory of many connections in one thread.

use anyhow::{Context, Result, bail};

use super::run_to_end;
use crate::bench::target::{Kind, Target};
use crate::bench::{Bench, Figures, ours};
use crate::lab::End;
use crate::process::Invocation;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const FEW: u32 = 10;
const MANY: u32 = 10_000;
/// Sockets, and a few files beside them.
const FILES: u64 = 10_500;

const EACH: &str = "bytes_per_connection";
const GOALS: &[Goal] =
    &[Goal::value(EACH, "memory a connection", "KiB", 1.0 / 1024.0, Reach::AtMost(8.0))];

/// 10 000 connections that all have a request under way.
pub(crate) fn row() -> Row {
    Row {
        name: "memory-connections".to_owned(),
        what: "http, 10 000 connections, one thread".to_owned(),
        against: "",
        needs: Kind::Nginx.needs().to_vec(),
        goals: GOALS,
        note: "Peak resident memory (VmHWM) with 10 000 connections less that with 10, divided by \
               9990; user memory only. Needs 10 500 open files (`ulimit -Hn`)."
            .to_owned(),
        ours: Box::new(|bench| {
            let (few, many) = (peak(bench, FEW)?, peak(bench, MANY)?);
            Ok(Figures::from([(EACH, (many - few) / f64::from(MANY - FEW))]))
        }),
        theirs: None,
    }
}

fn peak(bench: &Bench, connections: u32) -> Result<f64> {
    let nginx = Target::start(bench, Kind::Nginx)?;
    // 10 000 requests wait for one nginx: an answer may take longer than the usual patience.
    let words = format!("{} --timeout 20s", ours::closed_words(connections));
    let words = ours::http_words(&nginx.url(), &bench.time(), &words);
    let client = Invocation { files: Some(FILES), ..bench.ours(End::Client, &words) };
    let (finished, peak) = run_to_end(bench, &client)?;
    let accepted = nginx.served()?.connections;
    let (said, _) = nginx.stop()?;
    ours::parse(&finished.stdout)
        .with_context(|| format!("nginx accepted {accepted} connections{said}"))?;
    if accepted < f64::from(connections) {
        bail!("nginx accepted {accepted} connections of {connections}{said}");
    }
    Ok(peak)
}
