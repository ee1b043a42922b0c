//! Framed messages over a byte stream.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::{Epoll, Events, Waker, clock};
use hopbench_wire::{FrameError, FrameReader, encode};
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};
use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::tls;

/// One control session's messages. Used by one thread.
#[derive(Debug)]
pub struct Channel {
    stream: Stream,
    tls: Option<Connection>,
    frames: FrameReader,
    epoll: Epoll,
    events: Events,
    ended: bool,
}

/// Why a session cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The other end closed it.
    #[error("the other end closed the control session")]
    Closed,
    /// A message did not get through for too long.
    #[error("the other end of the control session does not read")]
    Stuck,
    /// The connection broke.
    #[error("control session: {0}")]
    Io(#[from] io::Error),
    /// The TLS layer refused the other end, or was refused.
    #[error("control session: {0}")]
    Tls(#[from] rustls::Error),
    /// What came is no message.
    #[error("control session: {0}")]
    Frame(#[from] FrameError),
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// How long a send may take. As a whole: an end that takes a byte now and then would hold up its
/// peer for ever.
const PATIENCE: Nanos = 5 * SECOND;
const STREAM: u64 = 0;
const WAKER: u64 = 1;

impl Channel {
    /// The agent's end of a session over an accepted connection.
    ///
    /// # Errors
    /// What the kernel or the TLS library refuses; nothing is exchanged yet.
    pub fn accept(stream: TcpStream, config: Arc<ServerConfig>) -> Result<Self, ChannelError> {
        stream.set_nodelay(true)?;
        Self::new(Stream::Tcp(stream), Some(ServerConnection::new(config)?.into()))
    }

    /// The conductor's end of a session over an established connection.
    ///
    /// # Errors
    /// What the kernel or the TLS library refuses; nothing is exchanged yet.
    pub fn open(stream: TcpStream, config: Arc<ClientConfig>) -> Result<Self, ChannelError> {
        stream.set_nodelay(true)?;
        Self::new(
            Stream::Tcp(stream),
            Some(ClientConnection::new(config, tls::server_name())?.into()),
        )
    }

    /// The conductor's end of a session over a stream that others carry to the agent's port.
    ///
    /// # Errors
    /// What the kernel or the TLS library refuses; nothing is exchanged yet.
    pub fn open_forwarded(
        stream: UnixStream,
        config: Arc<ClientConfig>,
    ) -> Result<Self, ChannelError> {
        Self::new(
            Stream::Unix(stream),
            Some(ClientConnection::new(config, tls::server_name())?.into()),
        )
    }

    /// Either end of a session over a socket pair, which is private to the two ends.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn pair(stream: UnixStream) -> Result<Self, ChannelError> {
        Self::new(Stream::Unix(stream), None)
    }

    fn new(stream: Stream, tls: Option<Connection>) -> Result<Self, ChannelError> {
        let epoll = Epoll::new()?;
        match &stream {
            Stream::Tcp(tcp) => {
                tcp.set_nonblocking(true)?;
                epoll.add(tcp, STREAM)?;
            }
            Stream::Unix(unix) => {
                unix.set_nonblocking(true)?;
                epoll.add(unix, STREAM)?;
            }
        }
        Ok(Self {
            stream,
            tls,
            frames: FrameReader::new(),
            epoll,
            events: Events::with_capacity(4),
            ended: false,
        })
    }

    /// Takes messages of at most `most` bytes from here on.
    pub fn set_most(&mut self, most: usize) {
        self.frames.set_most(most);
    }

    /// Makes [`Channel::wait`] return when `waker` is woken, too.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn watch(&self, waker: &impl AsFd) -> Result<(), ChannelError> {
        Ok(self.epoll.add_for_reading(waker, WAKER)?)
    }

    /// Whether it crosses a network, which can lose the other end without a word.
    pub fn is_remote(&self) -> bool {
        self.tls.is_some()
    }

    /// A file that becomes readable when something may have come: for waiting on several channels
    /// at once.
    pub fn readiness(&self) -> &impl AsFd {
        &self.epoll
    }

    /// Waits until something may have come, `waker` was woken, or `until` (monotonic ns) has
    /// passed.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn wait(&mut self, until: Nanos, waker: Option<&Waker>) -> Result<(), ChannelError> {
        let left = until.saturating_sub(clock::now());
        self.epoll.wait(&mut self.events, Some(left))?;
        if let Some(waker) = waker
            && self.events.iter().any(|e| e.token == WAKER)
        {
            waker.reset();
        }
        Ok(())
    }

    /// Sends one message; returns when the kernel has all of it.
    ///
    /// # Errors
    /// A broken session; [`ChannelError::Stuck`] when the other end has not taken all of it within
    /// 5 s.
    pub fn send<T: Serialize>(&mut self, message: &T) -> Result<(), ChannelError> {
        self.send_until(message, Some(clock::now() + PATIENCE))
    }

    /// Sends one message without waiting for the other end.
    ///
    /// # Errors
    /// A broken session; [`ChannelError::Stuck`] when the kernel does not take all of it at once.
    /// Part of it may be under way then: nothing else can be sent.
    pub fn send_now<T: Serialize>(&mut self, message: &T) -> Result<(), ChannelError> {
        self.send_until(message, None)
    }

    /// Sends with patience until a moment; `None`: as long as something moves.
    fn send_until<T: Serialize>(
        &mut self,
        message: &T,
        until: Option<Nanos>,
    ) -> Result<(), ChannelError> {
        // It may carry a key.
        let bytes = Zeroizing::new(encode(message)?);
        let mut rest = &bytes[..];
        loop {
            let moved = match &mut self.tls {
                Some(tls) => {
                    // The library buffers a bounded amount; what it does not take waits for the
                    // next turn.
                    let taken = if rest.is_empty() { 0 } else { tls.writer().write(rest)? };
                    rest = &rest[taken..];
                    let written = flush(tls, &mut self.stream)?;
                    if rest.is_empty() && !tls.wants_write() && !tls.is_handshaking() {
                        return Ok(());
                    }
                    // A handshake, or a key update, needs the other direction to go on.
                    let read = if tls.is_handshaking() { self.pull()? } else { 0 };
                    taken + written + read
                }
                None if rest.is_empty() => return Ok(()),
                None => match self.stream.write(rest) {
                    Ok(n) => {
                        rest = &rest[n..];
                        n
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                    Err(error) => return Err(error.into()),
                },
            };
            let is_over = until.map_or(moved == 0, |until| clock::now() >= until);
            if moved == 0 && self.ended {
                return Err(ChannelError::Closed);
            } else if is_over {
                return Err(ChannelError::Stuck);
            } else if moved == 0 {
                self.epoll.wait(&mut self.events, Some(100_000_000))?;
            }
        }
    }

    /// The next message, if a whole one has come.
    ///
    /// # Errors
    /// A broken session; [`ChannelError::Closed`] once everything that came was taken.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ChannelError> {
        loop {
            if let Some(message) = self.frames.next()? {
                return Ok(Some(message));
            }
            if self.ended {
                return Err(ChannelError::Closed);
            }
            if self.pull()? == 0 && !self.ended {
                return Ok(None);
            }
        }
    }

    /// Waits for the next message until `until` (monotonic ns).
    ///
    /// # Errors
    /// As [`Channel::receive`].
    pub fn receive_until<T: DeserializeOwned>(
        &mut self,
        until: Nanos,
    ) -> Result<Option<T>, ChannelError> {
        loop {
            if let Some(message) = self.receive()? {
                return Ok(Some(message));
            }
            if clock::now() >= until {
                return Ok(None);
            }
            self.wait(until, None)?;
        }
    }

    /// Takes some of what has come; returns the number of bytes taken from the stream, 0 when none
    /// are there. One read at a time: frames are looked at in between, so that no sender can make
    /// this end buffer more than one of them.
    fn pull(&mut self) -> Result<usize, ChannelError> {
        let mut buffer = [0; 16 * 1024];
        loop {
            let got = match &mut self.tls {
                Some(tls) => tls.read_tls(&mut self.stream),
                None => self.stream.read(&mut buffer),
            };
            let n = match got {
                Ok(0) => {
                    self.ended = true;
                    return Ok(0);
                }
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let Some(tls) = &mut self.tls else {
                self.frames.push(&buffer[..n]);
                return Ok(n);
            };
            let state = match tls.process_new_packets() {
                Ok(state) => state,
                Err(error) => {
                    // The alert tells the other end why; it may be gone already.
                    let _ = flush(tls, &mut self.stream);
                    return Err(error.into());
                }
            };
            let mut plain = Zeroizing::new(vec![0; state.plaintext_bytes_to_read()]);
            tls.reader().read_exact(&mut plain)?;
            self.frames.push(&plain);
            flush(tls, &mut self.stream)?;
            self.ended |= state.peer_has_closed();
            return Ok(n);
        }
    }
}

fn flush(tls: &mut Connection, stream: &mut Stream) -> io::Result<usize> {
    let mut moved = 0;
    while tls.wants_write() {
        match tls.write_tls(stream) {
            Ok(n) => moved += n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(moved)
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(tcp) => tcp.read(buffer),
            Self::Unix(unix) => unix.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(tcp) => tcp.write(buffer),
            Self::Unix(unix) => unix.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_sent_now_is_not_waited_for() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut channel = Channel::pair(ours).unwrap();
        let mut other = Channel::pair(theirs).unwrap();
        channel.send_now(&"word").unwrap();
        assert_eq!(other.receive::<String>().unwrap().as_deref(), Some("word"));
        // Nobody reads, and no socket holds so much.
        let began = clock::now();
        let sent = channel.send_now(&"x".repeat(8_000_000));
        assert!(matches!(sent, Err(ChannelError::Stuck)), "{sent:?}");
        assert!(clock::now() - began < PATIENCE, "it was waited for");
        drop(other);
        assert!(channel.send_now(&"word").is_err());
    }

    #[test]
    fn a_reader_that_drips_does_not_hold_up_a_sender() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let reader = std::thread::spawn(move || {
            // A little now and then: never nothing for long, and far too slow for 4 MB.
            let mut bytes = [0; 4096];
            while theirs.read(&mut bytes).is_ok_and(|got| got > 0) {
                clock::sleep_until(clock::now() + SECOND / 20);
            }
        });
        let mut channel = Channel::pair(ours).unwrap();
        let began = clock::now();
        let sent = channel.send(&"x".repeat(4_000_000));
        let took = clock::now() - began;
        drop(channel);
        reader.join().unwrap();
        assert!(matches!(sent, Err(ChannelError::Stuck)), "{sent:?}");
        assert!((PATIENCE..2 * PATIENCE).contains(&took), "{took} ns");
    }
}
