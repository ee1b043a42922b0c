//! The addresses of an interface in both families.
//!
//! In a lab with paths of IPv6 every interface has an address of IPv6, too. It is a prefix of 96
//! bits and the interface's address of IPv4, so both families have the same plan.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hopbench_model::{IpFamily, Path};

/// The first bits of all addresses of IPv6: unique local ones.
const IPV6: Ipv6Addr = Ipv6Addr::new(0xfd68, 0x6f70, 0x6265, 0x6e63, 0, 0, 0, 0);
/// The number of these bits.
const IPV6_PREFIX: u8 = 96;

/// The family of a path.
pub(crate) fn family_of(path: &Path) -> IpFamily {
    path.family.unwrap_or_default()
}

/// The address of an interface in a family, by that of IPv4.
pub(crate) fn of_family(address: Ipv4Addr, family: IpFamily) -> IpAddr {
    match family {
        IpFamily::Ipv4 => address.into(),
        IpFamily::Ipv6 if address.is_loopback() => family.loopback(),
        IpFamily::Ipv6 => ipv6(address).into(),
    }
}

fn ipv6(address: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(IPV6.to_bits() | u128::from(address.to_bits()))
}

/// A network in a family, by its lowest address and prefix in IPv4. Everything is everything in
/// both.
pub(crate) fn net_of_family((base, prefix): (Ipv4Addr, u8), family: IpFamily) -> (IpAddr, u8) {
    match family {
        IpFamily::Ipv4 => (base.into(), prefix),
        IpFamily::Ipv6 if prefix == 0 => (Ipv6Addr::UNSPECIFIED.into(), 0),
        IpFamily::Ipv6 => (ipv6(base).into(), IPV6_PREFIX + prefix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_have_the_same_plan() {
        let pod = Ipv4Addr::new(10, 128, 0, 3);
        let told = |family| of_family(pod, family).to_string();
        assert_eq!(told(IpFamily::Ipv4), "10.128.0.3");
        assert_eq!(told(IpFamily::Ipv6), "fd68:6f70:6265:6e63::a80:3");
        assert_eq!(of_family(Ipv4Addr::LOCALHOST, IpFamily::Ipv6), Ipv6Addr::LOCALHOST);
        let net = |base: Ipv4Addr, prefix| {
            let (base, prefix) = net_of_family((base, prefix), IpFamily::Ipv6);
            format!("{base}/{prefix}")
        };
        assert_eq!(net(Ipv4Addr::new(10, 10, 0, 0), 16), "fd68:6f70:6265:6e63::a0a:0/112");
        assert_eq!(net(Ipv4Addr::UNSPECIFIED, 0), "::/0");
    }
}
