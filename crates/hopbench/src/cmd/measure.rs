//! The workloads by hand: one trial, or one a point of a sweep, against one target.

mod live;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::time::Duration;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use hopbench_agent::{hello, local};
use hopbench_load::ScheduleArguments;
use hopbench_load::http::Url;
use hopbench_load::workload::{Workload, points};
use hopbench_model::secret::Secrets;
use hopbench_model::{EngineKind, Fault, Job, Problem, Record, Transport};
use hopbench_run::{
    AgentConnection, Ends, Setting, Target, Watch, conduct, record, resolve, variable,
};
use hopbench_wire::DEFAULT_PORT;
use serde_json::Value;

use self::live::Live;
use super::arguments::token::TokenArgs;
use super::arguments::{Common, absent};
use crate::ctrl_c::CtrlC;
use crate::output::{print, say};

/// The command of a workload.
pub(super) fn command(workload: &'static dyn Workload) -> Command {
    let (name, help) = match workload.kind().transport {
        Transport::Http => ("URL", "What to request, like http://host:80/path"),
        Transport::Icmp => ("HOST", "Name or address"),
        Transport::Tcp | Transport::Udp => (
            "HOST[:PORT]",
            "Name or address of an agent (`hopbench serve`), with a port if it is not 7474",
        ),
    };
    let target = Arg::new("target").value_name(name).required(true).help(help);
    let mut command = Command::new(workload.name()).arg(target);
    command = workload.arguments(command);
    if workload.kind().is_of_exchanges() {
        command = ScheduleArguments::augment_args(command);
    }
    // Last: each set of flags would put its own documentation there.
    suited(Common::augment_args(command), workload).about(workload.summary()).long_about(None)
}

/// The flags of every workload, with what they mean for this one, and without those that it does
/// not take.
fn suited(mut command: Command, workload: &dyn Workload) -> Command {
    if !workload.needs_agent() {
        command = command.mut_arg("cpu", |arg| arg.help("CPUs of the client: 0, 0-1"));
    }
    match workload.kind().transport {
        Transport::Http => TokenArgs::of_any_server(command),
        Transport::Icmp => ["local_address", "token", "token_file", "insecure"]
            .into_iter()
            .fold(command, |command, name| command.mut_arg(name, |arg| arg.hide(true)))
            .mut_arg("connections", |arg| arg.help("The same as --count")),
        Transport::Tcp | Transport::Udp => command,
    }
}

/// Measures.
pub(super) fn run(workload: &'static dyn Workload, matches: &ArgMatches) -> Result<(), Fault> {
    let common = Common::from_arg_matches(matches).map_err(Fault::input)?;
    common.token.check(matches)?;
    let kind = workload.kind();
    let scheduled = if kind.is_of_exchanges() {
        Some(ScheduleArguments::from_arg_matches(matches).map_err(Fault::input)?)
    } else {
        None
    };
    let text = matches.get_one::<String>("target").map_or("", String::as_str);
    let mut params = workload
        .params(matches)
        .map_err(|e| Fault::input(e.to_string().trim_start_matches("error: ").trim_end()))?;
    if kind.is_http() {
        params["url"] = text.into();
    }
    // `ping -c 3` is what every ping means by it.
    if kind.transport == Transport::Icmp
        && params["count"].is_null()
        && let Some(count) = matches.get_one::<u32>("connections")
    {
        params["count"] = (*count).into();
    }
    let (mut job, mut problems) =
        common.job.job(workload, params, scheduled.as_ref(), rand::random());
    job.local_addresses.clone_from(&common.local_address);
    problems.extend(job.client_cpus.as_ref().and_then(absent));
    // Checked with their values, and then without them in all that is shown.
    let checked = trials(workload, &job, &common.job.engine, problems)?;
    let mut secrets = Secrets::default();
    secrets.take(workload.name(), &mut job);
    secrets.restored(workload.name(), &job, variable)?;
    let trials = checked.into_iter().map(|(point, mut job)| {
        secrets.take(workload.name(), &mut job);
        (point, job)
    });
    let trials: Vec<Planned> = trials.collect();
    let target = match kind.transport {
        Transport::Http => {
            let url = Url::parse(text).map_err(|e| Fault::input(format!("URL: {e}")))?;
            let mut target = resolve_host(url.host(), url.port(), common.family())?;
            target.name = text.to_owned();
            target
        }
        Transport::Icmp => resolve_host(text, 0, common.family())?,
        Transport::Tcp | Transport::Udp => resolve(text, DEFAULT_PORT, common.family())?,
    };
    let ctrl_c = CtrlC::watch()?;
    let ours = hello();
    let timeout = Duration::from_nanos(job.timing.timeout_ns).max(Duration::from_secs(2));
    // An agent's own HTTP target answers the requests of a trial that it knows of; any other server
    // needs no session.
    let asks_agent = workload.needs_agent() || (kind.is_http() && common.token.is_given());
    let server = if asks_agent {
        Some(
            AgentConnection::open(target.address, &common.token.secret()?, &ours, timeout)
                .map_err(|f| common.token.explain(f))?,
        )
    } else {
        None
    };
    let client =
        local().map_err(|e| Fault::environment(format!("cannot start the local agent: {e}")))?;
    let ends = Ends {
        clients: vec![AgentConnection::over(client, &ours)?],
        servers: server.into_iter().collect(),
        ..Ends::default()
    };
    Session {
        workload,
        target,
        ends,
        ctrl_c,
        json: common.format.is_json(),
        secrets,
        run_id: format!("{:016x}", rand::random::<u64>()),
    }
    .measure(trials)
}

