//! The cores that each component of a path used in a trial.

use std::borrow::Cow;

use hopbench_model::{Cost, ProxyCost, proxy_role};

/// A component of a path, or a node, and cores that it used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Component {
    /// `client`, `server`, the role of a proxy, or the name of a node.
    pub(crate) name: Cow<'static, str>,
    /// Cores; not a number where they are not known of each of several.
    pub(crate) cores: f64,
}

impl Component {
    /// The client, the proxies that the path names in the order of its way, those of one role
    /// together, and the server.
    pub(crate) fn all(cost: &Cost) -> Vec<Self> {
        let of_end = |name: &'static str, cores: Option<&f64>| {
            cores.map(|cores| Self { name: Cow::Borrowed(name), cores: *cores })
        };
        let mut out: Vec<Self> = of_end("client", cost.client.get("cores")).into_iter().collect();
        for proxy in cost.proxies.iter().filter(|proxy| proxy.named) {
            let (role, cores) = (proxy_role(&proxy.name), cores(proxy));
            match out.iter_mut().find(|known| known.name == role) {
                Some(known) => known.cores += cores,
                None => out.push(Self { name: Cow::Owned(role.to_owned()), cores }),
            }
        }
        out.extend(of_end("server", cost.server.get("cores")));
        out
    }

    /// The nodes that no end saw, with the cores that were seen busy under the trial's load.
    pub(crate) fn metered_nodes(cost: &Cost) -> Vec<Self> {
        let mut out: Vec<Self> = Vec::new();
        for metered in cost.metered.iter().filter(|metered| metered.what == "node") {
            let is_new = out.iter().all(|known| known.name != metered.who);
            if let Some(cores) = metered.figures.get("load_cores").filter(|_| is_new) {
                out.push(Self { name: Cow::Owned(metered.who.clone()), cores: *cores });
            }
        }
        out
    }
}

fn cores(proxy: &ProxyCost) -> f64 {
    proxy.figures.get("cores").copied().unwrap_or(f64::NAN)
}
