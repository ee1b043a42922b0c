//! The containers that the agents beside them look at, those of proxies and of server programs: who
//! is asked, and what the answers come to.

use std::collections::BTreeMap;

use hopbench_model::{EndReport, Nanos, SECOND};
use hopbench_testbed::{Beside, Proxy};
use hopbench_wire::{Role, neighbour_reading};

use super::ends::Watch;
use super::follow::Ending;
use super::proxies::Edges;

/// A reading of an agent that came later than this, or than [`LATE_SHARE`] of the window if that is
/// more, is of another time. An agent in a container may wait for its CPU, unlike the conductor. A
/// late first reading only makes the time shorter. After the end, what is not answered is worked
/// off.
const LATE: Nanos = 20_000_000;
const LATE_SHARE: Nanos = 4;
/// The end of what is said of a late reading.
const SAID_LATE: &str = " ms late";

/// The neighbours that the agent of number `end` is to look at: ids of containers by the proxies'
/// names. An agent at several ends is asked once.
pub(super) fn neighbours(watch: &Watch<'_>, end: usize) -> BTreeMap<String, String> {
    let seen = |proxy: &Proxy| {
        let beside = proxy.seen_by_agent()?;
        (place(watch, beside) == Some(end)).then(|| (proxy.name.clone(), beside.container.clone()))
    };
    watch.proxies.iter().filter_map(seen).collect()
}

/// The container of the server program that the agent of number `end` is to look at.
pub(super) fn program(watch: &Watch<'_>, end: usize) -> Option<String> {
    let mut all = watch.programs_beside.iter();
    let beside = all.find(|beside| place(watch, beside) == Some(end))?;
    Some(beside.container.clone())
}

/// Whether each server's agent saw the program in the container beside it, at the edges of the
/// window.
pub(super) fn saw_programs(servers: &[Option<EndReport>], window_ns: Nanos) -> bool {
    let saw = |report: &Option<EndReport>| {
        report.as_ref().is_some_and(|report| saw_program(report, window_ns))
    };
    !servers.is_empty() && servers.iter().all(saw)
}

/// Whether this server's agent did.
fn saw_program(report: &EndReport, window_ns: Nanos) -> bool {
    sees_program(report) && late_ns(report, window_ns).is_none()
}

/// Whether a server's agent sees the program in the container beside it, early or late.
pub(crate) fn sees_program(report: &EndReport) -> bool {
    [&report.start, &report.end].iter().all(|edge| edge.readings.contains_key("program"))
}

/// Whether an agent sees the container of a proxy, early or late.
pub(crate) fn sees_proxy(seen: &Result<Edges, String>) -> bool {
    seen.as_ref().err().is_none_or(|why| why.ends_with(SAID_LATE))
}

/// How much later than at the edges of the window a report's readings are, ns, the later of both,
/// if they are of another time.
pub(crate) fn late_ns(report: &EndReport, window_ns: Nanos) -> Option<Nanos> {
    let end = report.end.t_ns.saturating_sub(window_ns.cast_signed());
    let late = report.start.t_ns.max(end).max(0).cast_unsigned();
    (late > LATE.max(window_ns / LATE_SHARE)).then_some(late)
}

/// Takes the readings of such proxies out of the ends' reports, whose costs they are not, and puts
/// them into the places of their proxies.
pub(super) fn take(
    watch: &Watch<'_>,
    endings: &mut [(Role, Ending)],
    proxies: &mut [Result<Edges, String>],
    window_ns: Nanos,
) {
    for (proxy, edges) in watch.proxies.iter().zip(proxies) {
        let Some(beside) = proxy.seen_by_agent() else { continue };
        let ending = place(watch, beside).and_then(|end| endings.get_mut(end));
        let nothing = "the agent beside it reported nothing";
        *edges = match ending.map(|(_, ending)| (ending.report.as_mut(), &ending.fault)) {
            Some((Some(report), _)) => edges_in(report, &proxy.name, window_ns),
            Some((None, Some(fault))) => Err(format!("{nothing}: {}", fault.text)),
            _ => Err(nothing.to_owned()),
        };
    }
}

/// The number of the agent that looks at a container, the first of several.
fn place(watch: &Watch<'_>, beside: &Beside) -> Option<usize> {
    watch.agents.iter().position(|agent| *agent == beside.agent)
}