/// What varies in a trial, and its job.
type Planned = (BTreeMap<String, Value>, Job);

/// The trials of a command: every engine with every point. All that is wrong with any of them is
/// reported at once.
fn trials(
    workload: &dyn Workload,
    job: &Job,
    engines: &[EngineKind],
    mut problems: Vec<Problem>,
) -> Result<Vec<Planned>, Fault> {
    let mut trials = Vec::new();
    for engine in engines {
        for (mut point, mut job) in points(&Job { engine: *engine, ..job.clone() }) {
            if engines.len() > 1 {
                point.insert("engine".to_owned(), Value::String(engine.name().to_owned()));
            }
            // Connections that make no sense are not to be derived from.
            if problems.is_empty() {
                workload.settle(&mut job);
            }
            for problem in job.problems().into_iter().chain(workload.problems(&job)) {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            trials.push((point, job));
        }
    }
    if problems.is_empty() { Ok(trials) } else { Err(Fault::from_problems(&problems)) }
}

/// Accepts what [`resolve`] does for a host alone; ports come from elsewhere.
fn resolve_host(host: &str, port: u16, family: Option<u8>) -> Result<Target, Fault> {
    // The port is not part of the text, so that a bare IPv6 address is no riddle.
    let mut target = resolve(host, port.max(1), family)?;
    target.address = SocketAddr::new(target.address.ip(), port);
    for other in &mut target.others {
        other.set_port(port);
    }
    Ok(target)
}

/// What a connection that was closed without an answer counts as.
const SHUT: &[&str] = &["reset", "closed_early"];

/// Why a trial whose exchanges failed is no measurement, and what may help; `None`: enough of them
/// succeeded.
fn failed_exchanges(record: &Record) -> Option<String> {
    let why = hopbench_run::failed_exchanges(record)?;
    // An agent closes a connection whose HTTP it is not to answer.
    let reset = record.kind().is_http()
        && record.errors.keys().all(|reason| SHUT.contains(&reason.as_str()));
    let all = record.metrics.get("error_ratio").is_some_and(|failed| *failed >= 1.0);
    let hint = "; an agent answers HTTP to who gives its token, and to everybody with `hopbench \
                serve --http`";
    Some(format!("{why}{}", if reset && all { hint } else { "" }))
}

struct Session {
    workload: &'static dyn Workload,
    target: Target,
    ends: Ends,
    ctrl_c: CtrlC,
    json: bool,
    /// The secrets of the job.
    secrets: Secrets,
    run_id: String,
}

impl Session {
    fn measure(mut self, trials: Vec<Planned>) -> Result<(), Fault> {
        let mut records: Vec<Record> = Vec::new();
        let mut failed = None;
        for (point, job) in trials {
            let mut live = Live::new(&job, self.ctrl_c.clone());
            let sent = self.secrets.restored(&job.workload, &job, variable)?;
            let outcome =
                conduct(&mut self.ends, &sent, self.target.address, &Watch::default(), &mut live);
            live.clear();
            let outcome = outcome?;
            let setting = Setting {
                run_id: &self.run_id,
                workload: self.workload,
                name: &job.workload,
                job: &job,
                point,
                round: 1,
                target: &self.target,
                client: &self.ends.clients[0].hello,
                server: self.ends.servers.first().map(|s| &s.hello),
                nodes: (&[], &[]),
                cpus: (&[], &[]),
                program_limits: &[],
                link: None,
                proxies: &[],
            };
            let record = record(&setting, &outcome);
            if record.window_s == 0.0 && outcome.fault.is_none() {
                failed = Some(Fault::measuring(
                    "interrupted before the window began: nothing was measured",
                ));
                break;
            }
            self.print(&record)?;
            failed = outcome.fault.or_else(|| record.inconsistency().map(Fault::measuring));
            if failed.is_none() {
                failed = failed_exchanges(&record).map(Fault::measuring);
            }
            if failed.is_none() && self.ctrl_c.wanted() && record.incomplete.is_some() {
                failed = Some(Fault::measuring(
                    "interrupted; what was measured until then is above, marked incomplete",
                ));
            }
            records.push(record);
            if failed.is_some() || self.ctrl_c.wanted() {
                break;
            }
        }
        self.print_together(&records)?;
        self.ends.clients.into_iter().chain(self.ends.servers).for_each(AgentConnection::close);
        failed.map_or(Ok(()), Err)
    }

    fn print(&self, record: &Record) -> Result<(), Fault> {
        let name = if self.json { "json" } else { "text" };
        let Some(format) = hopbench_report::format(name) else {
            return Ok(());
        };
        let context = hopbench_report::Context { terminal: std::io::stdout().is_terminal() };
        print((format.render)(std::slice::from_ref(record), &context))
    }

    /// Prints what only several records together say.
    fn print_together(&self, records: &[Record]) -> Result<(), Fault> {
        if self.json {
            return Ok(());
        }
        if let Some(table) = hopbench_report::sweep_table(records) {
            say(format_args!("\n{table}"))?;
        }
        for cost in hopbench_report::wakeup_costs(records) {
            say(hopbench_report::lines(&cost))?;
        }
        Ok(())
    }
}
