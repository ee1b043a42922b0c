//! A TLS connection without I/O: it reads records from one buffer and writes them to another.

use rustls::CipherSuite::{
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 as CHACHA_ECDSA,
    TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 as CHACHA_RSA,
};
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus, WriteTraffic,
};
use rustls::{CommonState, HandshakeKind, InvalidMessage, SupportedCipherSuite};

use super::records::{Outgoing, Records};
use super::side::Side;

/// The room that is given to what a record has beyond its content, bytes.
const BEYOND_ROOM_BYTES: usize = 64;
/// Bytes that a record has beyond its content, at most: its header, the nonce and the tag of
/// AES-GCM in TLS 1.2.
pub(super) const MOST_BEYOND_BYTES: usize = 5 + 8 + 16;
/// The most content of a record, bytes.
const FRAGMENT_BYTES: usize = 16 * 1024;
/// The most that may wait for the rest of a record, or of a message of a handshake, bytes. Such a
/// message has at most 64 KiB, and a hostile peer can pad each byte of it to a whole record.
const MOST_WAITING_BYTES: usize = 80 * 1024;
/// The room that is tried first for a record of a handshake, bytes.
const HELLO_BYTES: usize = 2 * 1024;

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The handshake needs more of the peer.
    NeedsMore,
    /// The handshake is over.
    Open,
    /// The peer sends no more.
    Ended,
}

/// A connection.
pub(super) struct Session {
    ends: Ends,
    has_ended: bool,
    /// Whether there was an error: nothing more is read.
    is_broken: bool,
}

enum Ends {
    Client(Box<UnbufferedClientConnection>),
    Server(Box<UnbufferedServerConnection>),
}

impl Session {
    pub(super) fn new(side: &Side) -> Result<Self, rustls::Error> {
        let ends = match side {
            Side::Client(client) => {
                let (config, name) = (client.config.clone(), client.name.clone());
                Ends::Client(Box::new(UnbufferedClientConnection::new(config, name)?))
            }
            Side::Server(server) => {
                Ends::Server(Box::new(UnbufferedServerConnection::new(server.config.clone())?))
            }
        };
        Ok(Self { ends, has_ended: false, is_broken: false })
    }

    /// Reads what came, and writes what has to be said. Where the connection is open, it encrypts
    /// `plain`, too.
    pub(super) fn turn(
        &mut self,
        records: &mut Records,
        plain: Option<&[u8]>,
    ) -> Result<Turn, rustls::Error> {
        // The library must not see a record again that it did not take.
        if self.is_broken {
            return Err(rustls::Error::General("the connection is broken".to_owned()));
        }
        let turn = self.turns(records, plain).and_then(|turn| {
            if records.incoming.len() <= MOST_WAITING_BYTES {
                return Ok(turn);
            }
            Err(rustls::Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge))
        });
        self.is_broken = turn.is_err();
        turn
    }

    fn turns(
        &mut self,
        records: &mut Records,
        mut plain: Option<&[u8]>,
    ) -> Result<Turn, rustls::Error> {
        loop {
            let Records { incoming, outgoing, decrypted, .. } = &mut *records;
            let done = match &mut self.ends {
                Ends::Client(client) => {
                    step(client.process_tls_records(incoming), outgoing, decrypted, &mut plain)
                }
                Ends::Server(server) => {
                    step(server.process_tls_records(incoming), outgoing, decrypted, &mut plain)
                }
            };
            let Stepped { discard, turn } = done;
            records.discard(discard);
            match turn? {
                // One may still send to a peer that has ended.
                Some(Turn::Ended) => {
                    self.has_ended = true;
                    if plain.is_none() {
                        return Ok(Turn::Ended);
                    }
                }
                Some(turn) => return Ok(turn),
                None => {}
            }
        }
    }

    /// Writes the alert for the peer after an error, if there is one.
    pub(super) fn alert(&mut self, records: &mut Records) {
        // As long as the library wants to write it looks at nothing that came.
        loop {
            let Records { outgoing, decrypted, .. } = &mut *records;
            let none = &mut None;
            let done = match &mut self.ends {
                Ends::Client(client) if client.wants_write() => {
                    step(client.process_tls_records(&mut []), outgoing, decrypted, none)
                }
                Ends::Server(server) if server.wants_write() => {
                    step(server.process_tls_records(&mut []), outgoing, decrypted, none)
                }
                _ => return,
            };
            if !matches!(done.turn, Ok(None)) {
                return;
            }
        }
    }

    /// Writes the alert that ends what this side sends, or the one that an error is worth.
    pub(super) fn finish(&mut self, records: &mut Records) {
        // What came before is read first.
        if self.turn(records, None).is_err() {
            self.alert(records);
            return;
        }
        let Records { incoming, outgoing, .. } = &mut *records;
        match &mut self.ends {
            Ends::Client(client) => finish(client.process_tls_records(incoming), outgoing),
            Ends::Server(server) => finish(server.process_tls_records(incoming), outgoing),
        }
    }

    /// Whether the peer sends no more.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The version and the cipher suite that both ends agreed on.
    pub(super) fn agreed(&self) -> String {
        match &self.ends {
            Ends::Client(client) => agreed(client),
            Ends::Server(server) => agreed(server),
        }
    }

    /// Bytes that a record has beyond its content, with what both ends agreed on.
    pub(super) fn beyond_bytes(&self) -> usize {
        let state: &CommonState = match &self.ends {
            Ends::Client(client) => client,
            Ends::Server(server) => server,
        };
        match state.negotiated_cipher_suite() {
            // The header, the type and the tag.
            Some(SupportedCipherSuite::Tls13(_)) => 5 + 1 + 16,
            // The header and the tag: its nonce is not sent.
            Some(suite) if suite.suite() == CHACHA_ECDSA || suite.suite() == CHACHA_RSA => 5 + 16,
            _ => MOST_BEYOND_BYTES,
        }
    }

    /// The protocol that both ends agreed on (ALPN), if they spoke of one.
    pub(super) fn protocol(&self) -> Option<&[u8]> {
        match &self.ends {
            Ends::Client(client) => client.alpn_protocol(),
            Ends::Server(server) => server.alpn_protocol(),
        }
    }

    /// Whether it goes on with an earlier session.
    pub(super) fn is_resumed(&self) -> bool {
        let kind = match &self.ends {
            Ends::Client(client) => client.handshake_kind(),
            Ends::Server(server) => server.handshake_kind(),
        };
        kind == Some(HandshakeKind::Resumed)
    }
}

