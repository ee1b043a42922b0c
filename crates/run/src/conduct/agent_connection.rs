//! The conductor's connection to an agent: its end of a control session.

use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use hopbench_control::reach::{connect, greet, refused};
use hopbench_control::secret::Secret;
use hopbench_control::{Channel, tls};
use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_testbed::Control;
use hopbench_wire::{
    ConductorSession, FromAgent, HANDSHAKE_LIMIT, Heed, Hello, KEEPALIVE, SILENCE_LIMIT, ToAgent,
};
use rustls::ClientConfig;

/// A control session with one agent, past its hello.
#[derive(Debug)]
pub struct AgentConnection {
    pub(crate) channel: Channel,
    session: ConductorSession,
    /// What the agent said of itself.
    pub hello: Hello,
    /// What to add to this process' clock to get the agent's, ns.
    pub clock_offset_ns: i64,
    /// The processes of the sandbox that the agent is in, on this machine; empty: it is in none.
    pub(crate) sandbox: Vec<u32>,
    /// Whether the agent is on this machine, as far as is known.
    pub(crate) is_here: bool,
    /// The shortest round trip seen while the clocks were compared, ns; the offset is wrong by at
    /// most half.
    pub round_trip_ns: Nanos,
    /// Time between an order to start and the start of load, ns: so long that the orders before
    /// came in time.
    pub(crate) head_start_ns: Nanos,
    pinged: Nanos,
    heard: Nanos,
    /// When the clocks were compared last.
    compared: Nanos,
    /// Whether the agent reads this process' clock.
    shares_ours: bool,
    /// Why nothing more can be said to it.
    broken: Option<Fault>,
    who: String,
}

/// How often clocks are compared; the fastest exchange counts.
const CLOCK_TRIES: usize = 8;

/// For so long what was found of two clocks and of a session holds.
const FRESH: Nanos = 2 * SECOND;

/// An agent that has not even answered pings for so long hangs. Twice the agent's own patience with
/// the conductor: an agent that reads all its meters on a busy machine is slow, not gone.
const DEAF: Nanos = 2 * SILENCE_LIMIT;

/// Time for an order to start to arrive on one machine, ns.
const HEAD_START: Nanos = SECOND * 3 / 1000;
/// The same over a network, at first. An order may take much longer than the fastest round trip
/// said, and who gets it late begins late.
const FIRST_HEAD_START_REMOTE: Nanos = SECOND * 50 / 1000;
/// It becomes no shorter and no longer than this.
const HEAD_STARTS_REMOTE: std::ops::RangeInclusive<Nanos> = SECOND / 100..=SECOND / 5;
/// An order that comes by this much after the start of load is late.
const LATE: Nanos = SECOND / 1000;

/// So many messages that mean nothing are taken at a time: an agent that sends nothing else must
/// not hold the conductor.
const TURN: usize = 64;

impl AgentConnection {
    /// Opens a session with the agent at `address`, as `ours`.
    ///
    /// # Errors
    /// Nothing listens there, it is no agent, it has another token or another protocol.
    pub fn open(
        address: SocketAddr,
        secret: &Secret,
        ours: &Hello,
        timeout: Duration,
    ) -> Result<Self, Fault> {
        let tls =
            tls::client_config(secret).map_err(|e| Fault::environment(format!("TLS: {e}")))?;
        Self::at(address, tls, ours, timeout, format!("the agent at {address}"))
    }

    /// Opens a session with an agent of a testbed, which messages call `who`, as `ours`.
    ///
    /// # Errors
    /// An agent that cannot be reached, does not answer, has another token or another protocol.
    pub fn with(control: Control, ours: &Hello, who: String) -> Result<Self, Fault> {
        match control {
            Control::Pair(stream) => Self::over_pair(stream, ours, who),
            Control::Forwarded { stream, tls } => {
                let channel =
                    Channel::open_forwarded(stream, tls).map_err(|e| refused(&who, &e))?;
                Self::greet(channel, ours, who)
            }
            Control::Address { address, tls } => {
                let who = format!("{who} at {address}");
                Self::at(address, tls, ours, Duration::from_nanos(HANDSHAKE_LIMIT), who)
            }
        }
    }

    fn at(
        address: SocketAddr,
        tls: Arc<ClientConfig>,
        ours: &Hello,
        timeout: Duration,
        who: String,
    ) -> Result<Self, Fault> {
        let stream = connect(address, timeout)?;
        let channel = Channel::open(stream, tls).map_err(|e| refused(&who, &e))?;
        Self::greet(channel, ours, who)
    }

    /// Opens a session over a socket pair, as `ours`.
    ///
    /// # Errors
    /// An agent that does not answer.
    pub fn over(stream: UnixStream, ours: &Hello) -> Result<Self, Fault> {
        Self::over_pair(stream, ours, "the local agent".to_owned())
    }

