//! Which addresses a connector may be connected to: public ones, and no others.
//!
//! Every address that a name resolves to is judged before any is dialled. Addresses that carry an IPv4 address inside an
//! IPv6 one are a way around such tables, so they are refused whatever they carry. The one exception is the well-known
//! prefix of NAT64, which hosts without IPv4 need: it is judged by the address inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Why an address is not connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forbidden {
    /// What kind of address it is, for the log.
    pub(super) kind: &'static str,
    /// Where that is laid down.
    pub(super) rule: &'static str,
}

/// Refuses whatever is not a public unicast address.
///
/// # Errors
/// The kind of address that it is instead.
pub(super) fn check(address: IpAddr) -> Result<(), Forbidden> {
    match address {
        IpAddr::V4(address) => check_v4(address),
        IpAddr::V6(address) => check_v6(address),
    }
}

fn check_v4(address: Ipv4Addr) -> Result<(), Forbidden> {
    let found = V4.iter().find(|(net, _, _)| net.contains(&address));
    found.map_or(Ok(()), |(_, kind, rule)| Err(Forbidden { kind, rule }))
}

fn check_v6(address: Ipv6Addr) -> Result<(), Forbidden> {
    if NAT64.contains(&address) {
        let [.., a, b, c, d] = address.octets();
        return check_v4(Ipv4Addr::new(a, b, c, d));
    }
    if let Some((_, kind, rule)) = V6.iter().find(|(net, _, _)| net.contains(&address)) {
        return Err(Forbidden { kind, rule });
    }
    // Any public network can carry an ISATAP interface; its identifier gives it away.
    if matches!(address.segments(), [_, _, _, _, 0 | 0x0200, 0x5efe, _, _]) {
        return Err(Forbidden { kind: "ISATAP", rule: "RFC 5214" });
    }
    // Only this part of the space has been assigned to public networks.
    if GLOBAL.contains(&address) { Ok(()) } else { Err(Forbidden { kind: "not assigned", rule: "RFC 4291" }) }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segments: [u16; 8], prefix: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

/// RFC 6052.
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

/// RFC 4291 §2.4, IANA "IPv6 Global Unicast Address Space".
const GLOBAL: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// The IANA special-purpose registry (RFC 6890), and the metadata services of clouds. The first that fits names the kind.
const V4: &[(Ipv4Net, &str, &str)] = &[
    (v4(169, 254, 169, 254, 32), "cloud metadata", "AWS, Azure, Google Cloud and others"),
    (v4(169, 254, 170, 2, 32), "cloud metadata", "AWS ECS"),
    (v4(100, 100, 100, 200, 32), "cloud metadata", "Alibaba Cloud"),
    (v4(192, 0, 0, 192, 32), "cloud metadata", "Oracle Cloud"),
    (v4(168, 63, 129, 16, 32), "cloud metadata", "Azure platform services"),
    (v4(0, 0, 0, 0, 8), "this network", "RFC 791"),
    (v4(10, 0, 0, 0, 8), "private", "RFC 1918"),
    (v4(172, 16, 0, 0, 12), "private", "RFC 1918"),
    (v4(192, 168, 0, 0, 16), "private", "RFC 1918"),
    (v4(100, 64, 0, 0, 10), "carrier-grade NAT", "RFC 6598"),
    (v4(127, 0, 0, 0, 8), "loopback", "RFC 1122"),
    (v4(169, 254, 0, 0, 16), "link-local", "RFC 3927"),
    (v4(192, 0, 0, 0, 24), "protocol assignments", "RFC 6890"),
    (v4(192, 0, 2, 0, 24), "documentation", "RFC 5737"),
    (v4(198, 51, 100, 0, 24), "documentation", "RFC 5737"),
    (v4(203, 0, 113, 0, 24), "documentation", "RFC 5737"),
    (v4(192, 88, 99, 0, 24), "6to4 relay", "RFC 7526"),
    (v4(192, 31, 196, 0, 24), "AS112 sink", "RFC 7535"),
    (v4(192, 175, 48, 0, 24), "AS112 sink", "RFC 7534"),
    (v4(198, 18, 0, 0, 15), "benchmarking", "RFC 2544"),
    (v4(224, 0, 0, 0, 4), "multicast", "RFC 5771"),
    (v4(240, 0, 0, 0, 4), "reserved, broadcast", "RFC 1112, RFC 919"),
];

/// As above, for IPv6. What lies outside of `GLOBAL` is listed where it deserves its own name.
const V6: &[(Ipv6Net, &str, &str)] = &[
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), "cloud metadata", "AWS"),
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), "cloud metadata", "Google Cloud"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback", "RFC 4291"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "unspecified", "RFC 4291"),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), "IPv4-mapped", "RFC 4291"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), "IPv4-compatible", "RFC 4291"),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), "IPv4-translated (SIIT)", "RFC 7915"),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "local NAT64", "RFC 8215"),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), "discard", "RFC 6666"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), "Teredo", "RFC 4380"),
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), "benchmarking", "RFC 5180"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "protocol assignments", "RFC 2928"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "documentation", "RFC 3849"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "documentation", "RFC 9637"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "6to4", "RFC 3056"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "unique local", "RFC 4193"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local", "RFC 4291"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local", "RFC 3879"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast", "RFC 4291"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_26_only_public_addresses_pass() {
        for (address, kind) in [
            ("169.254.169.254", "cloud metadata"),
            ("fd00:ec2::254", "cloud metadata"),
            ("168.63.129.16", "cloud metadata"),
            ("100.100.100.200", "cloud metadata"),
            ("127.0.0.1", "loopback"),
            ("127.255.255.254", "loopback"),
            ("::1", "loopback"),
            ("10.0.0.1", "private"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.168.1.1", "private"),
            ("100.64.0.1", "carrier-grade NAT"),
            ("169.254.0.1", "link-local"),
            ("fe80::1", "link-local"),
            ("fc00::1", "unique local"),
            ("fd12:3456::1", "unique local"),
            ("fec0::1", "site-local"),
            ("224.0.0.1", "multicast"),
            ("ff02::1", "multicast"),
            ("0.0.0.0", "this network"),
            ("0.1.2.3", "this network"),
            ("::", "unspecified"),
            ("255.255.255.255", "reserved, broadcast"),
            ("240.0.0.1", "reserved, broadcast"),
            ("192.0.2.1", "documentation"),
            ("198.51.100.1", "documentation"),
            ("203.0.113.1", "documentation"),
            ("2001:db8::1", "documentation"),
            ("198.18.0.1", "benchmarking"),
            ("2001:2::1", "benchmarking"),
            ("192.88.99.1", "6to4 relay"),
            // IPv4 inside IPv6, loopback and public ones alike.
            ("::ffff:127.0.0.1", "IPv4-mapped"),
            ("::ffff:8.8.8.8", "IPv4-mapped"),
            ("::127.0.0.1", "IPv4-compatible"),
            ("::ffff:0:169.254.169.254", "IPv4-translated (SIIT)"),
            ("64:ff9b::127.0.0.1", "loopback"),
            ("64:ff9b::169.254.169.254", "cloud metadata"),
            ("64:ff9b:1::8.8.8.8", "local NAT64"),
            ("2002:7f00:1::", "6to4"),
            ("2002:808:808::", "6to4"),
            ("2001:0:4136:e378:8000:63bf:80ff:fffe", "Teredo"),
            ("2606:4700::5efe:10.0.0.1", "ISATAP"),
            ("2606:4700::200:5efe:10.0.0.1", "ISATAP"),
            ("4000::1", "not assigned"),
            ("5f00::1", "not assigned"),
        ] {
            let found = check(address.parse().unwrap()).map_err(|forbidden| forbidden.kind);
            assert_eq!(found, Err(kind), "{address}");
        }
        for public in
            ["1.1.1.1", "162.159.128.233", "172.32.0.1", "100.128.0.1", "2606:4700::6810:1", "64:ff9b::8.8.8.8"]
        {
            assert_eq!(check(public.parse().unwrap()), Ok(()), "{public}");
        }
    }
}
