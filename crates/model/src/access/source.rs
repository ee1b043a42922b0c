//! Sources of connections, and whose connections make room for others.

use std::net::{IpAddr, SocketAddr};

/// Where a connection comes from: an IPv4 address, or an IPv6 network of 64 bits, of which one
/// machine has all addresses. Behind a proxy or a port-forward everybody is one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// An address.
    V4(u32),
    /// The upper half of an address.
    V6(u64),
}

impl Source {
    /// The source of a connection whose other end is `peer`; an IPv4 address is itself, however it
    /// is written.
    pub fn of(peer: SocketAddr) -> Self {
        match peer.ip().to_canonical() {
            IpAddr::V4(ip) => Self::V4(ip.to_bits()),
            IpAddr::V6(ip) => Self::V6((ip.to_bits() >> 64) as u64),
        }
    }

    /// The same of a connection that may have ended. Those that have, have no peer any more, and
    /// are of one source.
    pub fn of_any(peer: Option<SocketAddr>) -> Self {
        peer.map_or(Self::V4(0), Self::of)
    }
}

/// The place, in order, of the connection that makes room for one more. It is the longest at rest
/// of the source that has the most. Of several such sources it is the one that rests the longest of
/// all. Each connection is given as its source and the moment since when it rests. `None`: there is
/// none.
pub fn makes_room(connections: impl Iterator<Item = (Source, u64)> + Clone) -> Option<usize> {
    let mut sources: Vec<Source> = connections.clone().map(|(source, _)| source).collect();
    sources.sort_unstable();
    let most = sources.chunk_by(|a, b| a == b).map(<[Source]>::len).max()?;
    let has = |source: Source| {
        sources.partition_point(|other| *other <= source)
            - sources.partition_point(|other| *other < source)
    };
    let of_the_largest = connections.enumerate().filter(|(_, (source, _))| has(*source) == most);
    of_the_largest.min_by_key(|(_, (_, since))| *since).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_64_bits_is_one_source_and_ipv4_is_itself_however_it_is_written() {
        let source = |text: &str| Source::of(text.parse().unwrap());
        assert_eq!(source("[2001:db8::1]:1"), source("[2001:db8::ffff:1]:2"));
        assert_ne!(source("[2001:db8::1]:1"), source("[2001:db8:0:1::1]:1"));
        assert_eq!(source("[::ffff:127.0.0.1]:1"), source("127.0.0.1:9"));
        assert_ne!(source("127.0.0.1:1"), source("127.0.0.2:1"));
    }

    #[test]
    fn the_largest_source_makes_room_with_what_rests_the_longest() {
        let goes = |connections: &[(u32, u64)]| {
            makes_room(connections.iter().map(|(source, since)| (Source::V4(*source), *since)))
        };
        assert_eq!(goes(&[]), None);
        assert_eq!(goes(&[(1, 9)]), Some(0));
        assert_eq!(goes(&[(1, 1), (2, 7), (2, 5), (2, 6)]), Some(2), "not the oldest of all");
        assert_eq!(
            goes(&[(1, 4), (2, 7), (3, 3), (2, 5), (1, 6)]),
            Some(0),
            "the oldest of two sources with two"
        );
        assert_eq!(goes(&[(3, 4), (2, 2), (1, 3)]), Some(1));
    }
}
