//! The CSV of Istio's benchmark kit, for its plotter and for spreadsheets made for it: one row an
//! HTTP trial.
//!
//! The columns are those that its daily job writes. Latencies are whole microseconds of the service
//! time, which is what its load generator measures. They are cut, not rounded, as it does. All
//! other formats have the response time of an open loop, `fortio` among them. `ActualQPS` is
//! rounded, and counts errors. Millicores and MiB are those of the client's sidecar, the server's
//! sidecar and the gateway. They are means over the whole window, and `-` if a path has none.
//! Nothing is quoted: no value of ours has a comma.

use hopbench_model::ProxyCost;

use crate::export::{Trial, TrialFormat, TrialPrinter};
use crate::format::Format;
use crate::text::csv::Csv;

const HEAD: &str = "StartTime,ActualDuration,Labels,NumThreads,ActualQPS,p50,p90,p99,p999,\
cpu_mili_avg_istio_proxy_fortioclient,cpu_mili_avg_istio_proxy_fortioserver,\
cpu_mili_avg_istio_proxy_istio-ingressgateway,mem_Mi_avg_istio_proxy_fortioclient,\
mem_Mi_avg_istio_proxy_fortioserver,mem_Mi_avg_istio_proxy_istio-ingressgateway\n";

/// The proxies in the order of the columns.
const PROXIES: [&str; 3] = ["client-sidecar", "server-sidecar", "gateway"];

/// What stands for a value that is missing.
const MISSING: &str = "-";

/// The format; see the [module](self).
pub(super) const FORMAT: TrialFormat = Format {
    name: "istio-csv",
    summary: "the CSV of Istio's benchmark kit: one row an HTTP trial, service time",
    render: TrialPrinter { head: HEAD, trial, file: None },
};

fn trial(trial: &Trial<'_>) -> String {
    let record = trial.record;
    let histogram = trial.histogram().unwrap_or_default();
    let mut values = vec![
        record.started_at.clone(),
        (record.window_s as u64).to_string(),
        trial.label.clone(),
        trial.connections().to_string(),
        (trial.calls_per_s().round() as u64).to_string(),
    ];
    values.extend([50.0, 90.0, 99.0, 99.9].map(|p| (histogram.percentile(p) / 1000).to_string()));
    let number = |value: Option<f64>| {
        value.map_or_else(|| MISSING.to_owned(), |value| format!("{value:.3}"))
    };
    let cores = |proxy: &ProxyCost| proxy.figures.get("cores").copied();
    values
        .extend(PROXIES.map(|name| number(trial.proxies(name, cores).map(|cores| cores * 1000.0))));
    let memory = |name| trial.proxies(name, ProxyCost::memory_bytes);
    values.extend(PROXIES.map(|name| number(memory(name).map(|bytes| bytes / 1_048_576.0))));
    let mut out = Csv::default();
    out.row(values);
    out.finish()
}