    /// As [`AgentConnection::over`], with the agent that messages call `who`.
    ///
    /// # Errors
    /// An agent that does not answer.
    pub fn over_pair(stream: UnixStream, ours: &Hello, who: String) -> Result<Self, Fault> {
        let channel = Channel::pair(stream).map_err(|e| refused(&who, &e))?;
        Self::greet(channel, ours, who)
    }

    fn greet(mut channel: Channel, ours: &Hello, who: String) -> Result<Self, Fault> {
        let (session, hello) = greet(&mut channel, ours, &who)?;
        let shares = hello.boot_id == ours.boot_id && !hello.boot_id.is_empty();
        let now = clock::now();
        let mut agent = Self {
            channel,
            session,
            hello,
            clock_offset_ns: 0,
            sandbox: Vec::new(),
            is_here: shares,
            round_trip_ns: 0,
            head_start_ns: HEAD_START,
            pinged: now,
            heard: now,
            compared: now,
            shares_ours: shares,
            broken: None,
            who,
        };
        if agent.is_remote() {
            agent.head_start_ns = FIRST_HEAD_START_REMOTE;
        }
        if !shares || agent.is_remote() {
            agent.compare_clocks()?;
        }
        Ok(agent)
    }

    /// Says that the agent is in a sandbox on this machine, whose processes these are; none: in no
    /// sandbox.
    pub(crate) fn is_in(&mut self, sandbox: Vec<u32>) {
        self.is_here |= !sandbox.is_empty();
        self.sandbox = sandbox;
    }

    /// Whether the agent reads the same monotonic clock as `other`'s.
    pub fn shares_clock(&self, other: &Self) -> bool {
        self.hello.boot_id == other.hello.boot_id && !self.hello.boot_id.is_empty()
    }

    /// Makes sure of a session over a network before a trial: that the agent answers, and what its
    /// clock says now, as two machines' clocks drift apart by some 10 us a second. The agent has 5
    /// s to answer.
    pub(crate) fn freshen(&mut self) -> Result<(), Fault> {
        let known = clock::now() < self.compared + FRESH;
        if known || !self.is_remote() { Ok(()) } else { self.compare_clocks() }
    }

    /// The offset by the fastest of several exchanges, as NTP takes it (RFC 5905, clock filter).
    /// One exchange only, to see that the agent answers, where it reads our clock.
    fn compare_clocks(&mut self) -> Result<(), Fault> {
        let mut fastest = Nanos::MAX;
        for _ in 0..if self.shares_ours { 1 } else { CLOCK_TRIES } {
            let sent = clock::now();
            self.send(&ToAgent::Clock)?;
            let answer = self.expect(sent + HANDSHAKE_LIMIT)?;
            let got = clock::now();
            if let FromAgent::Clock { now_ns } = answer
                && got - sent < fastest
            {
                fastest = got - sent;
                self.round_trip_ns = fastest;
                if !self.shares_ours {
                    self.clock_offset_ns = ahead(now_ns, sent + fastest / 2);
                }
            }
        }
        self.compared = clock::now();
        Ok(())
    }

    /// By how much at most the agent's clock was taken wrongly, ns.
    pub(crate) fn clock_error_ns(&self) -> Nanos {
        if self.shares_ours { 0 } else { self.round_trip_ns / 2 }
    }

    /// Learns from how late an order with this head start came over a network, ns: the next one
    /// comes a little closer to the start, or much earlier if this one was late.
    pub(crate) fn learn(&mut self, used_ns: Nanos, late_ns: Nanos) {
        self.head_start_ns = next_head_start(self.head_start_ns, used_ns, late_ns);
    }

    /// Whether the session crosses a network, which can lose the agent without a word; the agent
    /// ends it when it hears nothing for 5 s.
    pub(crate) fn is_remote(&self) -> bool {
        self.channel.is_remote()
    }

    /// Keeps a session alive that rests between trials. To be called every second or two.
    pub(crate) fn rest(&mut self, now: Nanos) -> Result<(), Fault> {
        while self.receive()?.is_some() {}
        self.check_heard(now)?;
        self.keep_alive(now)
    }

    /// Sends one message.
    ///
    /// # Errors
    /// A message that is illegal now, a broken session.
    pub fn send(&mut self, message: &ToAgent) -> Result<(), Fault> {
        self.session.send(message).map_err(|e| broken(&self.who, &e))?;
        self.channel.send(message).map_err(|e| self.lost(&e))
    }

    /// Sends one message, and waits for nobody: an agent that does not read must not keep the
    /// others from theirs. Such an agent is lost: the next [`AgentConnection::receive`] says so,
    /// when all that it said was heard.
    pub(crate) fn send_now(&mut self, message: &ToAgent) -> Result<(), Fault> {
        if let Some(fault) = &self.broken {
            return Err(fault.clone());
        }
        self.session.send(message).map_err(|e| broken(&self.who, &e))?;
        self.channel.send_now(message).map_err(|e| self.lost(&e))
    }

