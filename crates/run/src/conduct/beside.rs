//! The containers that the agents beside them look at, those of proxies and of server programs: who
//! is asked, and what the answers come to.

use std::collections::BTreeMap;

use hopbench_model::{EndReport, Nanos};
use hopbench_testbed::{Beside, Proxy};
use hopbench_wire::{Role, neighbour_reading};

use super::ends::Watch;
use super::follow::Ending;
use super::proxies::Edges;

/// A reading of an agent that came later than this, or than [`LATE_SHARE`] of the window if that is
/// more, is of another time. An agent in a container may wait for its CPU, unlike the conductor. A
/// late first reading only makes the time shorter. After the end, what is not answered is worked
/// off, so cores can be too many by this share.
const LATE: Nanos = 10_000_000;
const LATE_SHARE: Nanos = 10;

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

/// Why some server's agent did not see the program in the container beside it at the edges of the
/// window; `None`: each did.
pub(super) fn unseen_program(servers: &[Option<EndReport>], window_ns: Nanos) -> Option<String> {
    let why =
        |report: &Option<EndReport>| match report.as_ref().filter(|report| sees_program(report)) {
            Some(report) => late_ns(report, window_ns).map(said_late),
            None => Some("no agent saw its processes".to_owned()),
        };
    if servers.is_empty() {
        Some("no agent is beside it".to_owned())
    } else {
        servers.iter().find_map(why)
    }
}

/// Whether a server's agent sees the program in the container beside it, early or late.
pub(crate) fn sees_program(report: &EndReport) -> bool {
    sees(report, "program")
}

/// Whether a report has this reading at both edges.
fn sees(report: &EndReport, reading: &str) -> bool {
    [&report.start, &report.end].iter().all(|edge| edge.readings.contains_key(reading))
}

/// How much later than at the edges of the window a report's readings are, ns, the later of both,
/// if they are of another time.
pub(crate) fn late_ns(report: &EndReport, window_ns: Nanos) -> Option<Nanos> {
    let end = report.end.t_ns.saturating_sub(window_ns.cast_signed());
    let late = report.start.t_ns.max(end).max(0).cast_unsigned();
    (late > LATE.max(window_ns / LATE_SHARE)).then_some(late)
}

/// What is said of it.
fn said_late(late_ns: Nanos) -> String {
    format!("the agent beside it read {} ms late", late_ns / 1_000_000)
}

/// Takes the readings of such proxies out of the ends' reports, whose costs they are not, and puts
/// them into the places of their proxies. Of each proxy, whether the agent beside it sees its
/// container, early or late; `None`: that agent reported nothing.
pub(super) fn take(
    watch: &Watch<'_>,
    endings: &mut [(Role, Ending)],
    proxies: &mut [Result<Edges, String>],
    window_ns: Nanos,
) -> Vec<Option<bool>> {
    let mut sees = vec![None; watch.proxies.len()];
    for ((proxy, edges), sees) in watch.proxies.iter().zip(proxies).zip(&mut sees) {
        let Some(beside) = proxy.seen_by_agent() else { continue };
        let ending = place(watch, beside).and_then(|end| endings.get_mut(end));
        let nothing = "the agent beside it reported nothing";
        *edges = match ending.map(|(_, ending)| (ending.report.as_mut(), &ending.fault)) {
            Some((Some(report), _)) => {
                *sees = Some(self::sees(report, &neighbour_reading(&proxy.name)));
                edges_in(report, &proxy.name, window_ns)
            }
            Some((None, Some(fault))) => Err(format!("{nothing}: {}", fault.text)),
            _ => Err(nothing.to_owned()),
        };
    }
    sees
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
    match (why, edges, late_ns) {
        (Some(why), ..) => Err(why.strip_prefix("unavailable: ").unwrap_or(&why).to_owned()),
        (None, [Some(_), Some(_)], Some(late_ns)) => Err(said_late(late_ns)),
        // From the window's end on a closed loop sends nothing, and a proxy rests.
        (None, [Some(start), Some(end)], None) => {
            let seconds = report.loaded_seconds();
            let seconds = seconds.ok_or("the trial ended before the window began")?;
            Ok(Edges { start, end, seconds })
        }
        (None, ..) => Err("the trial ended before the window began".to_owned()),
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
            window_ns: WINDOW_NS,
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
        let unseen = |reports: &[Option<EndReport>]| unseen_program(reports, WINDOW_NS);
        assert_eq!(unseen(&[Some(sees.clone()), Some(sees.clone())]), None);
        let late = EndReport { end: Tick { t_ns: 90_000_000, ..sees.end.clone() }, ..sees.clone() };
        for (other, why) in [
            (Some(blind), "no agent saw its processes"),
            (None, "no agent saw its processes"),
            (Some(late), "the agent beside it read 40 ms late"),
        ] {
            assert_eq!(unseen(&[Some(sees.clone()), other]).as_deref(), Some(why));
        }
        assert!(unseen(&[]).is_some());
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
        let sees = take(&watch, &mut endings, &mut seen, WINDOW_NS);
        assert_eq!(sees, [Some(true), Some(false), None, None, Some(true), None]);
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
