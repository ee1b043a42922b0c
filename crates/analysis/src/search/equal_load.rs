//! Every path at the loads that were found on each of them.

use std::collections::BTreeMap;

use hopbench_model::{EQUAL_LOAD, Point, Record, SearchSpec, point_label};
use serde_json::Value;

use super::trials::{self, SearchTrial};
use crate::figures::{Kind, RecordedJob, mostly_saturated};
use crate::run_data::RunData;
use crate::summary::{EqualLoad, EqualLoadPath, SearchedPath};
use crate::text::LoadUnit;

/// The text if no load was found that all paths could be measured at.
const NO_LOAD: &str = "every path at equal load was asked for, but no search found a load";

/// The text while that has not begun.
const NOT_YET: &str =
    "every path at equal load was asked for and not measured: a search has not ended";

/// The text if that was not measured though there are loads.
const NOT_MADE: &str = "every path at equal load was asked for and not measured";

/// Why there is nothing at equal load though it was asked for; empty where there is, or it was not.
/// Of a search over two parameters it stands with the first one.
pub(crate) fn missing(
    spec: &SearchSpec,
    paths: &[SearchedPath],
    records: &[&Record],
) -> &'static str {
    let mut steps = records.iter().filter_map(|record| record.search.as_ref());
    if !spec.equal_load || steps.any(|step| step.goal == EQUAL_LOAD) {
        ""
    } else if paths.iter().any(|path| path.outcome.is_none()) {
        NOT_YET
    } else if paths.iter().all(|path| path.at.is_none()) {
        NO_LOAD
    } else {
        NOT_MADE
    }
}

/// The measurements at loads that were found, by the path on which they were.
pub(crate) fn all(
    data: &RunData,
    point: &Point,
    unit: LoadUnit<'_>,
    kind: &Kind,
    records: &[&Record],
) -> Vec<EqualLoad> {
    let parameter = unit.parameter;
    let paths = &data.run.plan.paths;
    let mut out = Vec::new();
    for found_on in paths {
        let all = trials::of_equal_load(records, parameter, &found_on.name);
        let mut loads: Vec<f64> = all.iter().map(|trial| trial.step.load).collect();
        loads.sort_unstable_by(f64::total_cmp);
        loads.dedup();
        for load in loads {
            let at = |trial: &&SearchTrial<'_>| trial.step.load == load;
            let one = |path: &hopbench_model::Path| {
                let own = trials::counted(
                    all.iter().filter(at).filter(|trial| trial.record.path == path.name),
                );
                let records: Vec<&Record> = own.iter().map(|trial| trial.record).collect();
                if records.is_empty() {
                    return None;
                }
                let saturated = records.iter().map(|record| record.saturated_per_s());
                Some(EqualLoadPath {
                    path: path.name.clone(),
                    trials: records.len(),
                    saturated_per_s: mostly_saturated(saturated),
                    figures: trials::figures(kind, &records, path.proxies_carry(&point.job)),
                    components: trials::components(&records),
                })
            };
            let setting = all.iter().find(at).map(|trial| {
                let own =
                    trial.record.point.iter().filter(|(name, _)| !point.point.contains_key(*name));
                let mut own: BTreeMap<String, Value> =
                    own.map(|(name, value)| (name.clone(), value.clone())).collect();
                // The threads were found, too, and are set with it.
                let threads =
                    RecordedJob(&trial.record.job).threads().filter(|_| parameter == "connections");
                own.extend(threads.map(|threads| ("threads".to_owned(), threads.into())));
                point_label(&own)
            });
            out.push(EqualLoad {
                found_on: found_on.name.clone(),
                load,
                setting: setting.filter(|text| !text.is_empty()).unwrap_or_else(|| unit.text(load)),
                paths: paths.iter().filter_map(one).collect(),
            });
        }
    }
    out
}