    /// The next message that means something, if one has come, and not behind many that mean
    /// nothing.
    ///
    /// # Errors
    /// A message that is illegal now, a broken session.
    pub fn receive(&mut self) -> Result<Option<FromAgent>, Fault> {
        for _ in 0..TURN {
            let Some(message) = self.channel.receive::<FromAgent>().map_err(|e| self.lost(&e))?
            else {
                return self.broken.clone().map_or(Ok(None), Err);
            };
            self.heard = clock::now();
            let heed = self.session.receive(&message).map_err(|e| self.lost(&e))?;
            if heed == Heed::Act && message != FromAgent::Pong {
                return Ok(Some(indented(message)));
            }
        }
        Ok(None)
    }

    /// Whether the next trial can use the session: it is whole, and no trial is open.
    pub(crate) fn usable(&mut self) -> bool {
        self.broken.is_none() && !self.in_trial() && self.receive().is_ok()
    }

    /// A trial begins: the silence before it does not count.
    pub(crate) fn begin(&mut self) {
        self.heard = clock::now();
    }

    /// Refuses an agent that has been pinged all the time and said nothing at all. To be asked when
    /// all that came was received.
    pub(crate) fn check_heard(&mut self, now: Nanos) -> Result<(), Fault> {
        let silent = now.saturating_sub(self.heard);
        if silent < DEAF {
            return Ok(());
        }
        Err(self.lost(&format!(
            "it hangs: no answer for {} s; if it answers on other paths, compare the MTUs along \
             this one",
            silent / SECOND
        )))
    }

    fn lost(&mut self, error: &dyn std::fmt::Display) -> Fault {
        let mut fault = broken(&self.who, error);
        if self.is_remote() {
            fault.text += "; it ended, or the connection to it was cut";
        }
        // What came first is why.
        self.broken.get_or_insert_with(|| fault.clone());
        fault
    }

    /// Sends a keep-alive when it is time. It waits for nobody.
    ///
    /// # Errors
    /// A broken session, an agent that does not read.
    pub fn keep_alive(&mut self, now: Nanos) -> Result<(), Fault> {
        if now >= self.pinged + KEEPALIVE {
            self.pinged = now;
            self.send_now(&ToAgent::Ping)?;
        }
        Ok(())
    }

    /// Whether the agent owes the end of a trial.
    pub(crate) fn in_trial(&self) -> bool {
        self.session.state().in_trial()
    }

    /// Ends the session; an agent that is gone already does not mind.
    pub fn close(mut self) {
        let _ = self.send_now(&ToAgent::Bye);
    }

    fn expect(&mut self, until: Nanos) -> Result<FromAgent, Fault> {
        loop {
            if let Some(message) = self.receive()? {
                return Ok(message);
            }
            if clock::now() >= until {
                let fault = Fault::environment(format!("{} did not answer in time", self.who));
                return Err(self.broken.insert(fault).clone());
            }
            self.channel.wait(until, None).map_err(|e| self.lost(&e))?;
        }
    }
}

/// The head start after an order that came so late with `used_ns`, where `own_ns` were due.
fn next_head_start(own_ns: Nanos, used_ns: Nanos, late_ns: Nanos) -> Nanos {
    let next = if late_ns > LATE {
        used_ns.saturating_add(late_ns.saturating_mul(2))
    } else {
        own_ns * 7 / 8
    };
    next.clamp(*HEAD_STARTS_REMOTE.start(), *HEAD_STARTS_REMOTE.end())
}

/// A message whose fault, if it has one, is one line of ours: further lines of an agent's words are
/// indented, so that none of them is taken for a line of this program.
fn indented(mut message: FromAgent) -> FromAgent {
    if let FromAgent::Failed { fault, .. } = &mut message
        && fault.text.contains('\n')
    {
        fault.text = fault.text.replace('\n', "\n  ");
    }
    message
}

/// By how much a clock that says `theirs` is ahead of one that says `ours`, ns. Who has the token
/// may still say anything.
fn ahead(theirs: Nanos, ours: Nanos) -> i64 {
    let ns = i128::from(theirs) - i128::from(ours);
    ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

fn broken(who: &str, error: &dyn std::fmt::Display) -> Fault {
    Fault::measuring(format!("lost {who}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_is_too_far_ahead_to_be_compared() {
        assert_eq!([ahead(7, 5), ahead(5, 7)], [2, -2]);
        assert_eq!([ahead(Nanos::MAX, 5), ahead(5, Nanos::MAX)], [i64::MAX, i64::MIN]);
    }

    #[test]
    fn a_head_start_shrinks_until_an_order_is_late() {
        const MS: Nanos = 1_000_000;
        assert_eq!(next_head_start(80 * MS, 80 * MS, MS), 70 * MS);
        assert_eq!(next_head_start(50 * MS, 50 * MS, 5 * MS), 60 * MS);
        // Another agent needed more.
        assert_eq!(next_head_start(50 * MS, 90 * MS, 5 * MS), 100 * MS);
        let ends =
            [(10, 0), (50, 1000)].map(|(own, late)| next_head_start(own * MS, own * MS, late * MS));
        assert_eq!(ends, [10 * MS, 200 * MS]);
    }
}
