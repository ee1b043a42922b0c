//! The resolution of the name that a user gives the other end to an address.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use hopbench_model::Fault;

/// Where the other end is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As the user wrote it.
    pub name: String,
    /// The address that is used.
    pub address: SocketAddr,
    /// Other addresses of the same name, which are not used.
    pub others: Vec<SocketAddr>,
}

/// Finds the address of `HOST`, `HOST:PORT`, `ADDRESS`, `[V6]:PORT` or a bare IPv6 address. The
/// first address that the resolver gives is used, with `family` (4 or 6) the first of that family.
///
/// # Errors
/// A text that is none of these (input), a name that has no such address (environment).
pub fn resolve(text: &str, default_port: u16, family: Option<u8>) -> Result<Target, Fault> {
    let (host, port) = split(text, default_port)?;
    let wanted = |address: &SocketAddr| match family {
        Some(4) => address.is_ipv4(),
        Some(6) => address.is_ipv6(),
        _ => true,
    };
    let mut all: Vec<SocketAddr> = (host.as_str(), port)
        .to_socket_addrs()
        .map_err(|error| Fault::environment(format!("`{host}` has no address: {error}")))?
        .filter(wanted)
        .collect();
    all.dedup();
    if all.is_empty() {
        let family = family.map_or(String::new(), |f| format!("IPv{f} "));
        return Err(Fault::environment(format!("`{host}` has no {family}address")));
    }
    let address = all.remove(0);
    Ok(Target { name: text.to_owned(), address, others: all })
}

fn split(text: &str, default_port: u16) -> Result<(String, u16), Fault> {
    let wrong = || {
        Fault::input(format!(
            "target `{text}` is not HOST, HOST:PORT, an IPv4 address or an IPv6 address like \
             [::1]:7474"
        ))
    };
    if text.is_empty() || text.contains(char::is_whitespace) || text.contains('/') {
        return Err(wrong());
    }
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok((ip.to_string(), default_port));
    }
    let port = |digits: &str| digits.parse::<u16>().ok().filter(|p| *p > 0).ok_or_else(wrong);
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(wrong)?;
        let number = match rest.strip_prefix(':') {
            Some(digits) => port(digits)?,
            None if rest.is_empty() => default_port,
            None => return Err(wrong()),
        };
        return Ok((host.to_owned(), number));
    }
    match text.split_once(':') {
        None => Ok((text.to_owned(), default_port)),
        Some((host, digits)) if !host.is_empty() && !digits.contains(':') => {
            Ok((host.to_owned(), port(digits)?))
        }
        // More than one colon: an IPv6 address with a zone, which the resolver understands.
        Some(_) if text.contains('%') => Ok((text.to_owned(), default_port)),
        Some(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_target() {
        let address = |text: &str| resolve(text, 7474, None).map(|t| t.address.to_string());
        assert_eq!(address("127.0.0.1").unwrap(), "127.0.0.1:7474");
        assert_eq!(address("127.0.0.1:80").unwrap(), "127.0.0.1:80");
        assert_eq!(address("::1").unwrap(), "[::1]:7474");
        assert_eq!(address("[::1]").unwrap(), "[::1]:7474");
        assert_eq!(address("[::1]:80").unwrap(), "[::1]:80");
        for bad in
            ["", "a b", "h:", "h:0", "h:99999", "[::1", "[::1]x", "1:2:3", ":80", "http://x/"]
        {
            assert_eq!(address(bad).unwrap_err().kind, hopbench_model::FaultKind::Input, "{bad}");
        }
        assert!(resolve("127.0.0.1", 1, Some(6)).is_err());
    }
}
