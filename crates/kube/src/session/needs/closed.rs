//! The ways through gateways that are closed: whole paths, and cells whose traffic no route takes.

use std::collections::BTreeMap;

use hopbench_model::{ClusterSpec, Path};
use hopbench_testbed::Need;
use hopbench_testbed::placement::{Endpoints, Placement};

use crate::plan::gateways::{self, Demand, Routing};
use crate::plan::traffic::Traffic;
use crate::provision::gateway::{Unmet, Wanted};

/// The closed ways of a plan.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    /// The needs of whole paths.
    pub(crate) paths: Vec<Need>,
    /// Why single cells cannot enter, by the names of their paths and what they send.
    pub(crate) cells: BTreeMap<(String, Traffic), String>,
}

impl Closed {
    /// Asks once about each gateway, with all that is to enter by it. `lacking` gives a reason for
    /// each, `None` where there is none, or one for the whole gateway.
    pub(crate) fn of(
        spec: &ClusterSpec,
        placement: &Placement,
        demand: &Demand,
        mut lacking: impl FnMut(&Routing, &[Wanted]) -> Result<Vec<Option<String>>, Unmet>,
    ) -> Self {
        let mut entering: BTreeMap<Routing, Vec<&Path>> = BTreeMap::new();
        for Endpoints { path, .. } in placement.paths.values() {
            if let Some(routing) = gateways::of_path(spec, path) {
                entering.entry(routing).or_default().push(path);
            }
        }
        let mut closed = Self::default();
        for (routing, paths) in &entering {
            let sent = |path: &Path| demand.get(&path.name).into_iter().flatten().copied();
            let all: Vec<(&Path, Traffic)> = paths
                .iter()
                .flat_map(|path| sent(path).map(move |traffic| (*path, traffic)))
                .collect();
            let wanted: Vec<Wanted> =
                all.iter().map(|(path, traffic)| (*traffic, path.family)).collect();
            match lacking(routing, &wanted) {
                Err(Unmet { why, remedy }) => {
                    let what = match routing {
                        Routing::Route(_) => "a Gateway",
                        Routing::Ingress(_) => "an IngressClass",
                    };
                    let need = |path: &&Path| Need::new(Some(path), what, why.clone(), &remedy);
                    closed.paths.extend(paths.iter().map(need));
                }
                Ok(reasons) => {
                    let told = all.iter().zip(reasons).filter_map(|((path, traffic), why)| {
                        Some(((path.name.clone(), *traffic), why?))
                    });
                    closed.cells.extend(told);
                }
            }
        }
        closed
    }
}
