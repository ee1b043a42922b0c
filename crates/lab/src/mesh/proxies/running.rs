//! One running process of a mesh.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use hopbench_mesh::{AdminAddress, ProxySpec};
use hopbench_model::units::Span;
use hopbench_model::{Fault, Nanos};
use hopbench_sys::clock;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::admin::AdminConnection;
use super::task::{MeshProgram, MeshTask};
use super::totals::Totals;
use crate::network::stack::Stack;
use crate::processes::private_folder::private_folder;
use crate::processes::process_table::listening;
use crate::processes::stderr_log::StderrLog;
use crate::processes::supervised::Supervised;
use crate::processes::{affinity, tools};

/// An admin endpoint that has not answered by then does not.
const MOST_ANSWER_NS: Nanos = 2_000_000_000;
/// A process whose endpoint has gone is seen to have ended by then, if it has.
const MOST_END_NS: Nanos = 100_000_000;
const LOOK_NS: Nanos = 1_000_000;
/// The most that a proxy may write between two trials, most of it its access log. The rest is lost,
/// and counted.
const MOST_FILES_BYTES: u64 = 256 << 20;

/// One process of a mesh. Dropping this kills it. Neither Envoy nor the services have anything to
/// finish first, and work under way at the end of a lab is of no use.
#[derive(Debug)]
pub(super) struct RunningMeshProcess {
    name: String,
    process: Supervised,
    stderr: StderrLog,
    /// TCP ports on which it is to listen.
    ports: Vec<u16>,
    /// Its admin endpoint; absent where it has none.
    endpoint: Option<Endpoint>,
    /// Its totals, if it is a service.
    totals: Option<Totals>,
    /// Its access log, as it sees it itself; absent: it writes none.
    access_log: Option<PathBuf>,
    /// Whether it was ready when it was last waited for.
    ready: bool,
    /// Connections of which it did not tell what came of them, when it was last asked.
    pub(super) untold: u64,
}

/// An admin endpoint: the name of an abstract Unix socket, and the connection to it, once there is
/// one.
#[derive(Debug)]
struct Endpoint {
    name: String,
    admin: Option<AdminConnection>,
}

/// The parts of a process that are made before it starts.
struct Outfit {
    program: PathBuf,
    ports: Vec<u16>,
    endpoint: Option<Endpoint>,
    totals: Option<Totals>,
    access_log: Option<PathBuf>,
    arguments: Arguments,
}

/// Makes the files that the program alone sees, on the thread that starts it, and says its
/// arguments.
type Arguments = Box<dyn FnOnce(&Path) -> io::Result<Vec<OsString>> + Send>;

impl RunningMeshProcess {
    /// Starts it; it is not ready yet. `services` is the program of the services; what it says goes
    /// to `log`.
    pub(super) fn start(
        task: MeshTask<'_>,
        services: &Path,
        log: Option<&File>,
    ) -> Result<Self, Fault> {
        let name = task.name.clone();
        Self::spawn(task, services, log)
            .map_err(|error| Fault::environment(format!("cannot start {name}: {error}")))
    }

