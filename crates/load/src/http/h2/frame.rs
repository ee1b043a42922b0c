//! The frames of HTTP/2 (RFC 9113, 4 and 6), without their content's meaning.

/// What a client sends first.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes of a frame's head.
pub(super) const HEAD_BYTES: usize = 9;
/// The longest content that a side takes unless it says otherwise, bytes.
pub(super) const USUAL_CONTENT_BYTES: usize = 1 << 14;
/// What may be said about the longest content, bytes (RFC 9113, 6.5.2).
pub(super) const CONTENT_BYTES: std::ops::Range<u32> = 1 << 14..1 << 24;
/// The window that streams and connections begin with, bytes.
pub(super) const USUAL_WINDOW_BYTES: u32 = 65_535;
/// The largest window, bytes.
pub(super) const MOST_WINDOW_BYTES: u32 = (1 << 31) - 1;

/// The bits of a stream's number; the one ahead of them means nothing.
const STREAM_BITS: u32 = 0x7fff_ffff;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    Data,
    Headers,
    Priority,
    Reset,
    Settings,
    PushPromise,
    Ping,
    GoAway,
    WindowUpdate,
    Continuation,
    /// One that is to be passed over.
    Other(u8),
}

const KINDS: [FrameKind; 10] = [
    FrameKind::Data,
    FrameKind::Headers,
    FrameKind::Priority,
    FrameKind::Reset,
    FrameKind::Settings,
    FrameKind::PushPromise,
    FrameKind::Ping,
    FrameKind::GoAway,
    FrameKind::WindowUpdate,
    FrameKind::Continuation,
];

impl FrameKind {
    fn of(number: u8) -> Self {
        KINDS.get(usize::from(number)).copied().unwrap_or(Self::Other(number))
    }

    fn number(self) -> u8 {
        let at = KINDS.iter().position(|kind| *kind == self);
        match (self, at) {
            (Self::Other(number), _) => number,
            (_, at) => at.unwrap_or_default() as u8,
        }
    }
}

/// The last frame of a message, and the answer to settings or a ping.
pub(super) const END_STREAM: u8 = 0x1;
/// See [`END_STREAM`].
pub(super) const ACK: u8 = 0x1;
/// The last frame of a block of fields.
pub(super) const END_HEADERS: u8 = 0x4;
/// The content has padding.
pub(super) const PADDED: u8 = 0x8;
/// The content has a priority.
pub(super) const PRIORITY: u8 = 0x20;

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHead {
    /// Bytes of its content.
    pub(super) length: usize,
    pub(super) kind: FrameKind,
    pub(super) flags: u8,
    /// Its stream; 0: the connection.
    pub(super) stream: u32,
}

impl FrameHead {
    /// Reads one from its nine bytes.
    pub(super) fn read(bytes: &[u8; HEAD_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind: FrameKind::of(kind),
            flags,
            stream: u32::from_be_bytes(stream) & STREAM_BITS,
        }
    }

    /// Its nine bytes.
    pub(super) fn bytes(self) -> [u8; HEAD_BYTES] {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        [a, b, c, self.kind.number(), self.flags, d, e, f, g]
    }

    /// Whether a flag is set.
    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is on a stream though it is about the connection, or the other way round (RFC
    /// 9113, 6).
    pub(super) fn is_misplaced(self) -> bool {
        match self.kind {
            FrameKind::Settings | FrameKind::Ping | FrameKind::GoAway => self.stream != 0,
            FrameKind::WindowUpdate | FrameKind::Other(_) => false,
            FrameKind::Data
            | FrameKind::Headers
            | FrameKind::Priority
            | FrameKind::Reset
            | FrameKind::PushPromise
            | FrameKind::Continuation => self.stream == 0,
        }
    }

    /// Whether its content says that its stream depends on itself. Priorities are history, but that
    /// was never allowed (RFC 7540, 5.3.1).
    pub(super) fn is_own_parent(self, bytes: &[u8]) -> bool {
        let from = match self.kind {
            FrameKind::Priority => 0,
            FrameKind::Headers if self.has(PRIORITY) => usize::from(self.has(PADDED)),
            _ => return false,
        };
        let parent = bytes.get(from..from + 4).and_then(number);
        parent.is_some_and(|parent| parent & STREAM_BITS == self.stream)
    }

    /// The content without padding and priority. `None`: it is shorter than they are.
    pub(super) fn content(self, bytes: &[u8]) -> Option<&[u8]> {
        let is_message = matches!(self.kind, FrameKind::Data | FrameKind::Headers);
        let mut bytes = bytes;
        let mut padding = 0;
        if is_message && self.has(PADDED) {
            let (first, rest) = bytes.split_first()?;
            (padding, bytes) = (usize::from(*first), rest);
        }
        if self.kind == FrameKind::Headers && self.has(PRIORITY) {
            bytes = bytes.get(5..)?;
        }
        bytes.get(..bytes.len().checked_sub(padding)?)
    }
}

/// Appends a frame.
pub(super) fn write(kind: FrameKind, flags: u8, stream: u32, content: &[u8], out: &mut Vec<u8>) {
    let head = FrameHead { length: content.len(), kind, flags, stream };
    out.extend_from_slice(&head.bytes());
    out.extend_from_slice(content);
}

/// Appends a frame whose content `fill` appends; it says the frame's flags.
pub(super) fn write_with(
    kind: FrameKind,
    stream: u32,
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> u8,
) {
    let from = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    let flags = fill(out);
    let length = out.len() - from - HEAD_BYTES;
    let head = FrameHead { length, kind, flags, stream };
    out[from..from + HEAD_BYTES].copy_from_slice(&head.bytes());
}

/// A setting that a side says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// The size of the table for blocks of fields, bytes.
    TableBytes(u32),
    /// Whether a server may push: 1, or 0 if not. Nothing else is allowed.
    Push(u32),
    /// Streams that the other side may have open at once.
    Streams(u32),
    /// The window that streams begin with, bytes.
    Window(u32),
    /// The longest content of a frame, bytes.
    Content(u32),
    /// All fields of a message together, bytes.
    Fields(u32),
    /// Four bytes of a credential; of no standard, so that others pass it over.
    Credential([u8; 4]),
}

