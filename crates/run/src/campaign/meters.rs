//! The wait for other meters: their readings before and after the traffic enclose one trial's load.
//!
//! A trial waits for meters if only they know a cost, and as long as that gives figures. Otherwise
//! their readings are a second opinion, for which short trials take a small share of the time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_testbed::{AgentId, Metered, MeteredKind, NodeOnlooker, Route, Testbed};

/// How long a reading is waited for. A kubelet reads a container every 10 to 20 s if nobody told it
/// otherwise.
pub(super) const LONGEST: Duration = Duration::from_secs(20);
/// How often the meters are asked meanwhile.
const EVERY_NS: Nanos = 250_000_000;
/// Between two questions so many times as long as the answer took.
const REST: u64 = 3;
/// Meters that have said nothing at all for so long are not there.
const SILENCE: Duration = Duration::from_secs(2);

/// A trial with a window of this length or more gets second opinions in any case.
pub(super) const LONG_WINDOW_NS: Nanos = SECOND;
/// Of the time of shorter ones, second opinions take one part in so many.
const SHARE: Nanos = 20;
/// What failed so often in a row is not tried again for a while: a wait for meters, for windows as
/// long, or what the agent beside it does not see.
const VAIN: u32 = 2;
/// How long that is not tried after the first two failures, ns.
const PAUSE_NS: Nanos = 60 * SECOND;
/// That pause doubles with each further failure, so many times at most.
const MOST_DOUBLED: u32 = 6;

/// Whose cost nobody but others can say, on one route.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Unseen {
    /// A proxy whose processes nobody sees, a server program without them, an agent in a sandbox.
    pub(super) all: BTreeSet<(MeteredKind, String)>,
}

impl Unseen {
    /// Of a route; the server is a program if `program` says so, and of the agents these are in
    /// sandboxes.
    pub(super) fn of(route: &Route, program: bool, sandboxed: &[AgentId]) -> Self {
        let proxies = route.proxies.iter().filter(|proxy| !proxy.is_seen());
        let mut all: BTreeSet<_> =
            proxies.map(|proxy| (MeteredKind::Proxy, proxy.name.clone())).collect();
        if program && !route.sees_program() {
            all.extend(
                route.servers.iter().map(|AgentId(name)| (MeteredKind::Program, name.clone())),
            );
        }
        all.extend(sandboxed.iter().map(|AgentId(name)| (MeteredKind::Agent, name.clone())));
        Self { all }
    }
}

/// The knowledge about the meters from the trials before.
#[derive(Debug, Default)]
pub(super) struct Meters {
    /// Whom nobody has read for a whole wait, by path.
    unknown: BTreeMap<Key, Failed>,
    /// Nobody meters anything.
    nobody: bool,
    /// What gave no figure when it was waited for, by the length of the window, ns.
    vain: BTreeMap<(MeteredKind, Nanos), Failed>,
    /// When the first trial asked, and how long second opinions took since.
    began_ns: Option<Nanos>,
    opinions_ns: Nanos,
    /// What the agent beside it did not see.
    blind: BTreeMap<Key, Failed>,
}

/// How often in a row something failed, and until when it is not tried again.
#[derive(Debug, Default, Clone, Copy)]
struct Failed {
    times: u32,
    until_ns: Nanos,
}

impl Failed {
    /// It failed once more. From the second time on it rests, each time twice as long.
    fn again(&mut self, now: Nanos) {
        self.times += 1;
        if let Some(more) = self.times.checked_sub(VAIN) {
            self.until_ns = now + (PAUSE_NS << more.min(MOST_DOUBLED));
        }
    }

    fn is_resting(&self, now: Nanos) -> bool {
        self.times >= VAIN && now < self.until_ns
    }
}

/// Whose cost, on the path of this name.
type Key = (String, MeteredKind, String);

impl Meters {
    /// Whose cost is worth a wait in a trial on this route with such a window that begins now.
    pub(super) fn worth(
        &self,
        route: &Route,
        unseen: Unseen,
        window_ns: Nanos,
        now: Nanos,
    ) -> Unseen {
        // What was vain in a longer window is so in this one.
        let is_vain = |what: MeteredKind| {
            let mut as_long = self.vain.range((what, window_ns)..=(what, Nanos::MAX));
            as_long.any(|(_, failed)| failed.is_resting(now))
        };
        let is_unknown = |what, who: &str| {
            let failed = self.unknown.get(&key(route, what, who));
            failed.is_some_and(|failed| failed.is_resting(now))
        };
        let mut all = unseen.all;
        all.retain(|(what, who)| !is_vain(*what) && !is_unknown(*what, who));
        Unseen { all }
    }

