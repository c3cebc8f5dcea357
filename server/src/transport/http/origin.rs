//! Host and Origin: what keeps web pages away that reach us by DNS rebinding.

use std::{borrow::Cow, collections::HashSet, net::IpAddr};

use hyper::{
    HeaderMap, StatusCode, Uri, Version,
    header::{HOST, HeaderValue, ORIGIN},
    http::uri::Authority,
};
use parking_lot::Mutex;

use crate::error::quoted;

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) reason: Cow<'static, str>,
    /// The host that is not allowed, where that is the reason.
    pub(super) host: Option<String>,
}

/// Hosts whose refusal was logged: an operator who forgot `allowed_hosts` reads each once, and a client that makes up
/// names does not fill the log.
#[derive(Default)]
pub struct RefusedHosts {
    logged: Mutex<HashSet<String>>,
}

/// Hosts that are logged, over the life of the process.
const LOGGED_HOSTS_MAX: usize = 64;

// === impl RefusedHosts ===

impl RefusedHosts {
    /// Logs the refusal of a host, once for each of the first [`LOGGED_HOSTS_MAX`]; true when it was logged.
    pub(super) fn log(&self, host: &str) -> bool {
        let is_new = {
            let mut logged = self.logged.lock();
            logged.len() < LOGGED_HOSTS_MAX && logged.insert(host.to_ascii_lowercase())
        };
        if is_new {
            tracing::warn!(
                "requests for the host `{host}` are refused: if it is a name of this server, add it to \
                 `allowed_hosts` under [server] in the configuration"
            );
        }
        is_new
    }
}

/// Judges a request's Host (of HTTP/2 its `:authority`) and Origin; gives the Origin back where
/// the request has one, for the answer's CORS headers.
///
/// # Errors
/// 400 where no host can be read, 403 for one that is not allowed.
pub(super) fn check<'a>(
    version: Version,
    uri: &Uri,
    headers: &'a HeaderMap,
    allowed_hosts: &[String],
) -> Result<Option<&'a HeaderValue>, Refused> {
    let mut origins = headers.get_all(ORIGIN).iter();
    let origin = origins.next();
    if origins.next().is_some() {
        return Err(forbidden("the header Origin is given more than once"));
    }
    if let Some(origin) = origin
        && !origin.to_str().is_ok_and(|origin| origin_allowed(origin, allowed_hosts))
    {
        return Err(refused_origin(origin));
    }
    if version == Version::HTTP_11 && uri.authority().is_none() && names_loopback(headers) {
        return Ok(origin);
    }
    let authority = authority(version, uri, headers)?;
    if !host_allowed(authority.host(), allowed_hosts) {
        return Err(refused_host(authority.host()));
    }
    Ok(origin)
}

/// Whether Host is what nearly every client here sends, the loopback address or name with a port: that costs no parsing.
fn names_loopback(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let host = host.as_bytes();
    let port = host.strip_prefix(b"127.0.0.1:").or_else(|| host.strip_prefix(b"localhost:"));
    // Four digits are always a port, and a fifth one may be too much.
    port.is_some_and(|port| (1..=4).contains(&port.len()) && port.iter().all(u8::is_ascii_digit))
}

/// The authority that was asked (RFC 9112 section 3.2, RFC 9113 section 8.3.1).
fn authority(version: Version, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Refused> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(bad_request("the header Host is given more than once"));
    }
    if version == Version::HTTP_11 && host.is_none() {
        return Err(bad_request("the header Host is missing"));
    }
    let named = host.map(|host| host.to_str().ok().and_then(parse));
    match (uri.authority(), named) {
        (Some(authority), None) => parse(authority.as_str()),
        (Some(authority), Some(host)) => {
            // A proxy may have decided by either.
            let same = host.filter(|host| host == authority);
            return same.ok_or_else(|| bad_request("the header Host is not the authority"));
        }
        (None, host) => host.flatten(),
    }
    .ok_or_else(|| bad_request("the header Host is missing or names no host"))
}

/// A host with or without a port, and nothing else: user information is for other schemes.
fn parse(text: &str) -> Option<Authority> {
    let authority = text.parse::<Authority>().ok().filter(|_| !text.contains('@'))?;
    let port = match text.strip_prefix(authority.host())? {
        "" => return Some(authority),
        port => port.strip_prefix(':')?,
    };
    let is_port = port.is_empty()
        || port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    is_port.then_some(authority)
}

fn origin_allowed(origin: &str, allowed_hosts: &[String]) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.and_then(parse).is_some_and(|authority| host_allowed(authority.host(), allowed_hosts))
}

fn host_allowed(host: &str, allowed_hosts: &[String]) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    is_loopback(host) || allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Names the host as it arrived: behind a proxy that need not be what the client sent.
fn refused_host(host: &str) -> Refused {
    let host = quoted(host).into_owned();
    let reason = format!(
        "the Host `{host}` is not allowed: the operator can add it to `allowed_hosts` under [server]"
    );
    Refused { status: StatusCode::FORBIDDEN, reason: reason.into(), host: Some(host) }
}

