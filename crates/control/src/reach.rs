//! The way to an agent, and what is to be said where there is none.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use hopbench_model::Fault;
use hopbench_model::printable::line;
use hopbench_sys::clock;
use hopbench_wire::{Build, ConductorSession, FromAgent, HANDSHAKE_LIMIT, Hello, ToAgent};

use crate::tls::{self, Refusal};
use crate::{Channel, ChannelError};

/// A connection to an agent's port, within `timeout` and 5 s at most.
///
/// # Errors
/// Nobody listens there, or nothing is heard from there (environment): with what to look at.
pub fn connect(address: SocketAddr, timeout: Duration) -> Result<TcpStream, Fault> {
    TcpStream::connect_timeout(&address, timeout.min(Duration::from_nanos(HANDSHAKE_LIMIT)))
        .map_err(|error| unreachable(address, &error))
}

fn unreachable(address: SocketAddr, error: &std::io::Error) -> Fault {
    let hint = match error.kind() {
        ErrorKind::ConnectionRefused => "nothing listens there; start `hopbench serve` on it",
        ErrorKind::TimedOut => {
            "no answer; is the address right, and does a firewall or NetworkPolicy drop TCP to \
             this port?"
        }
        _ => "check the address and the route to it",
    };
    Fault::environment(format!("cannot reach {address}: {error} ({hint})"))
}

/// Says hello over a new session with `who` as `ours`, and takes the answer.
///
/// # Errors
/// Nobody answers within 5 s, another token, another protocol, no agent (environment).
pub fn greet(
    channel: &mut Channel,
    ours: &Hello,
    who: &str,
) -> Result<(ConductorSession, Hello), Fault> {
    let mut session = ConductorSession::new(Build::of(ours));
    let until = clock::now() + HANDSHAKE_LIMIT;
    let message = ToAgent::Hello(ours.clone());
    session.send(&message).map_err(|e| Fault::environment(format!("{who}: {e}")))?;
    channel.send(&message).map_err(|e| refused(who, &e))?;
    let answer = channel
        .receive_until::<FromAgent>(until)
        .map_err(|e| refused(who, &e))?
        .ok_or_else(|| Fault::environment(format!("{who} did not answer within 5 s")))?;
    // It repeats the words of whoever answered.
    session
        .receive(&answer)
        .map_err(|e| Fault::environment(format!("{who}: {}", line(&e.to_string()))))?;
    match answer {
        FromAgent::Hello(hello) => Ok((session, hello)),
        _ => Err(Fault::environment(format!("{who} did not say hello"))),
    }
}

/// Why a session with `who` did not come about, or what it is instead of an agent.
pub fn refused(who: &str, error: &ChannelError) -> Fault {
    let text = match error {
        ChannelError::Tls(error) => match tls::explain(error) {
            Refusal::OtherToken => {
                format!(
                    "{who} has another token; give the one it printed by HOPBENCH_TOKEN or \
                     --token-file, or --insecure on both ends"
                )
            }
            Refusal::NotHopbench { why } => format!("{who} is no hopbench agent: {}", line(&why)),
            Refusal::Broken { why } => format!("{who}: the TLS session broke: {}", line(&why)),
        },
        ChannelError::Stuck => {
            format!(
                "{who} took the connection and said nothing for 5 s: it is no hopbench agent, or \
                 it hangs"
            )
        }
        ChannelError::Closed => closed(who),
        ChannelError::Io(error) if error.kind() == ErrorKind::ConnectionReset => closed(who),
        other => format!("{who}: {}", line(&other.to_string())),
    };
    Fault::environment(text)
}

fn closed(who: &str) -> String {
    format!(
        "{who} closed the connection at once: it is no hopbench agent, or it has too many sessions"
    )
}
