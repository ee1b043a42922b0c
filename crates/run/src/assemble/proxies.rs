//! The cost of the proxies of a path.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_load::workload::Workload;
use hopbench_meter::delta;
use hopbench_model::{Counter, EndReport, ProxyCost, SECOND, Transport, proxy_role};
use hopbench_testbed::{Gauges, Proxy};

use crate::conduct::Edges;
use crate::limited::{Burden, CLIENT, SERVER, WorkingProcess, quota};
use crate::metered::UnderLoad;

/// Proxies count times of connecting in whole milliseconds, rounded down: a mean below one says
/// that they were short, and not how short.
const RESOLUTION_US: f64 = 1000.0;

/// A proxy of the route, and what it says of itself.
#[derive(Debug, Clone)]
pub struct ProxySaid<'a> {
    /// Which one.
    pub proxy: &'a Proxy,
    /// How its counters grew from the trial's start to its end, warm-up included.
    pub counted: BTreeMap<String, u64>,
    /// Its values shortly before the window ended.
    pub gauges: Gauges,
    /// What it used as others metered it, for where its processes cannot be seen. `Err`: why their
    /// readings do not say it. `None`: nobody metered it.
    pub metered: Option<Result<UnderLoad, String>>,
}

/// What all proxies cost.
#[derive(Default)]
pub(super) struct Spent {
    pub(super) costs: Vec<ProxyCost>,
    /// What those that the path names put on their CPUs.
    pub(super) burdens: Vec<Burden>,
    /// Cores that processes used, by node.
    pub(super) on_nodes: Vec<(String, f64)>,
    /// Figures of those that the path names together; absent where one of them is not known.
    pub(super) metrics: BTreeMap<String, f64>,
    /// Why what some spent is not known, or who metered it, by setting.
    pub(super) unavailable: BTreeMap<String, String>,
}

/// What the traffic was, for the price of a piece of it.
pub(super) struct Work {
    requests_per_s: Option<f64>,
    bytes_per_s: Option<f64>,
}

impl Work {
    /// What the clients saw in the window: exchanges that were completed, and of bare TCP the
    /// payload, both directions together.
    pub(super) fn of(
        workload: &dyn Workload,
        metrics: &BTreeMap<String, f64>,
        client: &EndReport,
    ) -> Self {
        let seconds = client.end.t_ns.saturating_sub(client.start.t_ns) as f64 / SECOND as f64;
        let grown = client.end.counts.since(&client.start.counts);
        let rate = |n: u64| (seconds > 0.0 && n > 0).then(|| n as f64 / seconds);
        let is_bytes = workload.kind().transport == Transport::Tcp;
        let bytes = grown.of(Counter::SentBytes) + grown.of(Counter::ReceivedBytes);
        Self {
            requests_per_s: rate(grown.of(Counter::Completed))
                .filter(|_| metrics.contains_key("requests_per_s")),
            bytes_per_s: rate(bytes).filter(|_| is_bytes),
        }
    }
}

/// Connections that clients open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Connections {
    pub(super) each_client: u32,
    pub(super) all: u32,
    pub(super) servers: u32,
}

impl Connections {
    /// How many pass a proxy: several servers share those of all clients.
    fn through(&self, proxy: &Proxy) -> u32 {
        let is = |end: &str| proxy_role(&proxy.name) == format!("{end}-sidecar");
        match () {
            () if is(CLIENT) => self.each_client,
            () if is(SERVER) => self.all.div_ceil(self.servers.max(1)),
            () => self.all,
        }
    }
}