    /// Whether a trial with such a window asks the meters, where it waits for these.
    pub(super) fn asks(&mut self, waited_for: &Unseen, window_ns: Nanos, now: Nanos) -> bool {
        let began = *self.began_ns.get_or_insert(now);
        let is_due = self.opinions_ns.saturating_mul(SHARE) <= now.saturating_sub(began);
        !waited_for.all.is_empty() || window_ns >= LONG_WINDOW_NS || is_due
    }

    /// Notes what second opinions of a trial took, ns.
    pub(super) fn took(&mut self, opinions_ns: Nanos) {
        self.opinions_ns += opinions_ns;
    }

    /// Learns from a trial with such a window whether waiting for these gave figures; `known` says
    /// it of each.
    pub(super) fn learn(
        &mut self,
        waited_for: &Unseen,
        window_ns: Nanos,
        now: Nanos,
        known: impl Fn(MeteredKind, &str) -> bool,
    ) {
        let kinds: BTreeSet<MeteredKind> = waited_for.all.iter().map(|(what, _)| *what).collect();
        for kind in kinds {
            let mut of_kind = waited_for.all.iter().filter(|(what, _)| *what == kind);
            if of_kind.any(|(what, who)| known(*what, who)) {
                // Longer windows have figures, too. Of shorter ones this says nothing.
                self.vain.retain(|(what, of_ns), _| *what != kind || *of_ns < window_ns);
            } else {
                self.vain.entry((kind, window_ns)).or_default().again(now);
            }
        }
    }

    /// Takes the agents from a route that did not see what is beside them, but now and then.
    pub(super) fn leave_out_blind(&self, route: &mut Route, now: Nanos) {
        let path = route.path.clone();
        let is_blind = |what: MeteredKind, who: &str| {
            let failed = self.blind.get(&(path.clone(), what, who.to_owned()));
            failed.is_some_and(|failed| failed.is_resting(now))
        };
        for proxy in &mut route.proxies {
            let beside = proxy.beside.take_if(|_| is_blind(MeteredKind::Proxy, &proxy.name));
            // The agent sees its node all the same.
            route.node_onlookers.extend(beside.map(|beside| NodeOnlooker {
                node: proxy.node.clone(),
                agent: beside.agent,
                absent: None,
            }));
        }
        let programs = &mut route.programs_beside;
        programs.retain(|beside| !is_blind(MeteredKind::Program, &beside.agent.0));
    }

    /// Takes note of what the agents of a route saw of what is beside them in a whole trial: of
    /// each proxy, and whether the agents of the servers saw their programs, by number.
    pub(super) fn note(
        &mut self,
        route: &Route,
        saw_proxies: &[Option<bool>],
        saw_program: impl Fn(usize) -> bool,
        now: Nanos,
    ) {
        let mut note = |what, who: &str, is_seen: bool| {
            let failed = self.blind.entry(key(route, what, who)).or_default();
            if is_seen {
                *failed = Failed::default();
            } else {
                failed.again(now);
            }
        };
        for (proxy, saw) in route.proxies.iter().zip(saw_proxies) {
            if let (Some(_), Some(saw)) = (proxy.seen_by_agent(), saw) {
                note(MeteredKind::Proxy, &proxy.name, *saw);
            }
        }
        for (number, server) in route.servers.iter().enumerate() {
            if route.programs_beside.iter().any(|beside| beside.agent == *server) {
                note(MeteredKind::Program, &server.0, saw_program(number));
            }
        }
    }

