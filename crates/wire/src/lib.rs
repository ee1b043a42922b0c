//! The protocol between the conductor of a run, the agents at both ends of a path, and their flows.
//!
//! Nothing in this crate does I/O, reads a clock or draws random numbers: bytes and facts go in,
//! bytes and verdicts come out. All integers are big-endian.
//!
//! # One port
//!
//! An agent listens on one port number ([`DEFAULT_PORT`]), TCP and UDP. Clients speak first, and
//! their first bytes say what a TCP connection is; [`classify`] reads them:
//!
//! ```text
//!  16 03 ..             TLS ClientHello    -> control session
//!  "HOPB" ..            flow header        -> data flow
//!  "GET ", "POST " ..   HTTP request line  -> HTTP target, where one is wanted
//!  anything else                           -> closed without an answer
//! ```
//!
//! # Control session (TCP)
//!
//! TLS 1.3 with both sides authenticated, then frames ([`encode`], [`FrameReader`]): a `u32` length
//! and as many bytes of JSON. A frame has at most [`MAX_FRAME`], to an agent at most [`MAX_ORDER`].
//! The conductor sends [`ToAgent`], the agent [`FromAgent`]. [`ConductorSession`] and
//! [`AgentSession`] know which message is legal when.
//!
//! ```text
//!  conductor                              agent
//!     |-- TLS 1.3 handshake ----------------|   within HANDSHAKE_LIMIT, Hello included
//!     |-- Hello --------------------------->|
//!     |<------------------------- Hello ----|   other PROTOCOL: both name both builds and close
//!     |-- Prepare ------------------------->|
//!     |<------------------------- Ready ----|   every flow is up
//!     |-- Start --------------------------->|
//!     |<---------------------- Progress ----|   any number
//!     |-- AllSent, Finish ----------------->|   to servers, when the clients are done
//!     |<-------------- Done or Failed ------|   exactly one for every Prepare and Revisit
//!     |-- Prepare, Revisit ... or Bye ----->|   Revisit: what an earlier Prepare made ready
//!
//!  Clock -> Clock and Ping -> Pong at any time after Hello; a Ping every KEEPALIVE.
//!  Nothing heard for SILENCE_LIMIT: the agent stops all load and closes.
//! ```
//!
//! An agent that the conductor started itself, or a testbed for it, has the same session over a
//! Unix socket pair, without TLS. The pair is nobody else's. There the end of the stream tells that
//! the conductor died. So silence counts only from `Prepare` to `Done` or `Failed`, and agents that
//! rest between trials need no `Ping`.
//!
//! The agent's states ([`AgentState`]); `>` is a message it gets, `<` one it sends:
//!
//! ```text
//!                 > Hello               < Hello
//!   AwaitHello ------------> Answering ---------> Idle <-----------------+
//!       |                                           | > Prepare, Revisit |
//!       | > Hello of another                        v                    |
//!       |   protocol                            Preparing -------------->|
//!       v                                           | < Ready            |
//!   Refusing                                        v                    |
//!       | < Hello                                 Ready ---------------->|
//!       v                                           | > Start            |
//!    Closed <-- > Bye, from Idle                    v                    |
//!               and every state                  Running --------------->|
//!               after it                                                 |
//!                                                                        |
//!   Preparing, Ready, Running -- > Finish --> Finishing ---------------->|
//!   Preparing to Finishing ----- > Abort ---> Aborting ----------------->+
//!
//!   The way back to Idle is < Failed, and from Running and Finishing also < Done.
//!   > Abort in Idle is legal and does nothing.
//! ```
//!
//! Messages cross on the wire. A trial can end at the agent while `Start`, `Finish` or `Abort` is
//! under way. In `Idle` after a trial these are legal and mean nothing. `Ready`, `Progress` and
//! `Done` can be under way when the conductor aborts: while it waits for the trial's end they mean
//! nothing either. The sessions answer [`Heed::Ignore`] for both. Because every `Prepare` and every
//! `Revisit` is ended by exactly one `Done` or `Failed`, for which the next one waits, no message
//! can be taken for one of another trial.
//!
//! After `Done` an end whose `Prepare` said `stays` may stay prepared. That is no state of the
//! session: `Revisit` is legal in `Idle`, and answered by `Failed` where nothing stands.
//!
//! # Data flow (TCP)
//!
//! ```text
//!  client                                 server
//!     |-- flow header, 32 bytes ----------->|   token checked, flow number claimed once
//!     |<------- FLOW_ACCEPTED, 8 bytes -----|   on flows that are kept open
//!     |== payload of the workload ==========|
//!
//!  0       4 5 6 7 8       12      16                              32
//!  | HOPB  |v|w|d|k| run   | flow  | token                          |
//!   v version  w workload  d direction  k kind
//!   token = first 16 bytes of HMAC-SHA256(key of the run, bytes 0 to 15)
//! ```
//!
//! [`FlowHeader`] is the header, [`FlowKey`] makes and checks tokens, [`FlowLedger`] refuses
//! replays.
//!
//! # Data flow (UDP)
//!
//! ```text
//!  client                                 server
//!     |-- header 32, zeros 16, pad 16 ----->|   64 bytes; token checked, nothing kept
//!     |<---- Challenge "HOPC", 28 bytes ----|   cookie = HMAC(secret, addresses, header)
//!     |-- header 32, cookie 16, pad 16 ---->|   the client did receive at its address
//!     |<---- Accepted "HOPA", 12 bytes -----|   (address, flow) is registered
//!     |== datagrams of the workload ========|
//! ```
//!
//! The client repeats a registration that gets no answer. [`udp::answer`] is the server's half: it
//! never says anything to a datagram without a valid token and never answers more bytes than it
//! got.

mod client_hello;
mod first;
mod flow;
mod frame;
pub mod hex;
pub mod message;
mod session;
mod tag;
pub mod udp;

pub use client_hello::ClientHello;
pub use first::{First, MOST_FIRST_BYTES, classify};
pub use flow::{
    CREDENTIAL_CHARS, Direction, FLOW_ACCEPTED, FLOW_HEADER_BYTES, FLOW_MAGIC, FLOW_VERSION,
    FlowError, FlowHeader, FlowKey, FlowKind, FlowLedger, Token, WorkloadCode,
};
pub use frame::{FrameError, FrameReader, MAX_FRAME, MAX_ORDER, encode};
pub use message::{FromAgent, Hello, PROTOCOL, Prepare, Role, ToAgent, neighbour_reading};
pub use session::{
    AgentSession, AgentState, Build, ConductorSession, ConductorState, Heed, SessionError,
};

use hopbench_model::{Nanos, SECOND};

/// The port number, TCP and UDP, when nobody asks for another.
pub const DEFAULT_PORT: u16 = 7474;

/// The fact of an agent's hello that says `yes` where a session may make it a client, too; absent
/// behind ports where it may not.
pub const BOTH_ENDS: &str = "both_ends";

/// How often the conductor sends `Ping`, ns.
pub const KEEPALIVE: Nanos = SECOND;

/// How long a control session may be silent before the agent stops all load and closes it, ns.
pub const SILENCE_LIMIT: Nanos = 5 * SECOND;

/// How long a new connection has to say what it is and to finish its handshake, ns.
pub const HANDSHAKE_LIMIT: Nanos = 5 * SECOND;
