//! Where requests come from when a proxy stands in front: the address that it saw, told in `X-Forwarded-For`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::HeaderMap;

/// The addresses that begin with the same bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix_bits: u32,
}

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the client behind `peer`, which is a trusted proxy: the last one in the list that is no trusted proxy
/// itself, because everything before that may be made up. What cannot be read ends the list.
pub(crate) fn behind(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let mut client = peer;
    for line in headers.get_all(FORWARDED_FOR).iter().rev() {
        let Ok(line) = line.to_str() else { return client };
        for entry in line.rsplit(',') {
            let Some(address) = parse_entry(entry.trim_ascii()) else { return client };
            client = address;
            if !is_in(address, trusted) {
                return client;
            }
        }
    }
    client
}

/// Whether one of the networks has the address.
pub(crate) fn is_in(address: IpAddr, networks: &[Network]) -> bool {
    networks.iter().any(|network| network.contains(address))
}

/// An address as proxies write it: some add the port.
fn parse_entry(entry: &str) -> Option<IpAddr> {
    let bare = entry.strip_prefix('[').and_then(|entry| entry.strip_suffix(']')).unwrap_or(entry);
    bare.parse().ok().or_else(|| entry.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

// === impl Network ===

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let differing = (network.to_bits() ^ address.to_bits()).leading_zeros();
                differing >= self.prefix_bits
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let differing = (network.to_bits() ^ address.to_bits()).leading_zeros();
                differing >= self.prefix_bits
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let refused = || {
            format!(
                "{text:?} is not an address or network; write one such as \"10.0.0.7\" or \"10.0.0.0/8\""
            )
        };
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address = address.parse::<IpAddr>().map_err(|_| refused())?.to_canonical();
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match prefix {
            None => bits,
            Some(prefix) => {
                prefix.parse().ok().filter(|prefix| *prefix <= bits).ok_or_else(refused)?
            }
        };
        Ok(Network { address, prefix_bits })
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        for (network, address, contains) in [
            ("10.0.0.7", "10.0.0.7", true),
            ("10.0.0.7", "10.0.0.8", false),
            ("10.0.0.7", "::ffff:10.0.0.7", true),
            ("10.1.0.0/16", "10.1.255.255", true),
            ("10.1.0.0/16", "10.2.0.0", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::1", "::1", true),
        ] {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.contains(address.parse().unwrap()), contains, "{network} {address}");
        }
        for wrong in ["", "proxy", "10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/-1", "10.0.0/8", "::/129"]
        {
            assert!(wrong.parse::<Network>().unwrap_err().contains("10.0.0.0/8"), "{wrong}");
        }
    }

    #[test]
    fn only_what_a_trusted_proxy_saw_counts() {
        let trusted = ["127.0.0.1", "10.0.0.0/8"].map(|network| network.parse().unwrap());
        for (lines, client) in [
            (&[][..], "127.0.0.1"),
            (&["203.0.113.9"], "203.0.113.9"),
            (&["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
            (&["198.51.100.1, 203.0.113.9, 10.1.1.1"], "203.0.113.9"),
            (&["198.51.100.1", "203.0.113.9,10.1.1.1"], "203.0.113.9"),
            (&["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
            (&["203.0.113.9:4711"], "203.0.113.9"),
            (&["[2001:db8::1]:4711"], "2001:db8::1"),
            (&["[2001:db8::1]"], "2001:db8::1"),
            (&["unknown"], "127.0.0.1"),
            (&["203.0.113.9, unknown, 10.1.1.1"], "10.1.1.1"),
            (&[""], "127.0.0.1"),
        ] {
            let headers: HeaderMap = lines
                .iter()
                .map(|line| {
                    (hyper::header::HeaderName::from_static(FORWARDED_FOR), line.parse().unwrap())
                })
                .collect();
            let found = behind("127.0.0.1".parse().unwrap(), &headers, &trusted);
            assert_eq!(found, client.parse::<IpAddr>().unwrap(), "{lines:?}");
        }
    }
}
