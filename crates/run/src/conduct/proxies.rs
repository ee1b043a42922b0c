//! What the proxies of a path spend: they are processes of the testbed, in which no agent is.

use hopbench_meter::Watched;
use hopbench_model::{Fault, Nanos, Reading, SECOND};
use hopbench_sys::clock;
use hopbench_testbed::Proxy;

/// What the processes of a proxy had spent at the edges of the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Edges {
    /// At its start.
    pub start: Reading,
    /// At its end, or where the trial was cut short.
    pub end: Reading,
    /// Time between the two readings, s.
    pub seconds: f64,
}

/// The proxies of a trial.
pub(super) struct Proxies(Vec<One>);

struct One {
    name: String,
    state: State,
    /// What was read so far, and when.
    read: Vec<(Nanos, Reading)>,
}

enum State {
    Watched(Watched),
    /// Where its processes are cannot be seen from here.
    Unseen,
    /// It has ended: how that was noticed.
    Gone(String),
}

impl Proxies {
    /// Looks for their processes.
    pub(super) fn watch(proxies: &[Proxy]) -> Result<Self, Fault> {
        let one = |proxy: &Proxy| {
            let state = if proxy.pids.is_empty() {
                State::Unseen
            } else {
                State::Watched(Watched::open(&proxy.pids).map_err(|absent| {
                    let Proxy { name, node, .. } = proxy;
                    Fault::environment(format!(
                        "the proxy {name} on {node} cannot be watched, has it ended? {}",
                        absent.why
                    ))
                })?)
            };
            Ok(One { name: format!("{} on {}", proxy.name, proxy.node), state, read: Vec::new() })
        };
        proxies.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Reads all of them, at an edge.
    pub(super) fn read(&mut self) {
        for one in &mut self.0 {
            let State::Watched(watched) = &mut one.state else { continue };
            match watched.read() {
                Ok(reading) => one.read.push((clock::now(), reading)),
                Err(error) => one.state = State::Gone(error.to_string()),
            }
        }
    }

    /// What was read of each or why it is not known, and whether one ended.
    pub(super) fn seen(self) -> (Vec<Result<Edges, String>>, Option<Fault>) {
        let mut fault = None;
        let mut edges = |one: One| match (one.state, <[_; 2]>::try_from(one.read)) {
            (State::Gone(how), _) => {
                let text = format!("the proxy {} ended while the trial ran: {how}; its log says why", one.name);
                fault.get_or_insert_with(|| Fault::measuring(text.clone()));
                Err(text)
            }
            (State::Watched(_), Ok([(began, start), (ended, end)])) => {
                Ok(Edges { start, end, seconds: ended.saturating_sub(began).max(1) as f64 / SECOND as f64 })
            }
            (State::Watched(_), Err(_)) => Err("the trial ended before the window began".to_owned()),
            (State::Unseen, _) => Err("its processes cannot be seen from here".to_owned()),
        };
        let seen = self.0.into_iter().map(&mut edges).collect();
        (seen, fault)
    }
}
