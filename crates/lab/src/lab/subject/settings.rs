//! The settings of subjects on the nodes of a lab: how they are made, and the proof that they hold.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hopbench_model::{Fault, NodeSettings, Proof, Subject};
use hopbench_sys::{interface_mtu, offloads, switch_offload};
use hopbench_testbed::placement::{Endpoints, PodId};
use hopbench_testbed::{Proxy, Route};
use ring::digest::{Context, SHA256};

use crate::lab::built::Built;
use crate::lab::server_programs::Programs;
use crate::network::namespace::Namespace;
use crate::network::refused;
use crate::processes::servers::Environment;
use crate::processes::tools;
use crate::topology::kinds::kind;

/// The interface of a pod, and of a node towards the fabric.
const INTERFACE: &str = "eth0";

/// Makes the settings of every node, on the node and in its pods.
pub(in crate::lab) fn apply(built: &Built) -> Result<(), Fault> {
    for node in &built.nodes {
        let settings = &node.spec.settings;
        if settings.sysctl.is_empty() && settings.offloads.is_empty() {
            continue;
        }
        let own =
            built.pods.keys().filter(|pod| !pod.is_host() && pod.place.node == node.spec.name);
        for stack in own.filter_map(|pod| built.stack(pod)).chain([&node.stack]) {
            let what = format!("cannot change {} as its subject says", stack.namespace.name());
            of_stack(&stack.namespace, settings).map_err(refused(what))?;
        }
    }
    Ok(())
}