/// The costs of the proxies, whose readings stand in the same order.
pub(super) fn spent(
    proxies: &[ProxySaid<'_>],
    readings: &[Result<Edges, String>],
    work: &Work,
    connections: Connections,
) -> Spent {
    let mut out = Spent::default();
    for (said, edges) in proxies.iter().zip(readings) {
        let proxy = said.proxy;
        let mut figures = match edges {
            Ok(edges) => window(edges),
            Err(unseen) => {
                let (text, figures) = match &said.metered {
                    Some(Ok(metered)) => (metered.source.clone(), metered.figures.clone()),
                    Some(Err(why)) => {
                        (format!("unavailable: {unseen}, and {why}"), BTreeMap::new())
                    }
                    None if proxy.pids.is_empty() => {
                        let why = "no meter read it both before the trial and after it";
                        (format!("unavailable: {unseen}, and {why}"), BTreeMap::new())
                    }
                    None => (format!("unavailable: {unseen}"), BTreeMap::new()),
                };
                out.unavailable.insert(format!("proxy_{}", proxy.name), text);
                figures
            }
        };
        if let Some(cores) = figures.get("cores").copied() {
            out.on_nodes.push((proxy.node.clone(), cores));
            if proxy.named {
                let stopped = quota::stopped(&figures, None);
                out.burdens.push(Burden { stopped, ..burden(proxy, cores, connections) });
                for (name, rate) in [("request", work.requests_per_s), ("byte", work.bytes_per_s)] {
                    if let Some(rate) = rate {
                        figures.insert(format!("cpu_ns_per_{name}"), cores / rate * SECOND as f64);
                    }
                }
            }
        }
        let counted = |name: &str| said.counted.get(name).copied().unwrap_or(0) as f64;
        let mean = counted("upstream_connect_us_total") / counted("upstream_connects");
        if mean >= RESOLUTION_US {
            figures.insert("upstream_connect_mean_us".to_owned(), mean);
        }
        figures.extend(said.counted.iter().map(|(name, grown)| (name.clone(), *grown as f64)));
        figures.extend(said.gauges.iter().map(|(name, value)| (name.clone(), *value)));
        // JSON has no word for what is not finite.
        figures.retain(|_, value| value.is_finite());
        out.costs.push(ProxyCost {
            name: proxy.name.clone(),
            node: proxy.node.clone(),
            named: proxy.named,
            figures,
        });
    }
    out.metrics = metrics(&out.costs, work);
    out
}

/// The costs of a proxy's processes between two readings.
fn window(edges: &Edges) -> BTreeMap<String, f64> {
    let mut out = delta::window(&edges.start, &edges.end);
    delta::split_exactly(&mut out, &edges.end);
    out.retain(|name, _| !super::processes::is_of_one(name) && name != "processes");
    let of = |name: &str| out.get(name).copied();
    let cpu_s = of("cpu_s").or_else(|| Some(of("user_s")? + of("system_s")?));
    if let Some(cpu_s) = cpu_s {
        out.insert("cpu_s".to_owned(), cpu_s);
        out.insert("cores".to_owned(), cpu_s / edges.seconds);
    }
    quota::as_share(&mut out, edges.seconds);
    out
}

fn burden(proxy: &Proxy, cores: f64, connections: Connections) -> Burden {
    // A connection stays with the worker that accepted it: the others have nothing to do.
    let threads = proxy.workers.min(connections.through(proxy));
    Burden {
        who: proxy_role(&proxy.name).to_owned(),
        node: proxy.node.clone(),
        cores,
        processes: if threads > 0 {
            vec![WorkingProcess { cores, threads, waits_per_s: None }]
        } else {
            Vec::new()
        },
        cpus: proxy.cpus.as_ref().map(|cpus| cpus.iter().copied().collect::<BTreeSet<_>>()),
        stopped: None,
        limit: None,
    }
}

/// The costs of the proxies that the path names, together.
fn metrics(costs: &[ProxyCost], work: &Work) -> BTreeMap<String, f64> {
    let named: Vec<&ProxyCost> = costs.iter().filter(|cost| cost.named).collect();
    let sum = |figure: fn(&ProxyCost) -> Option<f64>| -> Option<f64> {
        let all: Option<Vec<f64>> = named.iter().map(|cost| figure(cost)).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
    };
    let cores = sum(|cost| cost.figures.get("cores").copied());
    let per_request = cores.zip(work.requests_per_s).map(|(cores, rate)| cores / rate * 1e6);
    let all = [
        ("proxy_cores", cores),
        ("proxy_cpu_us_per_request", per_request),
        ("proxy_rss_bytes", sum(ProxyCost::memory_bytes)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
