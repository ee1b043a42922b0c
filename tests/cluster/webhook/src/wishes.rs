//! The wishes that a pod's annotations have for its sidecar, in Istio's words.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Some of many, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chosen<T: Ord> {
    /// `*`
    All,
    /// These, maybe none.
    These(BTreeSet<T>),
}

/// What the annotations say, with Istio's defaults.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wishes {
    pub(crate) inbound: Chosen<u16>,
    pub(crate) not_inbound: BTreeSet<u16>,
    /// These in any case, whatever the addresses.
    pub(crate) outbound: BTreeSet<u16>,
    pub(crate) not_outbound: BTreeSet<u16>,
    pub(crate) ranges: Chosen<String>,
    pub(crate) not_ranges: BTreeSet<String>,
    /// Worker threads, at least 1.
    pub(crate) concurrency: u32,
    /// The sidecar is ready before the application starts.
    pub(crate) first: bool,
    /// The sidecar's image.
    pub(crate) image: String,
    pub(crate) resources: Value,
}

/// `proxy.istio.io/config`, as far as it matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Config {
    concurrency: Option<u32>,
    hold_application_until_proxy_starts: bool,
}

/// Worker threads where nothing says how many.
const WORKERS: u32 = 2;
/// The sidecar's image where nothing says which.
const IMAGE: &str = "hopbench.test/envoy:1";

impl Wishes {
    /// Those of a pod with these annotations.
    pub(crate) fn of(annotations: &BTreeMap<&str, &str>) -> Result<Self, String> {
        let traffic = |name: &str| {
            annotations.get(format!("traffic.sidecar.istio.io/{name}").as_str()).copied()
        };
        let ports = |name: &str| listed(name, traffic(name).unwrap_or_default(), number);
        let ranges = |name: &str| listed(name, traffic(name).unwrap_or_default(), range);
        let is = |name: &str| annotations.get(name).copied() == Some("true");
        let config = match annotations.get("proxy.istio.io/config") {
            Some(text) => serde_saphyr::from_str::<Config>(text).map_err(|error| {
                format!("annotation proxy.istio.io/config: found {text:?}: {error}")
            })?,
            None => Config::default(),
        };
        let resources = resources(annotations);
        Ok(Self {
            inbound: match traffic("includeInboundPorts") {
                None | Some("*") => Chosen::All,
                Some(_) => Chosen::These(ports("includeInboundPorts")?),
            },
            not_inbound: ports("excludeInboundPorts")?,
            outbound: ports("includeOutboundPorts")?,
            not_outbound: ports("excludeOutboundPorts")?,
            ranges: match traffic("includeOutboundIPRanges") {
                None | Some("*") => Chosen::All,
                Some(_) => Chosen::These(ranges("includeOutboundIPRanges")?),
            },
            not_ranges: ranges("excludeOutboundIPRanges")?,
            concurrency: match config.concurrency {
                Some(0) => {
                    return Err(
                        "annotation proxy.istio.io/config: found concurrency 0, expected 1 or more"
                            .to_owned(),
                    );
                }
                Some(workers) => workers,
                None => workers(resources["limits"]["cpu"].as_str())?,
            },
            first: config.hold_application_until_proxy_starts
                || is("sidecar.istio.io/nativeSidecar"),
            image: image(annotations)?,
            resources,
        })
    }
}

/// Without an image the API server would refuse the pod, and not say why.
fn image(annotations: &BTreeMap<&str, &str>) -> Result<String, String> {
    let name = "sidecar.istio.io/proxyImage";
    match annotations.get(name).map(|image| image.trim()) {
        Some("") => Err(format!("annotation {name}: found nothing, expected an image")),
        image => Ok(image.unwrap_or(IMAGE).to_owned()),
    }
}

/// As many workers as the limit has CPUs, begun ones included.
fn workers(limit: Option<&str>) -> Result<u32, String> {
    let Some(limit) = limit else { return Ok(WORKERS) };
    let cpus = match limit.strip_suffix('m') {
        Some(thousandths) => thousandths.parse::<f64>().map(|number| number / 1000.0),
        None => limit.parse::<f64>(),
    };
    let cpus = cpus.map_err(|_| {
        format!("annotation sidecar.istio.io/proxyCPULimit: found {limit:?}, expected CPUs: 1500m")
    })?;
    Ok((cpus.ceil() as u32).max(1))
}