fn edges_in(report: &mut EndReport, name: &str, window_ns: Nanos) -> Result<Edges, String> {
    let reading = neighbour_reading(name);
    let edges = [&mut report.start, &mut report.end].map(|edge| edge.readings.remove(&reading));
    let why = report.settings.remove(&format!("meter_{reading}"));
    let late_ns = late_ns(report, window_ns);
    // From the window's end on a closed loop sends nothing, and a proxy rests.
    let last = report.end.t_ns.min(window_ns.cast_signed());
    let seconds = last.saturating_sub(report.start.t_ns) as f64 / SECOND as f64;
    match (why, edges) {
        (Some(why), _) => Err(why.strip_prefix("unavailable: ").unwrap_or(&why).to_owned()),
        (None, [Some(_), Some(_)]) if late_ns.is_some() => {
            let late_ms = late_ns.unwrap_or(0) / 1_000_000;
            Err(format!("the agent beside it read {late_ms}{SAID_LATE}"))
        }
        (None, [Some(start), Some(end)]) if seconds > 0.0 => Ok(Edges { start, end, seconds }),
        (None, _) => Err("the trial ended before the window began".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Fault, Reading, Tick};
    use hopbench_testbed::AgentId;

    use super::*;

    const WINDOW_NS: Nanos = 50_000_000;

    fn id(name: &str) -> AgentId {
        AgentId(name.to_owned())
    }

    fn proxy(name: &str, agent: &str) -> Proxy {
        let beside = Beside { agent: id(agent), container: format!("{name}0123456789ab") };
        let (name, node) = (name.to_owned(), "n".to_owned());
        let (named, pids, beside) = (true, Vec::new(), Some(beside));
        Proxy { name, node, named, pids, beside, workers: 1, cpus: None }
    }

    fn report(readings: &[(&str, f64, f64)]) -> EndReport {
        let tick = |t_ns: i64, pick: fn(&(&str, f64, f64)) -> f64| Tick {
            t_ns,
            readings: readings
                .iter()
                .map(|one| {
                    let spent = Reading::from([("cpu_s_total".to_owned(), pick(one))]);
                    (one.0.to_owned(), spent)
                })
                .collect(),
            ..Tick::default()
        };
        EndReport {
            start: tick(0, |one| one.1),
            end: tick(WINDOW_NS.cast_signed(), |one| one.2),
            ..EndReport::default()
        }
    }

    fn ending(report: Option<EndReport>) -> Ending {
        Ending { report, fault: None, lost: false }
    }

    #[test]
    fn each_agent_is_asked_once_for_its_own_neighbours() {
        let proxies = [proxy("client-sidecar", "a"), proxy("server-sidecar", "b")];
        // One agent is client and server.
        let agents = ["a", "b", "a"].map(id);
        let watch = Watch { proxies: &proxies, agents: &agents, ..Watch::default() };
        let asked = |end| neighbours(&watch, end).into_keys().collect::<Vec<_>>();
        assert_eq!([asked(0), asked(1)], [["client-sidecar"], ["server-sidecar"]]);
        assert_eq!([asked(2), asked(3)], [[""; 0], [""; 0]]);
        assert_eq!(neighbours(&watch, 1)["server-sidecar"], "server-sidecar0123456789ab");
        // What is seen from here is no business of an agent.
        let mut here = proxies.clone();
        here[0].pids = vec![1];
        let watch = Watch { proxies: &here, ..watch };
        assert!(neighbours(&watch, 0).is_empty());
    }

    #[test]
    fn each_server_s_agent_is_asked_for_the_program_beside_it() {
        let beside = |agent: &str| Beside { agent: id(agent), container: format!("{agent}of-it") };
        let (programs, agents) = (["b", "c"].map(beside), ["a", "b", "c"].map(id));
        let (programs_beside, agents) = (&programs[..], &agents[..]);
        let watch = Watch { programs: Some(&[]), programs_beside, agents, ..Watch::default() };
        let asked = [0, 1, 2, 3].map(|end| program(&watch, end));
        assert_eq!(asked, [None, Some("bof-it".to_owned()), Some("cof-it".to_owned()), None]);
        let (sees, blind) = (report(&[("program", 1.0, 2.0)]), report(&[("self", 1.0, 2.0)]));
        let saw = |reports: &[Option<EndReport>]| saw_programs(reports, WINDOW_NS);
        assert!(saw(&[Some(sees.clone()), Some(sees.clone())]));
        let late = EndReport { end: Tick { t_ns: 90_000_000, ..sees.end.clone() }, ..sees.clone() };
        for other in [Some(blind), Some(late), None] {
            assert!(!saw(&[Some(sees.clone()), other]));
        }
        assert!(!saw(&[]));
    }

    #[test]
    fn a_late_reading_is_of_another_time() {
        let seen = |start_ms: i64, end_ms: i64| {
            let mut report = report(&[("neighbour gateway", 1.0, 1.1)]);
            (report.start.t_ns, report.end.t_ns) = (start_ms * 1_000_000, end_ms * 1_000_000);
            edges_in(&mut report, "gateway", WINDOW_NS).map(|edges| (edges.seconds * 1e3).round())
        };
        assert_eq!(seen(0, 50), Ok(50.0));
        // The proxy rests after the window.
        assert_eq!(seen(2, 60), Ok(48.0));
        let late = |ms: u32| Err(format!("the agent beside it read {ms} ms late"));
        assert_eq!(seen(0, 150), late(100));
        assert_eq!(seen(60, 60), late(60), "all of it came after the window");
        for why in ["process 9 has ended", "the agent beside it read 60 ms late"] {
            assert_eq!(sees_proxy(&Err(why.to_owned())), why.ends_with("late"));
        }
    }

    #[test]
    fn readings_go_from_the_reports_to_the_proxies() {
        let proxies = [
            proxy("client-sidecar", "a"),
            proxy("server-sidecar", "b"),
            proxy("server-sidecar#2", "c"),
            proxy("gateway", "nobody"),
            proxy("policy", "onlooker"),
            proxy("gateway#2", "hangs"),
        ];
        let agents = ["a", "b", "c", "onlooker", "hangs"].map(id);
        let watch = Watch { proxies: &proxies, agents: &agents, ..Watch::default() };
        let first = report(&[("neighbour client-sidecar", 7.0, 7.025), ("self", 1.0, 2.0)]);
        let mut second = report(&[("self", 1.0, 2.0)]);
        let (setting, why) = ("meter_neighbour server-sidecar", "unavailable: process 9 has ended");
        second.settings.insert(setting.to_owned(), why.to_owned());
        let observed = report(&[("neighbour policy", 3.0, 3.05)]);
        let mut endings = [
            (Role::Client, ending(Some(first))),
            (Role::Server, ending(Some(second))),
            (Role::Server, ending(None)),
            (Role::Onlooker, ending(Some(observed))),
            (Role::Onlooker, Ending { fault: Some(Fault::measuring("it hangs")), ..ending(None) }),
        ];
        let mut seen = vec![Err("not from here".to_owned()); 6];
        take(&watch, &mut endings, &mut seen, WINDOW_NS);
        let edges = seen[0].as_ref().unwrap();
        let cores = (edges.end["cpu_s_total"] - edges.start["cpu_s_total"]) / edges.seconds;
        assert!((cores - 0.5).abs() < 1e-6 && (edges.seconds - 0.05).abs() < 1e-9, "{edges:?}");
        assert_eq!(seen[1].as_ref().unwrap_err(), "process 9 has ended");
        let edges = seen[4].as_ref().unwrap();
        assert!((edges.end["cpu_s_total"] - edges.start["cpu_s_total"] - 0.05).abs() < 1e-9);
        let nothing = "the agent beside it reported nothing";
        for unknown in &seen[2..4] {
            assert_eq!(unknown.as_ref().unwrap_err(), nothing);
        }
        assert_eq!(seen[5], Err(format!("{nothing}: it hangs")));
        for (_, ending) in &endings[..2] {
            let report = ending.report.as_ref().unwrap();
            for edge in [&report.start, &report.end] {
                assert_eq!(edge.readings.keys().collect::<Vec<_>>(), ["self"]);
            }
            assert!(report.settings.is_empty(), "{:?}", report.settings);
        }
    }
}