fn refused_origin(origin: &HeaderValue) -> Refused {
    let reason = format!(
        "the Origin `{}` is not allowed: the operator can add its host to `allowed_hosts` under [server]",
        quoted(origin.to_str().unwrap_or("(not ASCII)"))
    );
    forbidden(reason)
}

fn forbidden(reason: impl Into<Cow<'static, str>>) -> Refused {
    Refused { status: StatusCode::FORBIDDEN, reason: reason.into(), host: None }
}

fn bad_request(reason: &'static str) -> Refused {
    Refused { status: StatusCode::BAD_REQUEST, reason: reason.into(), host: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(version: Version, uri: &str, lines: &[(&str, &str)]) -> u16 {
        let headers = lines
            .iter()
            .map(|(name, value)| {
                (name.parse::<hyper::header::HeaderName>().unwrap(), value.parse().unwrap())
            })
            .collect();
        let allowed = ["docs.example.com".to_owned()];
        match check(version, &uri.parse().unwrap(), &headers, &allowed) {
            Ok(_) => 200,
            Err(refused) => refused.status.as_u16(),
        }
    }

    #[test]
    fn hosts() {
        for (host, expected) in [
            ("localhost", 200),
            ("LOCALHOST:7411", 200),
            ("localhost.", 200),
            ("127.0.0.1:7411", 200),
            ("127.9.9.9", 200),
            ("[::1]:7411", 200),
            ("docs.example.com:8443", 200),
            ("evil.example", 403),
            ("localhost.evil.example", 403),
            ("docs.example.com.evil.example", 403),
            ("localhost@evil.example", 400),
            ("evil@localhost", 400),
            ("@localhost", 400),
            ("localhost:", 200),
            ("localhost:65535", 200),
            ("localhost:65536", 400),
            ("localhost:+80", 400),
            ("localhost:http", 400),
            ("10.0.0.1", 403),
            ("", 400),
            ("a b", 400),
        ] {
            assert_eq!(status(Version::HTTP_11, "/mcp", &[("host", host)]), expected, "{host}");
        }
    }

    #[test]
    fn a_host_is_needed_once_and_an_authority_counts() {
        for (version, uri, lines, expected) in [
            (Version::HTTP_11, "/mcp", &[][..], 400),
            (Version::HTTP_11, "/mcp", &[("host", "localhost"), ("host", "localhost")], 400),
            (Version::HTTP_11, "http://evil.example/mcp", &[("host", "localhost")], 400),
            (Version::HTTP_11, "http://localhost/mcp", &[("host", "evil.example")], 400),
            (Version::HTTP_11, "http://localhost/mcp", &[("host", "LOCALHOST")], 200),
            (Version::HTTP_2, "http://localhost/mcp", &[], 200),
            (Version::HTTP_2, "http://evil.example/mcp", &[], 403),
            (Version::HTTP_2, "http://evil@localhost/mcp", &[], 400),
            (Version::HTTP_2, "http://evil.example/mcp", &[("host", "localhost")], 400),
            (Version::HTTP_2, "http://localhost/mcp", &[("host", "evil.example")], 400),
            (Version::HTTP_2, "http://localhost:1/mcp", &[("host", "localhost:2")], 400),
        ] {
            assert_eq!(status(version, uri, lines), expected, "{uri} {lines:?}");
        }
    }

    #[test]
    fn a_refused_host_is_named_with_the_way_out_and_logged_once() {
        let headers = HeaderMap::from_iter([(HOST, "docs.example.org:8443".parse().unwrap())]);
        let refused = check(Version::HTTP_11, &"/mcp".parse().unwrap(), &headers, &[]).unwrap_err();
        for part in ["docs.example.org", "`allowed_hosts`"] {
            assert!(refused.reason.contains(part), "{}", refused.reason);
        }
        let host = refused.host.unwrap();
        assert_eq!(host, "docs.example.org");
        let hosts = RefusedHosts::default();
        assert_eq!(
            ["docs.example.org", "DOCS.example.org"].map(|host| hosts.log(host)),
            [true, false]
        );
        let logged = (0..1_000).filter(|number| hosts.log(&format!("made-up-{number}"))).count();
        assert_eq!(logged, LOGGED_HOSTS_MAX - 1);
    }

    #[test]
    fn origins() {
        for (origin, expected) in [
            ("http://localhost:6274", 200),
            ("https://docs.example.com", 200),
            ("http://[::1]:80", 200),
            ("https://evil.example", 403),
            ("http://localhost.evil.example", 403),
            ("null", 403),
            ("", 403),
            ("file://localhost", 403),
            ("http://evil@localhost", 403),
            ("http://localhost:99999", 403),
            ("http://localhost/path", 403),
        ] {
            let lines = [("host", "localhost"), ("origin", origin)];
            assert_eq!(status(Version::HTTP_11, "/mcp", &lines), expected, "{origin}");
        }
    }
}