/// Who names one figure gets what is named and nothing else; who names none gets Istio's defaults.
fn resources(annotations: &BTreeMap<&str, &str>) -> Value {
    let named = [
        ("requests", "cpu", "proxyCPU"),
        ("requests", "memory", "proxyMemory"),
        ("limits", "cpu", "proxyCPULimit"),
        ("limits", "memory", "proxyMemoryLimit"),
    ];
    let mut resources = Map::new();
    for (kind, what, name) in named {
        if let Some(value) = annotations.get(format!("sidecar.istio.io/{name}").as_str()) {
            resources.entry(kind).or_insert_with(|| json!({}))[what] = (*value).into();
        }
    }
    if resources.is_empty() {
        return json!({
            "requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "2", "memory": "1Gi"},
        });
    }
    resources.into()
}

fn listed<T: Ord>(
    name: &str,
    text: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<BTreeSet<T>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let one = |part: &str| {
        let why = || {
            format!(
                "annotation traffic.sidecar.istio.io/{name}: found {part:?} in {text:?}, expected \
                 a list like 80,443 or 10.0.0.0/8"
            )
        };
        read(part).ok_or_else(why)
    };
    parts.map(one).collect()
}

fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}

/// An IPv4 range or address; it goes into rules, so that it is read before.
fn range(text: &str) -> Option<String> {
    let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
    let address: std::net::Ipv4Addr = address.parse().ok()?;
    let bits: u8 = bits.parse().ok().filter(|bits| *bits <= 32)?;
    Some(format!("{address}/{bits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(annotations: &[(&'static str, &'static str)]) -> Result<Wishes, String> {
        Wishes::of(&annotations.iter().copied().collect())
    }

    #[test]
    fn without_annotations_everything_is_taken() {
        let said = wishes(&[]).unwrap();
        assert_eq!((said.inbound, said.ranges), (Chosen::All, Chosen::All));
        assert_eq!((said.concurrency, said.first), (2, false));
        assert_eq!(said.image, "hopbench.test/envoy:1");
        assert!(
            said.outbound.is_empty() && said.not_outbound.is_empty() && said.not_inbound.is_empty()
        );
    }

    #[test]
    fn lists_are_read() {
        let said = wishes(&[
            ("traffic.sidecar.istio.io/includeInboundPorts", "17000, 17002"),
            ("traffic.sidecar.istio.io/excludeInboundPorts", "7474"),
            ("traffic.sidecar.istio.io/includeOutboundPorts", "17001"),
            ("traffic.sidecar.istio.io/includeOutboundIPRanges", ""),
            ("traffic.sidecar.istio.io/excludeOutboundIPRanges", "10.0.0.1,10.1.0.0/16"),
        ])
        .unwrap();
        assert_eq!(said.inbound, Chosen::These([17000, 17002].into()));
        assert_eq!((said.not_inbound, said.outbound), ([7474].into(), [17001].into()));
        assert_eq!(said.ranges, Chosen::These(BTreeSet::new()));
        assert_eq!(said.not_ranges, ["10.0.0.1/32".to_owned(), "10.1.0.0/16".to_owned()].into());
    }

    #[test]
    fn workers_come_from_the_config_else_from_the_limit() {
        let limit = ("sidecar.istio.io/proxyCPULimit", "2500m");
        assert_eq!(wishes(&[limit]).unwrap().concurrency, 3);
        assert_eq!(
            wishes(&[limit, ("proxy.istio.io/config", "concurrency: 1\ntracing: {}")])
                .unwrap()
                .concurrency,
            1
        );
        assert!(
            wishes(&[("proxy.istio.io/config", "{\"holdApplicationUntilProxyStarts\": true}")])
                .unwrap()
                .first
        );
    }

    #[test]
    fn who_names_one_resource_gets_no_other() {
        let limit = ("sidecar.istio.io/proxyCPULimit", "1");
        assert_eq!(wishes(&[limit]).unwrap().resources, json!({"limits": {"cpu": "1"}}));
        let more = ("sidecar.istio.io/proxyMemory", "64Mi");
        let expected = json!({"requests": {"memory": "64Mi"}, "limits": {"cpu": "1"}});
        assert_eq!(wishes(&[limit, more]).unwrap().resources, expected);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let broken = [
            ("traffic.sidecar.istio.io/excludeOutboundPorts", "80;443"),
            ("traffic.sidecar.istio.io/includeOutboundIPRanges", "10.0.0.0/33"),
            ("proxy.istio.io/config", "concurrency: many"),
            ("proxy.istio.io/config", "concurrency: 0"),
            ("sidecar.istio.io/proxyCPULimit", "much"),
            ("sidecar.istio.io/proxyImage", " "),
        ];
        for (name, value) in broken {
            let why = wishes(&[(name, value)]).unwrap_err();
            assert!(why.contains(name), "{why}");
        }
    }
}
