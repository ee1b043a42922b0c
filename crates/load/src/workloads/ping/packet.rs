//! ICMP echo packets (RFC 792, RFC 4443): building requests and reading replies.

/// Bytes before the payload of an echo.
pub(super) const HEADER: usize = 8;
/// Bytes of the payload that carry the echo's number, where it has as many.
const NUMBER: usize = 8;

/// An echo request that is sent again and again with other numbers.
///
/// Its payload starts with the number, as many of its bytes as fit, lowest first; the rest counts
/// up.
#[derive(Debug)]
pub(super) struct Request {
    v6: bool,
    bytes: Vec<u8>,
}

impl Request {
    /// A request with `size` bytes of payload.
    pub(super) fn new(v6: bool, identifier: u16, size: usize) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[0] = if v6 { 128 } else { 8 };
        bytes[4..6].copy_from_slice(&identifier.to_be_bytes());
        bytes.extend((0..size).map(|i| i as u8));
        Self { v6, bytes }
    }

    /// Sets sequence and number.
    pub(super) fn set(&mut self, sequence: u16, number: u64) {
        self.bytes[6..8].copy_from_slice(&sequence.to_be_bytes());
        let size = self.size();
        self.bytes[HEADER..HEADER + size.min(NUMBER)]
            .copy_from_slice(&number.to_le_bytes()[..size.min(NUMBER)]);
        // ICMPv6's sum covers the addresses too; the kernel fills it in.
        if !self.v6 {
            self.bytes[2..4].fill(0);
            let sum = checksum(&self.bytes);
            self.bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        }
    }

    /// The packet without its IP header.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of payload.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() - HEADER
    }
}

/// An echo reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reply<'a> {
    /// The identifier, where the packet came from a raw socket and so may be anybody's. A datagram
    /// socket gets its own replies only, under an identifier that the kernel chose.
    pub(super) identifier: Option<u16>,
    /// The sequence number.
    pub(super) sequence: u16,
    /// What was sent with the request.
    pub(super) payload: &'a [u8],
}

impl<'a> Reply<'a> {
    /// Reads what a socket received; `None` for what is no sound echo reply. IPv4 packets may come
    /// with their IP header (raw sockets) or without (datagram sockets). An echo reply starts with
    /// 0, an IPv4 header with its version 4.
    pub(super) fn read(v6: bool, bytes: &'a [u8]) -> Option<Self> {
        let headed = !v6 && bytes.first()? >> 4 == 4;
        let icmp = if headed { without_ip_header(bytes)? } else { bytes };
        let (header, payload) = icmp.split_at_checked(HEADER)?;
        let wanted = if v6 { 129 } else { 0 };
        if header[0] != wanted || header[1] != 0 {
            return None;
        }
        // Raw IPv4 sockets get packets before the kernel has looked at the sum.
        if headed && checksum(icmp) != 0 {
            return None;
        }
        let number = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        Some(Self { identifier: headed.then(|| number(4)), sequence: number(6), payload })
    }

    /// Whether the payload is `size` bytes long and carries `number`.
    pub(super) fn carries(&self, size: usize, number: u64) -> bool {
        let known = size.min(NUMBER);
        self.payload.len() == size && self.payload[..known] == number.to_le_bytes()[..known]
    }
}

fn without_ip_header(bytes: &[u8]) -> Option<&[u8]> {
    const ICMP: u8 = 1;
    let length = usize::from(bytes.first()? & 15) * 4;
    if length < 20 || *bytes.get(9)? != ICMP {
        return None;
    }
    bytes.get(length..)
}

