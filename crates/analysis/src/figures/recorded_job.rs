//! The job as a record carries it, read leniently: another version may have written it.

use hopbench_model::units::Bytes;
use hopbench_model::{CpuSet, Schedule, Unit};
use serde_json::Value;

/// A job as a record carries it.
#[derive(Debug, Clone, Copy)]
pub struct RecordedJob<'a>(pub &'a Value);

impl<'a> RecordedJob<'a> {
    /// The engine, as the record names it.
    pub fn engine(self) -> Option<&'a str> {
        self.0.get("engine")?.as_str()
    }

    /// The pacing of a rate.
    pub fn pacing(self) -> Option<&'a str> {
        self.0.get("pacing")?.as_str()
    }

    /// Connections of each client.
    pub fn connections(self) -> Option<u64> {
        self.0.get("connections")?.as_u64()
    }

    /// Worker threads of each client.
    pub fn threads(self) -> Option<u64> {
        self.0.get("threads")?.as_u64()
    }

    /// When exchanges start.
    pub fn schedule(self) -> Option<Schedule> {
        serde_json::from_value(self.0.get("schedule")?.clone()).ok()
    }

    /// Exchanges that were due at the same moment; `None`: they were due one by one.
    pub fn burst(self) -> Option<u64> {
        self.0.get("burst")?.as_u64().filter(|burst| *burst > 1)
    }

    /// Whether its rate is more than the path carries.
    pub(crate) fn is_offered(self) -> bool {
        self.0.get("params").and_then(|params| params.get("offered")?.as_bool()) == Some(true)
    }

    /// Length of the warm-up, ns.
    pub fn warmup_ns(self) -> Option<u64> {
        self.0.get("timing")?.get("warmup_ns")?.as_u64()
    }

    /// Length of the window, ns.
    pub fn window_ns(self) -> Option<u64> {
        self.0.get("timing")?.get("window_ns")?.as_u64()
    }

    /// `client_cpus` or `server_cpus`.
    pub fn cpus(self, which: &str) -> Option<CpuSet> {
        serde_json::from_value(self.0.get(which)?.clone()).ok()
    }

    /// The direction of bulk traffic whose throughput counts this, as the names of metrics of both
    /// directions begin: `to_server_`, `from_server_`, `both_`; `None` for other traffic.
    pub(crate) fn direction(self, unit: Unit) -> Option<&'static str> {
        let said = || self.0.get("params")?.get("direction")?.as_str();
        match (unit, said()) {
            (Unit::Bits, Some("both")) => Some("both_"),
            // Messages are pushed by the server.
            (Unit::Bits, Some("from-server")) | (Unit::Messages, _) => Some("from_server_"),
            (Unit::Bits, _) => Some("to_server_"),
            _ => None,
        }
    }

    /// The workload's parameters that say something, as `name value`.
    pub fn params(self) -> Vec<String> {
        let Some(Value::Object(params)) = self.0.get("params") else {
            return Vec::new();
        };
        params
            .iter()
            .filter_map(|(name, value)| {
                let name = name.replace('_', "-");
                Some(match value {
                    Value::Null | Value::Bool(false) => return None,
                    Value::Bool(true) => name,
                    // Values of headers may be secrets, and a page is pasted easily.
                    Value::Array(headers) if name == "headers" => {
                        let names: Vec<_> = headers.iter().filter_map(header_name).collect();
                        if names.is_empty() {
                            return None;
                        }
                        format!("{name} {}", names.join(", "))
                    }
                    // Of bytes their number is enough.
                    Value::String(digits) if name.ends_with("-hex") => {
                        let bytes = Bytes(digits.len() as u64 / 2);
                        format!("{} of {bytes}", name.trim_end_matches("-hex"))
                    }
                    Value::String(text) if is_pem(text) => name,
                    value => format!("{name} {}", spoken(value)?),
                })
            })
            .collect()
    }
}

/// Whether a text is certificates, of which it is enough to say that there are some.
pub(crate) fn is_pem(text: &str) -> bool {
    text.contains("-----BEGIN ")
}

/// The name in `name: value`.
fn header_name(header: &Value) -> Option<&str> {
    let text = match header {
        // A pair of name and value.
        Value::Array(pair) => pair.first()?,
        text => text,
    };
    text.as_str().map(|text| text.split(':').next().unwrap_or(text).trim())
}

/// A value as a flag would have it; nothing for an empty list.
pub fn spoken(value: &Value) -> Option<String> {
    Some(match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let values: Vec<_> = values.iter().filter_map(spoken).collect();
            if values.is_empty() {
                return None;
            }
            values.join(", ")
        }
        Value::Null => return None,
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_direction_of_bulk_is_known() {
        let direction = |unit: Unit, job: Value| RecordedJob(&job).direction(unit);
        let bits = |word: &str| direction(Unit::Bits, json!({"params": {"direction": word}}));
        assert_eq!(bits("to-server"), Some("to_server_"));
        assert_eq!(bits("from-server"), Some("from_server_"));
        assert_eq!(bits("both"), Some("both_"));
        assert_eq!(direction(Unit::Bits, json!({})), Some("to_server_"), "as by default");
        assert_eq!(direction(Unit::Messages, json!({})), Some("from_server_"));
        assert_eq!(direction(Unit::Requests, json!({})), None);
    }

    #[test]
    fn parameters_read_like_flags() {
        let job = json!({"params": {
            "size": ["1KiB"], "udp": true, "keep_alive": false, "rate": null, "headers": [],
            "gso": 4,
        }});
        assert_eq!(RecordedJob(&job).params(), ["gso 4", "size 1KiB", "udp"]);
        let job = json!({"params": {"headers": ["authorization: Bearer x", ["cookie", "y"]]}});
        assert_eq!(RecordedJob(&job).params(), ["headers authorization, cookie"]);
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let job = json!({"params": {"tls_certificates": pem, "tls_private_key": "<redacted>"}});
        let expected = ["tls-certificates", "tls-private-key <redacted>"];
        assert_eq!(RecordedJob(&job).params(), expected);
        let job = json!({"params": {"tls_authorities": format!("Issuer: c\n{pem}")}});
        assert_eq!(RecordedJob(&job).params(), ["tls-authorities"]);
        assert!(RecordedJob(&Value::Null).params().is_empty());
        assert_eq!(
            RecordedJob(&json!({"schedule": {"rate": 5.0}})).schedule(),
            Some(Schedule::Rate(5.0))
        );
        assert_eq!(RecordedJob(&json!({"schedule": "sometimes"})).schedule(), None);
        let burst = |job: Value| RecordedJob(&job).burst();
        assert_eq!(burst(json!({"burst": 16})), Some(16));
        assert_eq!([burst(json!({"burst": 1})), burst(json!({}))], [None, None]);
    }
}
