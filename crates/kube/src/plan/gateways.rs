//! The Gateways of the Gateway API that the routes of a run are attached to.

use hopbench_model::{ClusterSpec, GatewaySpec, ParentGateway, Path};
use hopbench_testbed::placement::Placement;

/// The name of the Gateway that a run makes, if it is the only one.
const NAME: &str = "gateway";

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
    /// Its namespace and name, for a run in this namespace.
    pub(crate) fn place(&self, namespace: &str) -> ParentGateway {
        match self {
            Self::Given(place) => place.clone(),
            Self::Made { name, .. } => {
                ParentGateway { namespace: namespace.to_owned(), name: name.clone() }
            }
        }
    }

    /// Whether the run makes it.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self, Self::Made { .. })
    }
}

/// The Gateway that the routes of a path are attached to; `None`: the run makes no route for it.
pub(crate) fn of_path(spec: &ClusterSpec, path: &Path) -> Option<RouteGateway> {
    let gateway = spec.gateway_of(path)?;
    let name = match &path.gateway_name {
        Some(name) => format!("{NAME}-{name}"),
        None => NAME.to_owned(),
    };
    let made = |class: &String| RouteGateway::Made { name, class: class.clone() };
    let given = gateway.parent.clone().map(RouteGateway::Given);
    given.or_else(|| gateway.class.as_ref().map(made))
}

/// The namespace and the labels of a gateway's pods, if the scenario says them.
pub(crate) fn pods(gateway: &GatewaySpec) -> Option<(&str, String)> {
    let labels = gateway.labels.iter().map(|(key, value)| format!("{key}={value}"));
    Some((gateway.namespace.as_deref()?, labels.collect::<Vec<_>>().join(",")))
}

/// Whether a run makes a Gateway, whose pods are then in its namespace.
pub(crate) fn makes_one(spec: &ClusterSpec, placement: &Placement) -> bool {
    let gateways = placement.paths.values().filter_map(|ends| of_path(spec, &ends.path));
    gateways.into_iter().any(|gateway| gateway.is_made())
}
