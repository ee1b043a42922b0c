//! The identification of a data flow: its header, its token, and the key that both come from.

mod code;
mod credential;
mod header;
mod key;
mod ledger;
mod token;

pub use code::{Direction, FlowKind, WorkloadCode};
pub use credential::CREDENTIAL_CHARS;
pub use header::{
    FLOW_ACCEPTED, FLOW_HEADER_BYTES, FLOW_MAGIC, FLOW_VERSION, FlowError, FlowHeader,
};
pub use key::FlowKey;
pub use ledger::FlowLedger;
pub use token::Token;
