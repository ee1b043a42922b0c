//! The proxies of a path and their cost. They are processes of the testbed, without an agent.

use hopbench_meter::ProgramMeter;
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
    /// Time between the two readings, s; what lies behind the window's end does not count.
    pub seconds: f64,
}

/// The proxies of a trial.
pub(super) struct Proxies(Vec<One>);

struct One {
    name: String,
    /// Whether the path needs it: the end of one that stands beside it is no fault of the trial.
    named: bool,
    state: State,
    /// What was read so far.
    read: Vec<Read>,
}

struct Read {
    due: Nanos,
    at: Nanos,
    reading: Reading,
}

/// A reading that came later than this, or than [`LATE_SHARE`] of the window if that is more, is of
/// another time.
const LATE: Nanos = 20_000_000;
const LATE_SHARE: Nanos = 50;

enum State {
    Watched(ProgramMeter),
    /// Where its processes are cannot be seen from here.
    Unseen,
    /// It has ended: how that was noticed.
    Gone(String),
}

impl Proxies {
    /// Looks for their processes.
    pub(super) fn watch(proxies: &[Proxy]) -> Result<Self, Fault> {
        let one = |proxy: &Proxy| {
            let state = match ProgramMeter::open(&proxy.pids) {
                _ if proxy.pids.is_empty() => State::Unseen,
                Ok(watched) => State::Watched(watched),
                Err(absent) if proxy.named => {
                    let Proxy { name, node, .. } = proxy;
                    return Err(Fault::environment(format!(
                        "the proxy {name} on {node} cannot be watched, has it ended? {}",
                        absent.why
                    )));
                }
                Err(absent) => State::Gone(absent.why),
            };
            Ok(One {
                name: format!("{} on {}", proxy.name, proxy.node),
                named: proxy.named,
                state,
                read: Vec::new(),
            })
        };
        proxies.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Reads all of them, at an edge that was due at `due`.
    pub(super) fn read(&mut self, due: Nanos) {
        for one in &mut self.0 {
            let State::Watched(watched) = &mut one.state else { continue };
            match watched.read() {
                Ok(reading) => one.read.push(Read { due, at: clock::now(), reading }),
                Err(error) => one.state = State::Gone(error.to_string()),
            }
        }
    }

    /// What was read of each in a window of this length, or why it is not known, and whether one
    /// ended.
    pub(super) fn seen(self, window_ns: Nanos) -> (Vec<Result<Edges, String>>, Option<Fault>) {
        let mut fault = None;
        let mut edges = |one: One| match (one.state, <[_; 2]>::try_from(one.read)) {
            (State::Gone(how), _) => {
                let text = format!("the proxy {} ended while the trial ran: {how}", one.name);
                if one.named {
                    fault.get_or_insert_with(|| Fault::measuring(text.clone()));
                }
                Err(text)
            }
            (State::Watched(_), Ok([start, end])) => between(start, end, window_ns),
            (State::Watched(_), Err(_)) => {
                Err("the trial ended before the window began".to_owned())
            }
            (State::Unseen, _) => Err("its processes cannot be seen from here".to_owned()),
        };
        let seen = self.0.into_iter().map(&mut edges).collect();
        (seen, fault)
    }
}

/// Two readings as the edges of the window, if they are of it.
fn between(start: Read, end: Read, window_ns: Nanos) -> Result<Edges, String> {
    let late =
        [&start, &end].map(|read| read.at.saturating_sub(read.due)).into_iter().fold(0, Nanos::max);
    if late > LATE.max(window_ns / LATE_SHARE) {
        return Err(format!("read {} ms late", late / 1_000_000));
    }
    // From the window's end on a closed loop sends nothing, and a proxy rests: a reading that comes
    // then says what it had spent by that end. What an open loop still sends by then counts, too.
    let last = end.at.min(start.due.saturating_add(window_ns));
    let seconds = last.saturating_sub(start.at).max(1) as f64 / SECOND as f64;
    Ok(Edges { start: start.reading, end: end.reading, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of this process, read so late at the edges of a window of 1 s.
    fn read(late_ms: [Nanos; 2]) -> Result<f64, String> {
        let (name, node, pids) = ("gateway".to_owned(), "c".to_owned(), vec![std::process::id()]);
        let proxy = Proxy { name, node, named: true, pids, beside: None, workers: 1, cpus: None };
        let mut proxies = Proxies::watch(&[proxy]).unwrap();
        for late in late_ms {
            proxies.read(clock::now() - late * 1_000_000);
        }
        let (mut seen, fault) = proxies.seen(SECOND);
        assert_eq!(fault, None);
        seen.remove(0).map(|edges| edges.seconds)
    }

    #[test]
    fn only_the_end_of_a_proxy_on_the_path_is_a_fault() {
        let seen = |named: bool| {
            let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
            let (name, node, pids) =
                ("client-sidecar".to_owned(), "a".to_owned(), vec![child.id()]);
            let proxy = Proxy { name, node, named, pids, beside: None, workers: 1, cpus: None };
            let mut proxies = Proxies::watch(std::slice::from_ref(&proxy)).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            proxies.read(clock::now());
            let (edges, fault) = proxies.seen(SECOND);
            assert!(edges[0].is_err(), "{edges:?}");
            (fault.is_some(), Proxies::watch(&[proxy]).is_err())
        };
        assert_eq!((seen(true), seen(false)), ((true, true), (false, false)));
    }

    #[test]
    fn a_reading_after_the_window_is_of_its_end() {
        // Half a core in a window of 250 ms that began at 1 s.
        let cores = |[first, last]: [Nanos; 2]| {
            let read = |due_ms: Nanos, at_ms: Nanos| {
                let loaded_ms = at_ms.min(1250) - 1000;
                let cpu_s = 7.0 + loaded_ms as f64 / 2000.0;
                let reading = Reading::from([("cpu_s_total".to_owned(), cpu_s)]);
                Read { due: due_ms * 1_000_000, at: at_ms * 1_000_000, reading }
            };
            let edges = between(read(1000, first), read(1245, last), 250_000_000).unwrap();
            (edges.end["cpu_s_total"] - edges.start["cpu_s_total"]) / edges.seconds
        };
        for at in [[1000, 1245], [1000, 1250], [1004, 1240], [1000, 1265], [1015, 1265]] {
            let cores = cores(at);
            assert!((cores - 0.5).abs() < 1e-9, "{at:?}: {cores}");
        }
    }

    #[test]
    fn what_was_read_late_is_of_another_time() {
        assert!(read([0, 5]).is_ok_and(|seconds| seconds > 0.0));
        for late in [[300, 0], [0, 300]] {
            let why = read(late).unwrap_err();
            assert!(why.starts_with("read 30") && why.ends_with(" ms late"), "{why}");
        }
        // Both edges had passed at the first look.
        assert!(read([1200, 200]).unwrap_err().starts_with("read 12"));
    }
}
