//! One control session: a conductor's orders, one trial at a time.

pub(crate) mod handshakes;
pub(crate) mod hello;
mod shelf;
pub(crate) mod table;

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use hopbench_control::{Channel, ChannelError};
use hopbench_model::{Fault, Nanos};
use hopbench_sys::{Waker, clock};
use hopbench_wire::{
    AgentSession, BOTH_ENDS, Build, FromAgent, HANDSHAKE_LIMIT, Heed, SILENCE_LIMIT, SessionError,
    ToAgent,
};

use crate::limits::Limits;
use crate::session::hello::hello;
use crate::session::shelf::Shelf;
use crate::session::table::SessionGuard;
use crate::shared::Shared;
use crate::trial::{ActiveTrial, News, START_LIMIT};

/// Why a session ended before its time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("{0}")]
    Channel(#[from] ChannelError),
    #[error("{0}")]
    Protocol(#[from] SessionError),
    #[error("the conductor was silent for 5 s")]
    Silence,
    #[error("there is no agent to serve it")]
    Refused,
    #[error("another session took its place")]
    Displaced,
    #[error("no hello within 5 s")]
    NoHello,
    #[error("cannot watch workers: {0}")]
    Io(#[from] std::io::Error),
}

/// The connection that carries a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// A network, which may lose the other end without a word: silence ends the session.
    Tls,
    /// A socket pair, whose end tells that the other end died. Silence says something only inside a
    /// trial: a conductor that hangs there must not leave load behind.
    Pair,
}

/// Messages that are looked at before the trial gets its turn.
const TURN: usize = 64;

/// Starts an agent inside this process and returns the conductor's end of its session. It has no
/// limits and serves no flows: it is the client's end of a trial.
///
/// # Errors
/// A thread or a socket pair that could not be had.
pub fn local() -> std::io::Result<UnixStream> {
    let (ours, theirs) = UnixStream::pair()?;
    let shared = Shared::new(Limits::default(), true);
    std::thread::Builder::new().name("hb-local".to_owned()).spawn(move || {
        // The conductor notices a session that ends; there is nobody else to tell.
        if let Ok(channel) = Channel::pair(theirs) {
            let _ = serve(channel, &shared, Over::Pair, None);
        }
    })?;
    Ok(ours)
}

/// A session whose other end has shown that it has the token.
pub(crate) struct Admitted {
    /// Its place among the agent's sessions.
    pub(crate) guard: SessionGuard,
    /// What it said first.
    pub(crate) hello: ToAgent,
}

/// Serves one session to its end. Whatever ends it ends its load too. One that has no `admitted`
/// has said nothing yet, and nobody takes its place.
pub(crate) fn serve(
    mut channel: Channel,
    shared: &Arc<Shared>,
    over: Over,
    admitted: Option<Admitted>,
) -> Result<(), Ended> {
    let (guard, said) = admitted.map(|Admitted { guard, hello }| (guard, hello)).unzip();
    let notify = match &guard {
        Some(guard) => guard.waker(),
        None => Arc::new(Waker::new()?),
    };
    channel.watch(&*notify)?;
    let mut ours = hello();
    if over == Over::Tls && shared.may_be_client {
        ours.machine.insert(BOTH_ENDS.to_owned(), "yes".to_owned());
    }
    let mut state = AgentSession::new(Build::of(&ours));
    say_hello(&mut channel, &mut state, ours, said)?;
    match follow(&mut channel, &mut state, shared, over, guard.as_ref(), &notify) {
        // An answer that could not be sent any more, to a conductor that was done.
        Err(Ended::Channel(_)) if said_goodbye(&mut channel) => Ok(()),
        ended => ended,
    }
}

/// Whether a goodbye is among what has come and was not looked at.
fn said_goodbye(channel: &mut Channel) -> bool {
    let messages = std::iter::from_fn(|| channel.receive::<ToAgent>().ok().flatten());
    messages.take(TURN).any(|message| matches!(message, ToAgent::Bye))
}

/// Does what a conductor says, until it says goodbye.
fn follow(
    channel: &mut Channel,
    state: &mut AgentSession,
    shared: &Arc<Shared>,
    over: Over,
    guard: Option<&SessionGuard>,
    notify: &Arc<Waker>,
) -> Result<(), Ended> {
    let mut trial: Option<ActiveTrial> = None;
    // What a conductor keeps here without a run of its own, it keeps from others.
    let is_foreign = over == Over::Tls && shared.permits.is_none();
    let mut shelf = Shelf::new(if is_foreign { START_LIMIT } else { Nanos::MAX });
    let mut heard = clock::now();
    let is_held = |held: fn(&SessionGuard) -> bool| match guard {
        Some(guard) if !held(guard) => Err(Ended::Displaced),
        _ => Ok(()),
    };
    loop {
        is_held(SessionGuard::is_held)?;
        let mut left = TURN;
        while left > 0
            && let Some(message) = channel.receive::<ToAgent>()?
        {
            left -= 1;
            heard = clock::now();
            if state.receive(&message)? == Heed::Ignore {
                continue;
            }
            match message {
                ToAgent::Bye => return Ok(()),
                ToAgent::Prepare(_) | ToAgent::Revisit { .. } => is_held(SessionGuard::busy)?,
                _ => {}
            }
            let answer = obey(message, (&mut trial, &mut shelf), shared, notify);
            // It can take a while, in which nobody listened.
            heard = clock::now();
            if let Some(answer) = answer {
                state.send(&answer)?;
                channel.send(&answer)?;
            }
        }
        let silent_at =
            if over == Over::Tls || trial.is_some() { heard + SILENCE_LIMIT } else { Nanos::MAX };
        if clock::now() >= silent_at {
            return Err(Ended::Silence);
        }
        while let Some(news) = trial.as_mut().and_then(ActiveTrial::look) {
            let message = match news {
                News::Ready(limited) => FromAgent::Ready { limited },
                News::Tick(tick) => FromAgent::Progress(tick),
                News::Done(report) => FromAgent::Done(report),
                News::Failed(fault, report) => FromAgent::Failed { fault, report },
            };
            match message {
                FromAgent::Done(_) => trial.take().into_iter().for_each(|trial| shelf.put(trial)),
                FromAgent::Failed { .. } => trial = None,
                _ => {}
            }
            state.send(&message)?;
            channel.send(&message)?;
        }
        if let (Some(guard), None) = (guard, &trial) {
            guard.rest();
        }
        let next = trial.as_ref().map_or(Nanos::MAX, ActiveTrial::next_look);
        // Whole messages may wait that no edge will announce.
        let over_at = shelf.let_go(clock::now());
        let until = if left == 0 { 0 } else { next.min(silent_at).min(over_at) };
        channel.wait(until, Some(notify))?;
    }
}

/// Follows an order of a conductor, and gives the answer to it.
fn obey(
    message: ToAgent,
    (trial, shelf): (&mut Option<ActiveTrial>, &mut Shelf),
    shared: &Arc<Shared>,
    notify: &Arc<Waker>,
) -> Option<FromAgent> {
    let failed = |fault| Some(FromAgent::Failed { fault, report: None });
    match message {
        ToAgent::Bye | ToAgent::Hello(_) => None,
        ToAgent::Ping => Some(FromAgent::Pong),
        ToAgent::Clock => Some(FromAgent::Clock { now_ns: clock::now() }),
        ToAgent::Prepare(order) => {
            drop(order.replaces.and_then(|run| shelf.remove(run)));
            let make = || ActiveTrial::prepare(&order, shared, notify);
            match shelf.with_room(make, || shared.lacks_room(&order.job)) {
                Ok(prepared) => {
                    *trial = Some(prepared);
                    None
                }
                Err(fault) => failed(fault),
            }
        }
        ToAgent::Revisit { run, warmup_ns } => match shelf.visit(run, warmup_ns) {
            Ok(visited) => {
                *trial = Some(visited);
                None
            }
            Err(fault) => failed(fault),
        },
        ToAgent::Start { window_start_ns } => {
            if let Some(trial) = trial {
                trial.start(window_start_ns);
            }
            None
        }
        ToAgent::AllSent { bytes } => {
            if let Some(trial) = trial {
                trial.awaits(bytes);
            }
            None
        }
        ToAgent::Finish => {
            if let Some(trial) = trial {
                trial.finish(clock::now());
            }
            None
        }
        ToAgent::Abort => {
            if let Some(trial) = trial.take() {
                trial.abort();
            }
            failed(Fault::measuring("aborted by the conductor"))
        }
    }
}

/// Tells a conductor why there is no agent: the answer to its first trial. Waits for nothing longer
/// than 5 s.
pub(crate) fn refuse(mut channel: Channel, fault: &Fault) -> Result<(), Ended> {
    let ours = hello();
    let mut state = AgentSession::new(Build::of(&ours));
    say_hello(&mut channel, &mut state, ours, None)?;
    let until = clock::now() + HANDSHAKE_LIMIT;
    while let Some(message) = channel.receive_until::<ToAgent>(until)? {
        state.receive(&message)?;
        let answer = match message {
            ToAgent::Ping => FromAgent::Pong,
            ToAgent::Clock => FromAgent::Clock { now_ns: clock::now() },
            ToAgent::Prepare(_) | ToAgent::Revisit { .. } => {
                FromAgent::Failed { fault: fault.clone(), report: None }
            }
            _ => break,
        };
        state.send(&answer)?;
        channel.send(&answer)?;
        if matches!(answer, FromAgent::Failed { .. }) {
            break;
        }
    }
    Err(Ended::Refused)
}

/// Answers the first message, which `said` is where it has come already.
fn say_hello(
    channel: &mut Channel,
    state: &mut AgentSession,
    ours: hopbench_wire::Hello,
    said: Option<ToAgent>,
) -> Result<(), Ended> {
    let until = clock::now() + HANDSHAKE_LIMIT;
    let message = match said {
        Some(message) => message,
        None => channel.receive_until::<ToAgent>(until)?.ok_or(Ended::NoHello)?,
    };
    let heard = state.receive(&message);
    // Also to a conductor of another protocol, so that it can say which.
    let answer = FromAgent::Hello(ours);
    if heard.is_ok() || matches!(message, ToAgent::Hello(_)) {
        state.send(&answer)?;
        channel.send(&answer)?;
    }
    heard?;
    Ok(())
}