fn of_stack(namespace: &Namespace, settings: &NodeSettings) -> io::Result<()> {
    for (key, value) in &settings.sysctl {
        // A plan may be of a folder that somebody else made.
        if !NodeSettings::is_sysctl(key) {
            let expected = "expected a parameter of the network, net...";
            return Err(io::Error::other(format!("found sysctl `{key}`, {expected}")));
        }
        namespace.set_sysctl(key, value)?;
    }
    if settings.offloads.is_empty() {
        return Ok(());
    }
    namespace.run(|| {
        for link in links()? {
            for (word, on) in &settings.offloads {
                match switch_offload(&link, word, *on) {
                    // A bridge and a tunnel have fewer. What packets leave by has to have it.
                    Err(error) if link == INTERFACE => {
                        return Err(io::Error::other(format!("{word} of {link}: {error}")));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    })?
}

/// The links of the calling thread's namespace but for `lo`, by name.
fn links() -> io::Result<Vec<String>> {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    let names = table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()));
    Ok(names.filter(|name| name != "lo").collect())
}

/// The Envoys of a lab's subjects as they were when it was built.
#[derive(Debug, Default)]
pub(in crate::lab) struct Envoys(BTreeMap<String, Program>);

/// The Envoy of nodes that name none.
fn usual() -> Option<String> {
    Some(tools::envoy().ok()?.path.to_string_lossy().into_owned())
}

/// An Envoy's file, its version where it says one, and the beginning of its SHA-256.
#[derive(Debug)]
struct Program {
    file: (u64, u64),
    version: Option<String>,
    sha256: String,
}

impl Envoys {
    /// Reads those that the nodes name, and the one of the other nodes.
    pub(in crate::lab) fn read(built: &Built) -> Result<Self, Fault> {
        let mut out = Self::default();
        let mut named: Vec<String> =
            built.nodes.iter().filter_map(|node| node.spec.settings.envoy.clone()).collect();
        if !named.is_empty() {
            named.extend(usual());
        }
        for path in &named {
            if !out.0.contains_key(path) {
                let read = Program::read(Path::new(path));
                let program = read.map_err(refused(format!("cannot read {path}")))?;
                out.0.insert(path.clone(), program);
            }
        }
        Ok(out)
    }

    /// Facts for readers of the results.
    pub(in crate::lab) fn facts(&self) -> impl Iterator<Item = (String, String)> {
        self.0
            .iter()
            .map(|(path, program)| (format!("envoy {path} sha256"), program.sha256.clone()))
    }

    /// Whether these processes run the program at this path, and what they run.
    fn proof(&self, path: &str, proxies: &[Proxy]) -> (String, bool) {
        let Some(program) = self.0.get(path) else {
            return (format!("envoy {path} was not read"), false);
        };
        let runs = |pid: &u32| {
            std::fs::metadata(format!("/proc/{pid}/exe"))
                .is_ok_and(|file| (file.dev(), file.ino()) == program.file)
        };
        let named = proxies.iter().filter(|proxy| proxy.named && !proxy.is_service());
        let pids: Vec<u32> = named.flat_map(|proxy| proxy.pids.iter().copied()).collect();
        let ok = pids.iter().all(runs);
        let but = if ok { "" } else { "a proxy runs another program than " };
        (format!("{but}{}", program.told(path)), ok)
    }
}

impl Program {
    fn read(path: &Path) -> io::Result<Self> {
        let mut file = std::fs::File::open(path)?;
        let about = file.metadata()?;
        let mut hash = Hash(Context::new(&SHA256));
        io::copy(&mut file, &mut hash)?;
        let digest = hash.0.finish();
        let sha256 = digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let envoy = tools::envoy_at(&path.to_string_lossy()).ok();
        let version = envoy.map(|envoy| envoy.version.to_string());
        Ok(Self { file: (about.dev(), about.ino()), version, sha256 })
    }

    /// `envoy 1.40.0 at /usr/bin/envoy (sha256 0123456789abcdef)`.
    fn told(&self, path: &str) -> String {
        let Self { version, sha256, .. } = self;
        let version = version.as_ref().map_or(String::new(), |version| format!(" {version}"));
        format!("envoy{version} at {path} (sha256 {sha256})")
    }
}

struct Hash(Context);

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The proof that the ends of a path have what its subject says. What any subject changes is read
/// for all of them, so that the records of each say what it had.
pub(in crate::lab) fn proof(
    built: &Built,
    endpoints: &Endpoints,
    envoys: &Envoys,
    programs: &Programs,
    route: &Route,
) -> Option<Proof> {
    let subject = endpoints.path.subject.as_ref()?;
    let asked = Asked::of(built);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut ok = true;
    let mut envoy = None;
    for pod in endpoints.ends() {
        let (Some(node), Some(stack)) = (built.node(&pod.place.node), built.stack(pod)) else {
            continue;
        };
        let settings = &node.spec.settings;
        envoy = envoy.or_else(|| settings.envoy.clone());
        let header = kind(&pod.place.network).map_or(0, |kind| kind.header_bytes());
        for (what, value, wanted) in asked.look(&stack.namespace, settings, node.mtu - header) {
            ok &=
                wanted.is_none_or(|wanted| value.split_whitespace().eq(wanted.split_whitespace()));
            found.entry(what).or_default().insert(value);
        }
        if route.programs.is_empty() || !endpoints.servers.contains(pod) {
            continue;
        }
        let environment = programs.environment(pod, &route.programs);
        for name in programs.variables() {
            let (value, is) = variable(environment, name, settings.env.get(name));
            ok &= is;
            found.entry(format!("env {name}")).or_default().insert(value);
        }
    }
    let mut parts: Vec<String> = found
        .into_iter()
        .map(|(what, values)| {
            format!("{what} {}", values.into_iter().collect::<Vec<_>>().join(" and "))
        })
        .collect();
    let envoy = envoy.or_else(usual);
    let is_asked = endpoints.path.is_proxied() && !envoys.0.is_empty();
    if let Some(path) = envoy.filter(|_| is_asked) {
        let (text, is) = envoys.proof(&path, &route.proxies);
        ok &= is;
        parts.push(text);
    }
    let evidence = match parts.is_empty() {
        true => Subject::NOT_READ_BACK.to_owned(),
        false => parts.join(", "),
    };
    Some(Proof { hop: Subject::hop(subject), evidence, ok })
}

/// A variable of a server program, and whether it has the value that it must have.
fn variable(
    environment: Option<&Environment>,
    name: &str,
    wanted: Option<&String>,
) -> (String, bool) {
    let found = environment.ok_or("cannot be read").map(|all| all.get(name).map(String::as_str));
    match hopbench_testbed::variable(found, wanted.map(String::as_str)) {
        Ok(told) => (told, true),
        Err(told) => {
            let next = "is the program in PATH a script? put the program itself there";
            (format!("{told}: {next}"), false)
        }
    }
}

/// What any subject changes in network stacks.
struct Asked {
    mtu: bool,
    offloads: BTreeSet<String>,
    sysctl: BTreeSet<String>,
}

impl Asked {
    fn of(built: &Built) -> Self {
        let settings = || built.nodes.iter().map(|node| &node.spec.settings);
        Self {
            mtu: settings().any(|settings| settings.mtu.is_some()),
            offloads: settings().flat_map(|settings| settings.offloads.keys().cloned()).collect(),
            sysctl: settings().flat_map(|settings| settings.sysctl.keys().cloned()).collect(),
        }
    }

    /// What there is in a namespace: what it is, its value, and the value that it must have.
    fn look(
        &self,
        namespace: &Namespace,
        settings: &NodeSettings,
        mtu: u32,
    ) -> Vec<(String, String, Option<String>)> {
        let mut out = Vec::new();
        for key in &self.sysctl {
            let value = namespace.sysctl(key).unwrap_or_else(|error| error.to_string());
            out.push((key.clone(), value, settings.sysctl.get(key).cloned()));
        }
        if !self.mtu && self.offloads.is_empty() {
            return out;
        }
        let read = namespace.run(|| {
            let of = offloads(INTERFACE).unwrap_or_default();
            (interface_mtu(INTERFACE), of)
        });
        let Ok((size, of)) = read else {
            out.push((INTERFACE.to_owned(), "cannot be read".to_owned(), Some(String::new())));
            return out;
        };
        if self.mtu {
            let value = size.map_or_else(|error| error.to_string(), |mtu| mtu.to_string());
            out.push(("mtu".to_owned(), value, Some(mtu.to_string())));
        }
        let word = |on: bool| if on { "on" } else { "off" };
        for name in &self.offloads {
            let value = of.named(name).map_or("not known", word);
            let wanted = settings.offloads.get(name).map(|on| word(*on).to_owned());
            out.push((name.clone(), value.to_owned(), wanted));
        }
        out
    }
}

/// The pods whose runtime has a network stack of its own, which no subject can set.
pub(in crate::lab) fn out_of_reach<'a>(
    endpoints: &'a Endpoints,
    settings: &NodeSettings,
) -> Option<&'a PodId> {
    let sets = !settings.sysctl.is_empty() || !settings.offloads.is_empty();
    endpoints.ends().find(|pod| sets && pod.place.runtime.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envoy_is_told_with_its_version_its_file_and_its_hash() {
        let told = |version: Option<&str>| {
            let (version, sha256) = (version.map(str::to_owned), "0123456789abcdef".to_owned());
            Program { file: (1, 2), version, sha256 }.told("/x/envoy")
        };
        assert_eq!(told(Some("1.40.0")), "envoy 1.40.0 at /x/envoy (sha256 0123456789abcdef)");
        assert_eq!(told(None), "envoy at /x/envoy (sha256 0123456789abcdef)");
    }

    #[test]
    fn a_variable_is_as_it_must_be_or_the_proof_fails() {
        let all = Environment::from([("A".to_owned(), "2".to_owned())]);
        let seen = |all: Option<&Environment>, name: &str, wanted: Option<&str>| {
            variable(all, name, wanted.map(str::to_owned).as_ref())
        };
        assert_eq!(seen(Some(&all), "A", Some("2")), ("2".to_owned(), true));
        assert_eq!(seen(Some(&all), "A", None), ("2".to_owned(), true));
        assert_eq!(seen(Some(&all), "B", None), ("not set".to_owned(), true));
        for (all, name, found) in
            [(Some(&all), "A", "2"), (Some(&all), "B", "not set"), (None, "A", "cannot be read")]
        {
            let (told, is) = seen(all, name, Some("3"));
            let next = "is the program in PATH a script? put the program itself there";
            assert_eq!((told, is), (format!("{found}, expected 3: {next}"), false));
        }
    }
}
