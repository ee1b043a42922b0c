//! The label of a trial, as Istio's benchmark kit writes and its plotter reads it.

use std::collections::HashMap;

use hopbench_model::units::Bytes;
use hopbench_model::{MeshMode, Path, Point, RunFile, Via, point_label};

use super::trial::{asked_per_s, connections};

/// Characters of the run's identity in a label.
const RUN_DIGITS: usize = 8;

/// What tells trials of one label apart.
#[derive(Debug)]
pub(super) struct Labels {
    run: String,
    /// Cells that have a label without anything more in common.
    cells: HashMap<String, u32>,
}

impl Labels {
    pub(super) fn of(run: &RunFile) -> Self {
        let digits = run.run_id.chars().filter(char::is_ascii_hexdigit).take(RUN_DIGITS).collect();
        let mut out = Self { run: digits, cells: HashMap::new() };
        for cell in &run.plan.cells {
            let (path, point) = run.plan.at(*cell);
            if point.job.kind().is_http() {
                *out.cells.entry(out.plain(path, point, "")).or_default() += 1;
            }
        }
        out
    }

    /// `{run_id}_qps_{qps}_c_{connections}_{size}_{telemetry}[_{extra}]_{mode}`. `telemetry` is the
    /// variant of the path's proxies, `none` where it has none. `extra` names path, workload and
    /// point where other cells would have the same label.
    pub(super) fn text(&self, path: &Path, point: &Point) -> String {
        let plain = self.plain(path, point, "");
        if self.cells.get(&plain).is_none_or(|cells| *cells == 1) {
            return plain;
        }
        let at = point_label(&point.point);
        let extra = [path.name.as_str(), point.workload.as_str(), at.as_str()].join("-");
        self.plain(path, point, &format!("_{}", word(extra.trim_end_matches('-'))))
    }

    fn plain(&self, path: &Path, point: &Point, extra: &str) -> String {
        // Their kit asks for `-qps 0` where it wants as many as possible.
        let qps = asked_per_s(path, point).unwrap_or(0.0);
        let size = size(point).map_or_else(|| "0".to_owned(), |bytes| bytes.to_string());
        let telemetry = path.variant.as_ref().map_or("none", |variant| &variant.name);
        let (run, connections) = (&self.run, connections(path, point));
        format!("{run}_qps_{qps}_c_{connections}_{size}_{}{extra}_{}", word(telemetry), mode(path))
    }
}

/// The name that their kit has for the proxies of a path.
fn mode(path: &Path) -> &'static str {
    match (&path.via, path.mesh) {
        (Via::Gateway(_), _) => "ingress",
        (_, MeshMode::None) => "no_istio",
        (_, MeshMode::Server) => "serveronly",
        (_, MeshMode::Client) => "clientonly",
        (_, MeshMode::Both) => "both",
    }
}

/// Bytes of the body that is asked for; `None` where the scenario does not say.
fn size(point: &Point) -> Option<u64> {
    let query = point.server.request.split_once('?').map_or("", |(_, query)| query);
    let asked = query.split('&').find_map(|part| part.strip_prefix("size="));
    let asked = asked.and_then(|size| size.parse::<Bytes>().ok()).map(|bytes| bytes.0);
    point.server.response_bytes.or(asked)
}

/// A text without blanks, and without commas, which their CSV does not quote.
fn word(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_graphic() && !matches!(c, ',' | '"') { c } else { '-' })
        .collect()
}
