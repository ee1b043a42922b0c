//! The totals of a service, which it writes to every connection on its Unix socket.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use hopbench_model::Nanos;
use hopbench_sys::clock;
use serde_json::Value;

use crate::network::namespace::Namespace;

/// The longest answer of a service.
const MOST_BYTES: usize = 1 << 20;

/// The socket on which a service tells its totals.
#[derive(Debug)]
pub(super) struct Totals {
    namespace: Namespace,
    address: SocketAddr,
}

impl Totals {
    /// At the abstract Unix socket `name` (without `@`) of a network namespace.
    pub(super) fn at(namespace: &Namespace, name: &str) -> io::Result<Self> {
        Ok(Self {
            namespace: namespace.try_clone()?,
            address: SocketAddr::from_abstract_name(name)?,
        })
    }

    /// All that are numbers, at most after this time.
    pub(super) fn read(&self, within: Nanos) -> io::Result<BTreeMap<String, u64>> {
        let end = clock::now() + within;
        let mut stream = self.namespace.run(|| UnixStream::connect_addr(&self.address))??;
        let mut text = Vec::new();
        let mut buffer = [0; 16384];
        loop {
            let left = end.saturating_sub(clock::now());
            if left == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(Duration::from_nanos(left)))?;
            match stream.read(&mut buffer) {
                Ok(0) => return numbers(&text),
                Ok(count) => text.extend_from_slice(&buffer[..count]),
                // That is what a timeout looks like; the next look at the clock says so.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(error),
            }
            if text.len() > MOST_BYTES {
                return Err(io::Error::other(format!("an answer of more than {MOST_BYTES} bytes")));
            }
        }
    }
}

/// The totals in an answer. What is no number describes them further.
fn numbers(text: &[u8]) -> io::Result<BTreeMap<String, u64>> {
    let totals: BTreeMap<String, Value> = serde_json::from_slice(text)?;
    Ok(totals.into_iter().filter_map(|(name, value)| Some((name, value.as_u64()?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_the_numbers_of_an_object() {
        let answer = br#"{"checks": 12, "denied": 0, "series": {"told_apart": 3}, "ratio": 0.5}"#;
        let expected =
            [("checks", 12), ("denied", 0)].map(|(name, value)| (name.to_owned(), value));
        assert_eq!(numbers(answer).unwrap(), expected.into());
        for wrong in [b"".as_slice(), b"[1]", br#"{"checks": 12"#] {
            assert!(numbers(wrong).is_err());
        }
    }
}