/// The version and the cipher suite of a connection.
pub(super) fn agreed(connection: &CommonState) -> String {
    let suite = connection.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
    let version = connection.protocol_version().map(|version| format!("{version:?}"));
    version.into_iter().chain(suite).collect::<Vec<_>>().join(" ")
}

/// The result of a step: bytes of what came that are read, and how far the connection is; `None`:
/// another step tells.
struct Stepped {
    discard: usize,
    turn: Result<Option<Turn>, rustls::Error>,
}

fn step<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    outgoing: &mut Outgoing,
    decrypted: &mut Vec<u8>,
    plain: &mut Option<&[u8]>,
) -> Stepped {
    let UnbufferedStatus { mut discard, state } = status;
    let state = match state {
        Ok(state) => state,
        Err(error) => return Stepped { discard, turn: Err(error) },
    };
    let turn = match state {
        ConnectionState::EncodeTlsData(mut data) => encode(&mut data, outgoing).map(|()| None),
        ConnectionState::TransmitTlsData(data) => {
            data.done();
            Ok(None)
        }
        ConnectionState::ReadTraffic(mut traffic) => {
            let mut read = Ok(None);
            while let Some(record) = traffic.next_record() {
                match record {
                    Ok(record) => {
                        discard += record.discard;
                        decrypted.extend_from_slice(record.payload);
                    }
                    Err(error) => read = Err(error),
                }
            }
            read
        }
        ConnectionState::WriteTraffic(mut traffic) => match plain.take() {
            Some(plain) => encrypt(&mut traffic, plain, outgoing).map(|()| Some(Turn::Open)),
            None => Ok(Some(Turn::Open)),
        },
        ConnectionState::BlockedHandshake => Ok(Some(Turn::NeedsMore)),
        ConnectionState::PeerClosed => Ok(Some(Turn::Ended)),
        ConnectionState::Closed => match plain {
            Some(_) => Err(rustls::Error::General("the connection is over".to_owned())),
            None => Ok(Some(Turn::Ended)),
        },
        // Neither side offers early data.
        _ => Err(rustls::Error::General("an unexpected state".to_owned())),
    };
    Stepped { discard, turn }
}

fn encode<Data>(
    data: &mut EncodeTlsData<'_, Data>,
    outgoing: &mut Outgoing,
) -> Result<(), rustls::Error> {
    let mut size = HELLO_BYTES;
    loop {
        match outgoing.append(size, |room| data.encode(room)) {
            Ok(()) => return Ok(()),
            Err(EncodeError::InsufficientSize(needs)) => size = needs.required_size,
            Err(EncodeError::AlreadyEncoded) => return Ok(()),
        }
    }
}

fn encrypt<Data>(
    traffic: &mut WriteTraffic<'_, Data>,
    plain: &[u8],
    outgoing: &mut Outgoing,
) -> Result<(), rustls::Error> {
    // One more, as an update of the keys takes it.
    let records = plain.len() / FRAGMENT_BYTES + 2;
    let mut size = plain.len() + records * BEYOND_ROOM_BYTES;
    loop {
        match outgoing.append(size, |room| traffic.encrypt(plain, room)) {
            Ok(()) => return Ok(()),
            Err(EncryptError::InsufficientSize(needs)) => size = needs.required_size,
            Err(EncryptError::EncryptExhausted) => return Err(rustls::Error::EncryptError),
        }
    }
}

fn finish<Data>(status: UnbufferedStatus<'_, '_, Data>, outgoing: &mut Outgoing) {
    if let Ok(ConnectionState::WriteTraffic(mut traffic)) = status.state {
        // There is room for an alert, and where it was sent before there is none.
        let _ = outgoing.append(BEYOND_ROOM_BYTES, |room| traffic.queue_close_notify(room));
    }
}