    /// What they say before the traffic. It is read as soon as all that is unseen was read after
    /// the load of the trial before, which was over at `quiet_since` (since 1970 UTC). Or it is
    /// read when that was waited for long enough.
    pub(super) fn before(
        &mut self,
        testbed: &mut dyn Testbed,
        route: &Route,
        unseen: &Unseen,
        quiet_since: Duration,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Metered>, String> {
        let wanted: Vec<_> =
            if self.nobody { Vec::new() } else { unseen.all.iter().cloned().collect() };
        let said = wait(testbed, route, &wanted, interrupted, |reading| reading.at >= quiet_since);
        if let (Ok(said), false) = (&said, interrupted()) {
            self.nobody = said.is_empty() && (self.nobody || !wanted.is_empty());
            if said.is_empty() {
                return Ok(Vec::new());
            }
            for (what, who) in wanted {
                let key = key(route, what, &who);
                if said.iter().any(|reading| is(reading, what, &who)) {
                    self.unknown.remove(&key);
                } else {
                    // One wait is enough: it is as long as any meter needs.
                    let once = Failed { times: VAIN - 1, until_ns: 0 };
                    self.unknown.entry(key).or_insert(once).again(clock::now());
                }
            }
        }
        said
    }

    /// What they say after it: as soon as all that is unseen was read when the load was over, at
    /// `quiet_since`. Whom nobody had read `before` in time is not waited for.
    pub(super) fn after(
        testbed: &mut dyn Testbed,
        route: &Route,
        unseen: &Unseen,
        before: &[Metered],
        (quiet_before, quiet_since): (Duration, Duration),
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Metered>, String> {
        let began = |reading: &Metered| {
            let same = |other: &&Metered| {
                other.source == reading.source && is(other, reading.what, &reading.who)
            };
            before.iter().find(same).is_some_and(|start| start.at >= quiet_before)
        };
        let known = |(what, who): &&(MeteredKind, String)| {
            before.iter().any(|reading| is(reading, *what, who) && reading.at >= quiet_before)
        };
        let wanted: Vec<_> = unseen.all.iter().filter(known).cloned().collect();
        wait(testbed, route, &wanted, interrupted, |reading| {
            reading.at >= quiet_since && began(reading)
        })
    }
}

fn key(route: &Route, what: MeteredKind, who: &str) -> Key {
    (route.path.clone(), what, who.to_owned())
}

/// Whether a reading is one of this. An agent that is asked for is in a sandbox: the kubelet does
/// not know what that costs.
fn is(reading: &Metered, what: MeteredKind, who: &str) -> bool {
    reading.what == what
        && reading.who == who
        && (what != MeteredKind::Agent || reading.source != "kubelet")
}

/// Asks until everything wanted has a reading that is good, for [`LONGEST`] at most.
fn wait(
    testbed: &mut dyn Testbed,
    route: &Route,
    wanted: &[(MeteredKind, String)],
    interrupted: &dyn Fn() -> bool,
    good: impl Fn(&Metered) -> bool,
) -> Result<Vec<Metered>, String> {
    let began = clock::now();
    loop {
        let asked = clock::now();
        let said = testbed.meters(route).map_err(|fault| fault.text)?;
        let missing = wanted.iter().any(|(what, who)| {
            !said.iter().any(|reading| is(reading, *what, who) && good(reading))
        });
        let waited = Duration::from_nanos(clock::now().saturating_sub(began));
        let longest = if said.is_empty() { SILENCE } else { LONGEST };
        if !missing || waited >= longest || interrupted() {
            return Ok(said);
        }
        // What takes a meter long to say costs its node something: the answer must not be all that
        // it does.
        let took = clock::now().saturating_sub(asked);
        clock::sleep_until(clock::now() + EVERY_NS.max(REST * took));
    }
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::{Beside, Proxy};

    use super::*;

    const SHORT: Nanos = SECOND / 4;

    fn worth(meters: &Meters, unseen: Unseen, window_ns: Nanos, now: Nanos) -> Unseen {
        meters.worth(&route(), unseen, window_ns, now)
    }

    fn sandbox() -> Unseen {
        Unseen { all: [(MeteredKind::Agent, "a".to_owned())].into() }
    }

    #[test]
    fn second_opinions_take_their_share_of_the_time_of_short_trials() {
        let mut meters = Meters::default();
        let nobody = Unseen::default();
        let mut now = 7 * SECOND;
        let mut asked = 0;
        for _ in 0..400 {
            if meters.asks(&nobody, SHORT, now) {
                asked += 1;
                meters.took(SECOND / 5);
                now += SECOND / 5;
            }
            now += SHORT;
        }
        // 0.2 s each, 5 % of somewhat more than 100 s.
        assert!((24..=28).contains(&asked), "{asked}");
        assert!(meters.asks(&nobody, LONG_WINDOW_NS, now));
        assert!(!meters.asks(&nobody, SHORT, now));
        assert!(meters.asks(&sandbox(), SHORT, now), "nobody else can say it");
    }

    #[test]
    fn what_gave_no_figure_twice_is_waited_for_in_longer_trials_or_later() {
        let mut meters = Meters::default();
        let now = 7 * SECOND;
        let learn = |meters: &mut Meters, window_ns, is_known| {
            meters.learn(&sandbox(), window_ns, now, |_, _| is_known);
        };
        learn(&mut meters, SHORT, false);
        assert_eq!(worth(&meters, sandbox(), SHORT, now), sandbox());
        learn(&mut meters, SHORT, true);
        learn(&mut meters, SHORT, false);
        assert_eq!(worth(&meters, sandbox(), SHORT, now), sandbox(), "the one between did");
        learn(&mut meters, SHORT, false);
        assert_eq!(worth(&meters, sandbox(), SHORT, now), Unseen::default());
        assert_eq!(worth(&meters, sandbox(), SHORT + 1, now), sandbox());
        learn(&mut meters, 40 * SHORT, true);
        assert_eq!(worth(&meters, sandbox(), SHORT, now), Unseen::default(), "that was longer");
        let proxy = Unseen { all: [(MeteredKind::Proxy, "gateway".to_owned())].into() };
        assert_eq!(worth(&meters, proxy.clone(), SHORT, now), proxy);
        // A longer one that failed once is not vain for what shorter ones did.
        learn(&mut meters, 40 * SHORT, false);
        assert_eq!(worth(&meters, sandbox(), 40 * SHORT, now), sandbox());
        learn(&mut meters, 40 * SHORT, true);
        // It is tried again, and rests for twice as long.
        assert_eq!(worth(&meters, sandbox(), SHORT, now + PAUSE_NS), sandbox());
        learn(&mut meters, SHORT, false);
        assert_eq!(worth(&meters, sandbox(), SHORT, now + PAUSE_NS), Unseen::default());
    }

    fn beside(agent: &str) -> Beside {
        let container = "0123456789ab".to_owned();
        Beside { agent: AgentId(agent.to_owned()), container }
    }

    /// A route through a gateway to a server program, each with an agent beside it.
    fn route() -> Route {
        Route {
            path: "in".to_owned(),
            clients: vec![AgentId("client".to_owned())],
            servers: vec![AgentId("server".to_owned())],
            programs_beside: vec![beside("server")],
            proxies: vec![Proxy {
                name: "gateway".to_owned(),
                node: "c".to_owned(),
                named: true,
                pids: Vec::new(),
                beside: Some(beside("gate")),
                workers: 1,
                cpus: None,
            }],
            ..Route::to("127.0.0.1:1".parse().unwrap())
        }
    }

    fn waited_for(route: &Route, program: bool) -> Vec<(MeteredKind, String)> {
        Unseen::of(route, program, &[]).all.into_iter().collect()
    }

    #[test]
    fn only_what_no_agent_stands_beside_is_waited_for() {
        let seen = route();
        assert!(waited_for(&seen, true).is_empty());
        let gateway = (MeteredKind::Proxy, "gateway".to_owned());
        let program = (MeteredKind::Program, "server".to_owned());
        let mut apart = route();
        (apart.proxies[0].beside, apart.programs_beside) = (None, Vec::new());
        assert_eq!(waited_for(&apart, false), std::slice::from_ref(&gateway));
        assert_eq!(waited_for(&apart, true), [gateway, program]);
    }

    #[test]
    fn what_agents_do_not_see_is_left_to_meters_for_a_while_after_two_trials() {
        let mut meters = Meters::default();
        let mut trial = |is_seen: bool, now: Nanos| {
            let mut route = route();
            meters.leave_out_blind(&mut route, now);
            // Where its agent was left out, it still looks at its node.
            let is_left_out = route.proxies[0].beside.is_none();
            assert_eq!(route.node_onlookers.len(), usize::from(is_left_out));
            assert_eq!(route.onlookers(), [AgentId("gate".to_owned())]);
            meters.note(&route, &[Some(is_seen)], |_| is_seen, now);
            // An agent that said nothing is not blind.
            meters.note(
                &Route { programs_beside: Vec::new(), ..route.clone() },
                &[None],
                |_| false,
                now,
            );
            waited_for(&route, true).len()
        };
        assert_eq!([true, false, true, false, false].map(|is_seen| trial(is_seen, 0)), [0; 5]);
        assert_eq!(trial(false, 0), 2, "the gateway and the program");
        assert_eq!(trial(true, PAUSE_NS), 0, "they are looked at again");
        assert_eq!(trial(false, PAUSE_NS), 0);
    }
}
