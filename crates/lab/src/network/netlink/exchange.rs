//! One request to the kernel, and its answer.

use std::fmt::Display;
use std::io;

use netlink_packet_core::{
    ErrorMessage, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NlasIterator,
};
use netlink_packet_route::RouteNetlinkMessage;

use super::socket::Netlink;

/// The header of the question, which the kernel repeats in its answer, comes before its words.
const HEADER_BYTES: usize = 16;
/// `NLMSGERR_ATTR_MSG`: the kernel's words.
const WORDS: u16 = 1;

impl Netlink {
    /// Asks for a change; `what` finishes the sentence "cannot ...". `flags` are `NLM_F_CREATE` and
    /// such.
    pub(super) fn change(
        &mut self,
        what: impl Display,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<()> {
        self.exchange(what, message, flags | NLM_F_ACK).map(drop)
    }

    /// Asks for one thing.
    pub(super) fn get(
        &mut self,
        what: impl Display,
        message: RouteNetlinkMessage,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.exchange(what, message, NLM_F_ACK)
    }

    /// Asks for all things of a kind.
    pub(super) fn dump(
        &mut self,
        what: impl Display,
        message: RouteNetlinkMessage,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.exchange(what, message, NLM_F_DUMP)
    }

    fn exchange(
        &mut self,
        what: impl Display,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.ask(message, flags | NLM_F_REQUEST).and_then(|()| self.answer()).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("cannot {what} in namespace {}: {error}", self.namespace),
            )
        })
    }

    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.asked = self.asked.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        header.sequence_number = self.asked;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(drop)
    }

    /// Everything up to the acknowledgement, or to the end of the list.
    fn answer(&self) -> io::Result<Vec<RouteNetlinkMessage>> {
        let mut answers = Vec::new();
        loop {
            let (bytes, _) = self.socket.recv_from_full()?;
            let mut rest = bytes.as_slice();
            while rest.len() >= HEADER_BYTES {
                let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                    .map_err(io::Error::other)?;
                // Each message starts at a multiple of four.
                let length = (message.header.length as usize).next_multiple_of(4).max(HEADER_BYTES);
                rest = rest.get(length..).unwrap_or_default();
                if message.header.sequence_number != self.asked {
                    // The rest of an answer that could not be read to its end.
                    continue;
                }
                match message.payload {
                    NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                    NetlinkPayload::Error(error) => {
                        return refusal(&error).map_or(Ok(answers), Err);
                    }
                    NetlinkPayload::Done(_) => return Ok(answers),
                    _ => {}
                }
            }
        }
    }
}

/// The kernel's refusal. An acknowledgement is an error without a number.
fn refusal(answer: &ErrorMessage) -> Option<io::Error> {
    answer.code?;
    let error = answer.to_io();
    let attributes = answer.header.get(HEADER_BYTES..).unwrap_or_default();
    let words = NlasIterator::new(attributes).flatten().find(|attribute| attribute.kind() == WORDS);
    Some(match words {
        Some(words) => {
            let words = String::from_utf8_lossy(words.value());
            io::Error::new(error.kind(), format!("{error}: {}", words.trim_end_matches('\0')))
        }
        None => error,
    })
}
