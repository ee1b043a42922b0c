//! The result of each bound: over cells, searches, and what is gone.

use std::collections::BTreeSet;

use hopbench_model::Fault;

use super::gate::Bound;
use super::measure::{LATENCIES, Measure, PERCENTILES};
use super::pairs::{self, NotCompared, Pair};
use super::result::Asked;
use super::row::Row;
use super::searched;
use super::values::Values;
use crate::figures::kinds;
use crate::summary::BoundSummary;

/// Every bound that is asked, in their order.
pub(crate) fn all(
    cells: &pairs::CellPairs<'_>,
    searches: &searched::SearchPairs,
    rows: &[Row],
    asked: &Asked,
    minimum_effect: f64,
    sides: &[&[Values]; 2],
) -> Result<Vec<BoundSummary>, Fault> {
    // What a bound means in each workload that is compared.
    let meant = |bound: &Bound| -> BTreeSet<(String, String)> {
        let of = |pair: &Pair<'_>| {
            let point = pair.a[0].point;
            let kind = kinds::of_job(&point.job);
            (point.workload.clone(), Measure::named(&bound.metric, kind).name)
        };
        cells.pairs.iter().map(of).collect()
    };
    let mut out = Vec::new();
    for bound in &asked.bounds {
        let meant = meant(bound);
        let hit = |row: &&Row| match row.search {
            Some(_) => bound.is_of(row),
            None => meant.contains(&(row.workload.clone(), row.metric.clone())),
        };
        let mut summary = BoundSummary::of(bound, minimum_effect, rows.iter().filter(hit));
        for gone in &cells.gone {
            let found = &gone.a[0];
            let kind = kinds::of_job(&found.point.job);
            let metric = Measure::named(&bound.metric, kind).name;
            let index =
                found.of.measures[found.at].iter().position(|measure| measure.name == metric);
            if index.is_some_and(|index| !pairs::values(&gone.a, index, None).is_empty()) {
                summary.add_gone(found.cell(), metric, &gone.reason);
            }
        }
        for gone in &searches.gone {
            if let Some(metric) = bound.metric_of(gone) {
                summary.add_gone(gone.cell.clone(), metric, &gone.reason);
            }
        }
        for unsaid in &searches.unsaid {
            if let Some(metric) = bound.metric_of(unsaid) {
                summary.add_unjudged(unsaid.cell.clone(), metric, &unsaid.reason);
            }
        }
        if summary.cases.is_empty() {
            return Err(no_such_metric(bound, rows, searches, sides));
        }
        out.push(summary);
    }
    Ok(out)
}

/// Whether a bound has a case of this search, of which nothing is said.
pub(crate) fn has(searches: &searched::SearchPairs, asked: &Asked, cell: &NotCompared) -> bool {
    let mut unsaid = searches.unsaid.iter().filter(|unsaid| unsaid.named == cell.cell);
    unsaid.any(|unsaid| asked.bounds.iter().any(|bound| bound.metric_of(unsaid).is_some()))
}

fn no_such_metric(
    bound: &Bound,
    rows: &[Row],
    searches: &searched::SearchPairs,
    sides: &[&[Values]; 2],
) -> Fault {
    let of_searches = searches.metrics.iter().map(String::as_str);
    let shown: BTreeSet<&str> =
        rows.iter().map(|row| row.metric.as_str()).chain(of_searches).collect();
    let all = || sides.iter().flat_map(|side| side.iter());
    let others = all().flat_map(|values| &values.metrics).map(String::as_str);
    let others: BTreeSet<&str> = others.filter(|name| !shown.contains(name)).collect();
    let recorded =
        all().flat_map(|values| &values.latencies).filter_map(|name| name.strip_suffix("_ns"));
    let of_rows =
        rows.iter().filter_map(|row| Some(row.metric.strip_suffix("_ns")?.rsplit_once("_p")?.0));
    let is_known = |name: &&str| LATENCIES.iter().any(|(known, _)| known == name);
    let latencies: BTreeSet<&str> = recorded.chain(of_rows).filter(is_known).collect();
    let each = latencies
        .iter()
        .flat_map(|of| PERCENTILES.iter().map(move |(name, ..)| format!("{name}_{of}")));
    let has_rates = searches.metrics.iter().any(|name| name == searched::FOUND_RATE);
    let found_load = has_rates.then_some(searched::FOUND_LOAD);
    let words: Vec<String> =
        ["throughput"].into_iter().chain(found_load).map(str::to_owned).chain(each).collect();
    let known =
        words.iter().map(String::as_str).chain(shown.iter().copied()).chain(others.iter().copied());
    let meant = nearest(&bound.metric, known)
        .map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
    let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    let percentiles = PERCENTILES.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
    let of_latencies = latencies.first().map_or(String::new(), |one| {
        format!(", {percentiles} of {} (like p99_{one})", list(&latencies))
    });
    let of_searches = found_load.map_or(String::new(), |name| format!(", {name}"));
    Fault::input(format!(
        "--fail-on: found `{}`, which no cell of both runs has{meant}; expected \
         throughput{of_latencies}{of_searches}, one of {}, or of the other metrics in the records: \
         {}",
        bound.metric,
        list(&shown),
        list(&others),
    ))
}

/// The name that was probably meant: at most every third character is wrong.
fn nearest<'a>(found: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let found: String = found.chars().take(100).collect();
    let most = (found.chars().count() / 3).max(1);
    let all = known.map(|name| (strsim::damerau_levenshtein(&found, name), name));
    all.min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= most)
        .map(|(_, name)| name)
}