    fn spawn(task: MeshTask<'_>, services: &Path, log: Option<&File>) -> io::Result<Self> {
        let MeshTask { name, stack, cpus, envoy, program } = task;
        let Outfit { program, ports, endpoint, totals, access_log, arguments } = match program {
            MeshProgram::Envoy(proxy) => outfit(&proxy, envoy)?,
            MeshProgram::Policy { port } => service("policy", port, services, stack)?,
            MeshProgram::Telemetry { port } => service("telemetry", port, services, stack)?,
        };
        let mut command = stack.namespace.command(&program)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A Ctrl-C at the terminal is for the conductor, which ends the trial first.
        command.process_group(0);
        let cpus = cpus.map(<[usize]>::to_vec);
        let (process, stderr) = Supervised::start(move || {
            command.args(arguments(&program)?);
            affinity::on(cpus.as_deref(), || command.spawn())
        })?;
        let stderr = stderr.ok_or_else(|| io::Error::other("it has no standard error"))?;
        let stderr = StderrLog::follow(&name, stderr, log.map(File::try_clone).transpose()?)?;
        Ok(Self {
            name,
            process,
            stderr,
            ports,
            endpoint,
            totals,
            access_log,
            ready: false,
            untold: 0,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(super) fn is_alive(&self) -> bool {
        self.process.is_alive()
    }

    /// Kills it, without waiting for its end.
    pub(super) fn kill(&self) {
        self.process.signal(Signal::SIGKILL);
    }

    /// Whether it listens on all its ports and says itself that it is ready.
    pub(super) fn is_ready(&mut self, stack: &Stack) -> Result<bool, Fault> {
        if !self.is_alive() {
            return Err(Fault::environment(self.obituary()));
        }
        if let Some(endpoint) = &mut self.endpoint
            && endpoint.admin.is_none()
        {
            // Nobody listens there yet, or again.
            endpoint.admin = AdminConnection::connect(&stack.namespace, &endpoint.name).ok();
            self.ready = false;
        }
        if !self.ready {
            let listening = listening(self.pid());
            self.ready = self.ports.iter().all(|port| listening.contains(port))
                && (self.endpoint.is_none() || self.get("/ready").is_ok());
        }
        Ok(self.ready)
    }

    /// Why it is not ready, after so long.
    pub(super) fn late(&self, within: Nanos) -> Fault {
        let listening = listening(self.pid());
        let missing: Vec<String> = self
            .ports
            .iter()
            .filter(|port| !listening.contains(port))
            .map(u16::to_string)
            .collect();
        let what = match (&self.endpoint, missing.is_empty()) {
            (_, false) => format!("it does not listen on port {}", missing.join(", ")),
            (Some(Endpoint { admin: None, .. }), true) => {
                "nobody listens at its admin endpoint".to_owned()
            }
            _ => "its admin endpoint does not say that it is ready".to_owned(),
        };
        let text = format!("{} is not ready after {}: {what}", self.name, Span(within));
        Fault::environment(with_last_lines(&text, &self.stderr.so_far()))
    }

    /// The answer of its admin endpoint to a GET. `None` if it has no endpoint.
    pub(super) fn ask(&mut self, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        if self.endpoint.is_none() {
            return if self.is_alive() { Ok(None) } else { Err(Fault::measuring(self.obituary())) };
        }
        self.get(path).map(Some).map_err(|error| self.silent(&error))
    }

    /// The totals of a service. `None` for a proxy.
    pub(super) fn totals(&mut self) -> Result<Option<BTreeMap<String, u64>>, Fault> {
        let Some(totals) = &self.totals else { return Ok(None) };
        if !self.is_alive() {
            return Err(Fault::measuring(self.obituary()));
        }
        totals.read(MOST_ANSWER_NS).map(Some).map_err(|error| self.silent(&error))
    }

    /// Why its admin endpoint did not answer.
    fn silent(&mut self, error: &io::Error) -> Fault {
        // Its end closes the connection before everybody can see it.
        let end = clock::now() + MOST_END_NS;
        while self.is_alive() && clock::now() < end {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        if !self.is_alive() {
            return Fault::measuring(self.obituary());
        }
        let text = format!("the admin endpoint of {} does not answer: {error}", self.name);
        Fault::measuring(with_last_lines(&text, &self.stderr.so_far()))
    }

    fn get(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let none = || io::Error::other("there is no connection to it");
        let endpoint = self.endpoint.as_mut().ok_or_else(none)?;
        let answer = endpoint.admin.as_mut().ok_or_else(none)?.get(path, MOST_ANSWER_NS);
        if answer.is_err() {
            // What came too late would be taken for the next answer.
            endpoint.admin = None;
        }
        answer
    }

    /// Makes its access log empty.
    pub(super) fn forget(&self) {
        if let Some(file) = &self.access_log {
            // Its own root is where its files are seen. It appends: what it writes next is at the
            // beginning.
            let root = PathBuf::from(format!("/proc/{}/root", self.pid()));
            let file = root.join(file.strip_prefix("/").unwrap_or(file));
            let _ = File::options().write(true).truncate(true).open(file);
        }
    }

    /// Its end in words, with its last lines.
    fn obituary(&mut self) -> String {
        let how = self
            .process
            .end()
            .map_or_else(|| "nobody knows how".to_owned(), |status| status.to_string());
        with_last_lines(&format!("{} has ended ({how})", self.name), &self.stderr.last())
    }
}

fn with_last_lines(text: &str, lines: &str) -> String {
    if lines.is_empty() {
        return format!("{text}; it said nothing");
    }
    // Indented, so that none of its lines is taken for one of ours.
    format!("{text}; its last words:\n  {}", lines.replace('\n', "\n  "))
}

fn outfit(proxy: &ProxySpec, named: Option<&str>) -> io::Result<Outfit> {
    let found = named.map_or_else(tools::envoy, tools::envoy_at);
    let program = found.map_err(|absent| io::Error::other(absent.why))?.path.canonicalize()?;
    let named = match &proxy.admin {
        AdminAddress::Pipe(path) => path.strip_prefix('@'),
        AdminAddress::Loopback(_) => None,
    };
    let name = named.ok_or_else(|| {
        let found = &proxy.admin;
        io::Error::other(format!(
            "admin endpoint {found:?}: expected @ and the name of an abstract socket"
        ))
    })?;
    let endpoint = Endpoint { name: name.to_owned(), admin: None };
    let bootstrap = proxy.bootstrap();
    let ports = ports(&bootstrap);
    let (arguments, access_log) = (proxy.arguments(), PathBuf::from(&proxy.access_log));
    let log = access_log.clone();
    let arguments = move |program: &Path| {
        let folder = private_folder("proxy", program, MOST_FILES_BYTES)?;
        if let Some(folder) = log.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = folder.join("bootstrap.json");
        fs::write(&file, serde_json::to_vec(&bootstrap)?)?;
        // It has the proxy's key.
        fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        let config = [OsString::from("--config-path"), file.into()];
        Ok(config.into_iter().chain(arguments.into_iter().map(OsString::from)).collect())
    };
    Ok(Outfit {
        program,
        ports,
        endpoint: Some(endpoint),
        totals: None,
        access_log: proxy.variant.access_log.then_some(access_log),
        arguments: Box::new(arguments),
    })
}

fn service(command: &'static str, port: u16, services: &Path, stack: &Stack) -> io::Result<Outfit> {
    // Both services of a pod share its network namespace.
    let admin = format!("hopbench-{command}");
    let totals = Totals::at(&stack.namespace, &admin)?;
    // All addresses here are those of the pod's namespace.
    let listen = SocketAddr::new(stack.wildcard(), port).to_string();
    let arguments = move |_: &Path| {
        let admin = format!("@{admin}");
        Ok([command, "--listen", &listen, "--admin", &admin].map(OsString::from).to_vec())
    };
    Ok(Outfit {
        program: services.to_owned(),
        ports: vec![port],
        endpoint: None,
        totals: Some(totals),
        access_log: None,
        arguments: Box::new(arguments),
    })
}

/// The ports that the listeners of a bootstrap bind.
fn ports(bootstrap: &Value) -> Vec<u16> {
    let listeners = bootstrap["static_resources"]["listeners"].as_array();
    let addresses = listeners.into_iter().flatten().flat_map(|listener| {
        let more = listener["additional_addresses"].as_array().into_iter().flatten();
        more.map(|more| &more["address"]).chain([&listener["address"]])
    });
    let port =
        |address: &Value| u16::try_from(address["socket_address"]["port_value"].as_u64()?).ok();
    addresses.filter_map(port).collect()
}
