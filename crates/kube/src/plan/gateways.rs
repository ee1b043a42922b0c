//! Gateways of the cluster that lead to a run's servers, by routes at Gateways and by Ingresses.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{ClusterSpec, GatewaySpec, ParentGateway, Path, Plan, Point};
use hopbench_testbed::placement::Placement;

use crate::api::labels::RunIdentity;
use crate::plan::traffic::Traffic;

/// The name of the Gateway that a run makes, if it is the only one.
const NAME: &str = "gateway";

/// What a run makes so that a gateway of the cluster leads to its servers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Routing {
    /// Routes at a Gateway of the Gateway API.
    Route(RouteGateway),
    /// An Ingress.
    Ingress(IngressGateway),
}

impl Routing {
    /// Whether the run makes the gateway, too.
    pub(crate) fn makes_gateway(&self) -> bool {
        matches!(self, Self::Route(gateway) if gateway.is_made())
    }

    /// Whether there is something that leads this traffic to the run.
    pub(crate) fn takes(&self, traffic: Traffic) -> bool {
        match self {
            Self::Route(_) => true,
            // It has no words for anything else, and each controller has its own.
            Self::Ingress(_) => traffic == Traffic::Http,
        }
    }
}

/// The gateway of an Ingress.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IngressGateway {
    /// The IngressClass.
    pub(crate) class: String,
    /// Where it listens, as the scenario says; `None`: the Ingress's status says it.
    pub(crate) address: Option<String>,
}

/// A Gateway that routes of a run are attached to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RouteGateway {
    /// It is there before the run, and stays.
    Given(ParentGateway),
    /// The run makes it, in its own namespace.
    Made {
        /// Its name.
        name: String,
        /// Its GatewayClass.
        class: String,
    },
}

impl RouteGateway {
    /// Its namespace and name for a run. In a namespace that is given, its name has that of the
    /// run: there may be others, and what earlier runs left behind.
    pub(crate) fn place(&self, run: &RunIdentity) -> ParentGateway {
        match self {
            Self::Given(place) => place.clone(),
            Self::Made { name, .. } => ParentGateway {
                namespace: run.namespace.clone(),
                name: if run.is_guest { format!("{name}-{}", run.name) } else { name.clone() },
            },
        }
    }

    /// Whether the run makes it.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self, Self::Made { .. })
    }
}

/// The routing that the run makes for a path that enters by a gateway; `None`: nothing.
pub(crate) fn of_path(spec: &ClusterSpec, path: &Path) -> Option<Routing> {
    let gateway = spec.gateway_of(path)?;
    if let Some(class) = &gateway.ingress {
        let (class, address) = (class.clone(), gateway.address.clone());
        return Some(Routing::Ingress(IngressGateway { class, address }));
    }
    let name = match &path.gateway_name {
        Some(name) => format!("{NAME}-{name}"),
        None => NAME.to_owned(),
    };
    let made = |class: &String| RouteGateway::Made { name, class: class.clone() };
    let given = gateway.parent.clone().map(RouteGateway::Given);
    given.or_else(|| gateway.class.as_ref().map(made)).map(Routing::Route)
}

/// What the cells of each path send through gateways that lead to a run's servers, by the names of
/// the paths.
pub(crate) type Demand = BTreeMap<String, BTreeSet<Traffic>>;

/// The demand of a plan, as far as its cells are measured.
pub(crate) fn demand(
    spec: &ClusterSpec,
    plan: &Plan,
    is_measured: impl Fn(&Path, &Point) -> bool,
) -> Demand {
    let mut demand = Demand::new();
    for cell in &plan.cells {
        let (path, point) = plan.at(*cell);
        if !is_measured(path, point) {
            continue;
        }
        let routed = of_path(spec, path).zip(Traffic::of(&point.job));
        if let Some((_, traffic)) = routed.filter(|(routing, traffic)| routing.takes(*traffic)) {
            demand.entry(path.name.clone()).or_default().insert(traffic);
        }
    }
    demand
}

/// The namespace and the labels of a gateway's pods, if the scenario says them.
pub(crate) fn pods(gateway: &GatewaySpec) -> Option<(&str, String)> {
    let labels = gateway.labels.iter().map(|(key, value)| format!("{key}={value}"));
    Some((gateway.namespace.as_deref()?, labels.collect::<Vec<_>>().join(",")))
}

/// The namespaces besides the run's that gateways reach its servers from; `None`: any.
pub(crate) fn entrances(spec: &ClusterSpec, placement: &Placement) -> BTreeSet<Option<String>> {
    let of_one = |path: &Path| {
        let said = spec.gateway_of(path)?.namespace.clone();
        match of_path(spec, path)? {
            Routing::Route(RouteGateway::Given(place)) => Some(said.or(Some(place.namespace))),
            // Most classes have their pods beside the Gateway, in the run's namespace.
            Routing::Route(RouteGateway::Made { .. }) => said.map(Some),
            Routing::Ingress(_) => Some(said),
        }
    };
    placement.paths.values().filter_map(|ends| of_one(&ends.path)).collect()
}

/// Whether a run makes a Gateway, whose pods are then in its namespace.
pub(crate) fn makes_one(spec: &ClusterSpec, placement: &Placement) -> bool {
    let mut all = placement.paths.values().filter_map(|ends| of_path(spec, &ends.path));
    all.any(|routing| routing.makes_gateway())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_in_a_namespace_that_is_given_has_the_name_of_its_run() {
        let run = |is_guest| RunIdentity {
            name: "k2v9xq1bzr".into(),
            namespace: "team".into(),
            is_guest,
            owner: "uid".into(),
        };
        let made = RouteGateway::Made { name: "gateway-new".into(), class: "c".into() };
        assert_eq!(made.place(&run(false)).to_string(), "team/gateway-new");
        assert_eq!(made.place(&run(true)).to_string(), "team/gateway-new-k2v9xq1bzr");
    }
}
