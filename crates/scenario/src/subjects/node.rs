//! The keys of a subject for nodes of a lab: links, parameters of the kernel, the environment of
//! programs. On a cluster that environment is the one of pods.

use hopbench_model::{NodeSettings, OFFLOADS};

use crate::document::fields::Fields;
use crate::document::node::quoted;
use crate::document::problem::Problems;
use crate::testbed::MTU;

const SYSCTL: &str = "a parameter of the network like net.ipv4.tcp_congestion_control: reno";
const ENV: &str = "a variable of letters, digits and _, like GOMAXPROCS: 2";

pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems) -> NodeSettings {
    let mut out = NodeSettings {
        mtu: fields.checked("mtu", "1280 to 65535 bytes", |mtu| MTU.contains(mtu), problems),
        ..NodeSettings::default()
    };
    for (at, name, text) in fields.texts("offloads", "a mapping like {tso: off}", problems) {
        let path = fields.path_of("offloads");
        let on = match text.to_ascii_lowercase().as_str() {
            "on" | "true" => true,
            "off" | "false" => false,
            _ => {
                problems.add(at, &path, quoted(&format!("{name}: {text}")), "on or off");
                continue;
            }
        };
        if OFFLOADS.contains(&name.as_str()) {
            out.offloads.insert(name, on);
        } else {
            problems.unknown(at, &path, &name, OFFLOADS);
        }
    }
    for (at, key, value) in fields.texts("sysctl", SYSCTL, problems) {
        if NodeSettings::is_sysctl(&key) && !value.is_empty() {
            out.sysctl.insert(key, value);
        } else {
            problems.add(at, &fields.path_of("sysctl"), quoted(&key), SYSCTL);
        }
    }
    for (at, name, value) in fields.texts("env", ENV, problems) {
        let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.starts_with(|c: char| !c.is_ascii_digit()) && name.chars().all(rest) {
            out.env.insert(name, value);
        } else {
            problems.add(at, &fields.path_of("env"), quoted(&name), ENV);
        }
    }
    let envoy: Option<String> = fields.parsed("envoy", "the path of a program: Envoy", problems);
    out.envoy = envoy.map(|path| match std::path::absolute(&path) {
        Ok(absolute) => absolute.to_string_lossy().into_owned(),
        Err(_) => path,
    });
    out
}