/// The Internet checksum (RFC 1071) of `bytes`; 0 over a packet that carries its right sum.
pub(super) fn checksum(bytes: &[u8]) -> u16 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    // 64 bits hold the sum of far more words than a packet has.
    let mut sum: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
    if let [last] = rest {
        sum += u64::from(*last) << 8;
    }
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An IPv4 header without options in front of an ICMP packet.
    fn headed(icmp: &[u8]) -> Vec<u8> {
        let mut out = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1];
        out.extend_from_slice(icmp);
        out
    }

    fn reply_to(request: &Request) -> Vec<u8> {
        let mut bytes = request.bytes().to_vec();
        bytes[0] = if request.v6 { 129 } else { 0 };
        if !request.v6 {
            bytes[2..4].fill(0);
            let sum = checksum(&bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn the_checksum_of_rfc_1071() {
        // Section 3 of the RFC: the words 0001 f203 f4f5 f6f7 add up to ddf2.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        // An odd length is padded with a zero.
        assert_eq!(checksum(&[0x12, 0x34, 0x56]), !(0x1234 + 0x5600));
        assert_eq!(checksum(&[]), 0xffff);
    }

    #[test]
    fn a_request_as_it_goes_over_the_wire() {
        let mut request = Request::new(false, 0x1234, 2);
        request.set(0x0102, 0x0506);
        // 0800 + 1234 + 0102 + 0605 = 213b, its complement dec4.
        assert_eq!(request.bytes(), [8, 0, 0xde, 0xc4, 0x12, 0x34, 0x01, 0x02, 0x06, 0x05]);
        let mut request = Request::new(true, 0x1234, 10);
        request.set(7, 0x0807_0605_0403_0201);
        assert_eq!(request.bytes(), [128, 0, 0, 0, 0x12, 0x34, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9]);
    }

    #[test]
    fn a_reply_is_read_with_and_without_its_ip_header() {
        let mut request = Request::new(false, 77, 56);
        request.set(5, 99);
        let reply = reply_to(&request);
        let plain = Reply::read(false, &reply).unwrap();
        assert_eq!((plain.identifier, plain.sequence), (None, 5));
        assert!(plain.carries(56, 99));
        assert!(!plain.carries(56, 98) && !plain.carries(55, 99));
        let packet = headed(&reply);
        let raw = Reply::read(false, &packet).unwrap();
        assert_eq!((raw.identifier, raw.sequence, raw.payload), (Some(77), 5, plain.payload));
    }

    #[test]
    fn an_ip_header_with_options_is_skipped_whole() {
        let mut request = Request::new(false, 77, 4);
        request.set(5, 99);
        let mut packet = headed(&reply_to(&request));
        packet[0] = 0x47;
        packet.splice(20..20, [1; 8]);
        assert_eq!(Reply::read(false, &packet).unwrap().sequence, 5);
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        let mut request = Request::new(false, 77, 56);
        request.set(5, 99);
        assert_eq!(
            Reply::read(false, &headed(request.bytes())),
            None,
            "our own request, looped back"
        );
        let mut broken = headed(&reply_to(&request));
        *broken.last_mut().unwrap() ^= 1;
        assert_eq!(Reply::read(false, &broken), None, "a wrong checksum");
        let mut udp = headed(&reply_to(&request));
        udp[9] = 17;
        assert_eq!(Reply::read(false, &udp), None, "another protocol");
        let mut short = headed(&reply_to(&request));
        short[0] = 0x44;
        assert_eq!(Reply::read(false, &short), None, "an IP header of 16 bytes");
        let mut unreachable = reply_to(&request);
        unreachable[0] = 3;
        assert_eq!(Reply::read(false, &unreachable), None, "destination unreachable");
        for length in 0..28 {
            assert_eq!(
                Reply::read(false, &headed(&reply_to(&request))[..length]),
                None,
                "{length} bytes"
            );
        }
    }

    #[test]
    fn an_icmpv6_reply_is_told_from_a_request() {
        let mut request = Request::new(true, 77, 3);
        request.set(5, 0x0001_0203);
        assert_eq!(Reply::read(true, request.bytes()), None);
        let reply = reply_to(&request);
        assert!(Reply::read(true, &reply).unwrap().carries(3, 0x0001_0203));
    }

    proptest! {
        #[test]
        fn no_packet_makes_the_reader_panic(
            v6: bool,
            raw: bool,
            size in 0usize..80,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut request = Request::new(v6, 1, size);
            request.set(2, 3);
            let mut packet = if raw { headed(&reply_to(&request)) } else { reply_to(&request) };
            let length = packet.len();
            for (at, value) in changes {
                packet[at.index(length)] = value;
            }
            packet.truncate(cut.index(length + 1));
            if let Some(reply) = Reply::read(v6, &packet) {
                prop_assert!(reply.payload.len() + HEADER <= packet.len());
                let _ = reply.carries(size, 3);
            }
        }

        #[test]
        fn random_bytes_do_not_make_the_reader_panic(
            v6: bool,
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            if let Some(reply) = Reply::read(v6, &bytes) {
                prop_assert!(reply.payload.len() + HEADER <= bytes.len());
            }
        }

        #[test]
        fn a_packet_with_its_sum_adds_up_to_zero(
            size in 0usize..300,
            number: u64,
            sequence: u16,
            identifier: u16,
        ) {
            let mut request = Request::new(false, identifier, size);
            request.set(sequence, number);
            prop_assert_eq!(checksum(request.bytes()), 0);
        }
    }
}