/// The number of [`Setting::Credential`].
const CREDENTIAL: u16 = 0x6862;

impl Setting {
    fn of(number: u16, value: u32) -> Option<Self> {
        Some(match number {
            1 => Self::TableBytes(value),
            2 => Self::Push(value),
            3 => Self::Streams(value),
            4 => Self::Window(value),
            5 => Self::Content(value),
            6 => Self::Fields(value),
            CREDENTIAL => Self::Credential(value.to_be_bytes()),
            // Those of later standards are passed over.
            _ => return None,
        })
    }

    fn parts(self) -> (u16, u32) {
        match self {
            Self::TableBytes(value) => (1, value),
            Self::Push(value) => (2, value),
            Self::Streams(value) => (3, value),
            Self::Window(value) => (4, value),
            Self::Content(value) => (5, value),
            Self::Fields(value) => (6, value),
            Self::Credential(bytes) => (CREDENTIAL, u32::from_be_bytes(bytes)),
        }
    }
}

/// The settings in a frame, those that are known. `None`: its length is wrong.
pub(super) fn settings(content: &[u8]) -> Option<impl Iterator<Item = Setting>> {
    let (all, []) = content.as_chunks::<6>() else { return None };
    Some(all.iter().filter_map(|[a, b, value @ ..]| {
        Setting::of(u16::from_be_bytes([*a, *b]), u32::from_be_bytes(*value))
    }))
}

/// Gives the peer the window of a stream back, or of the connection (0), if half of it is used.
pub(super) fn give_back(stream: u32, received: &mut u32, window_bytes: u32, out: &mut Vec<u8>) {
    if *received >= (window_bytes / 2).max(1) {
        let bytes = std::mem::take(received).to_be_bytes();
        write(FrameKind::WindowUpdate, 0, stream, &bytes, out);
    }
}

/// Appends a frame with settings.
pub(super) fn write_settings(all: &[Setting], out: &mut Vec<u8>) {
    let head = FrameHead { length: 6 * all.len(), kind: FrameKind::Settings, flags: 0, stream: 0 };
    out.extend_from_slice(&head.bytes());
    for setting in all {
        let (number, value) = setting.parts();
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// The number in a frame of four bytes: a window's growth, or a code.
pub(super) fn number(content: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(content.try_into().ok()?))
}

/// Why a stream or a connection ended (RFC 9113, 7).
#[rustfmt::skip]
const CODES: [&str; 14] = [
    "no_error", "protocol_error", "internal_error", "flow_control_error", "settings_timeout",
    "stream_closed", "frame_size_error", "refused_stream", "cancel", "compression_error",
    "connect_error", "enhance_your_calm", "inadequate_security", "http_1_1_required",
];

/// The name of a code.
pub(super) fn code_name(code: u32) -> &'static str {
    CODES.get(code as usize).copied().unwrap_or("other_code")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn heads_and_settings_are_read_as_they_were_written() {
        let mut out = Vec::new();
        write(FrameKind::Data, END_STREAM, 5, b"abc", &mut out);
        assert_eq!(out, [0, 0, 3, 0, 1, 0, 0, 0, 5, b'a', b'b', b'c']);
        let head = FrameHead::read(out.first_chunk().unwrap());
        assert_eq!((head.length, head.kind, head.stream), (3, FrameKind::Data, 5));
        assert!(head.has(END_STREAM) && !head.has(PADDED));
        out.clear();
        let all = [Setting::Push(0), Setting::Window(1 << 20), Setting::Streams(100)];
        write_settings(&all, &mut out);
        let read: Vec<Setting> = settings(&out[HEAD_BYTES..]).unwrap().collect();
        assert_eq!(read, all);
        assert!(settings(&out[HEAD_BYTES + 1..]).is_none());
        // One of a later standard.
        assert_eq!(settings(&[0, 9, 0, 0, 0, 1]).unwrap().count(), 0);
        assert_eq!(
            (code_name(7), code_name(11), code_name(99)),
            ("refused_stream", "enhance_your_calm", "other_code")
        );
    }

    #[test]
    fn padding_and_priority_are_taken_off() {
        let head = |kind, flags| FrameHead { length: 0, kind, flags, stream: 1 };
        let data = head(FrameKind::Data, PADDED);
        assert_eq!(data.content(&[2, b'a', 0, 0]), Some(&b"a"[..]));
        assert_eq!(data.content(&[4, b'a', 0, 0]), None);
        assert_eq!(data.content(&[]), None);
        let headers = head(FrameKind::Headers, PADDED | PRIORITY);
        assert_eq!(headers.content(&[1, 0, 0, 0, 0, 9, b'h', 0]), Some(&b"h"[..]));
        assert_eq!(head(FrameKind::Headers, 0).content(b"h"), Some(&b"h"[..]));
        assert_eq!(head(FrameKind::Headers, PRIORITY).content(&[1, 2]), None);
    }

    proptest! {
        #[test]
        fn any_head_is_read_and_written(bytes: [u8; HEAD_BYTES]) {
            let head = FrameHead::read(&bytes);
            let mut expected = bytes;
            expected[5] &= 0x7f;
            prop_assert_eq!(head.bytes(), expected);
        }
    }
}
