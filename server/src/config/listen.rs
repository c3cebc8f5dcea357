//! Where the listeners may listen.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

pub(super) const LISTEN_DEFAULT: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7411);

/// Where the admin plane listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminListen {
    /// At [`AdminListen::DEFAULT_ADDRESS`], or at another port of loopback where a server has that one.
    Default,
    /// At this address.
    At(SocketAddr),
    /// Nowhere.
    Off,
}

impl AdminListen {
    /// Where it is when nobody says it.
    pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7412);
}

/// An address with a port, `auto` or `off`.
///
/// # Errors
///
/// The reason, with the way out.
pub fn parse_admin_listen(text: &str) -> Result<AdminListen, String> {
    match text {
        "auto" => return Ok(AdminListen::Default),
        "off" => return Ok(AdminListen::Off),
        _ => {}
    }
    parse_address(text).map(AdminListen::At)
}

/// An address with a port. Names are not looked up: what they mean could change, `localhost` apart.
///
/// # Errors
///
/// The reason, with the way to write one.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let literal = match text.strip_prefix("localhost:") {
        Some(port) => format!("{}:{port}", Ipv4Addr::LOCALHOST),
        None => text.to_owned(),
    };
    literal.parse().map_err(|_| {
        format!("{text:?} is no address with a port; write one such as \"127.0.0.1:7411\" or \"[::1]:7411\"")
    })
}

/// Whether the MCP endpoint may listen here; for `--listen` as well as for the file.
///
/// # Errors
///
/// The reason: the address is beyond loopback and `unsafe_listen_without_auth` is not set.
pub fn check_listen(address: SocketAddr, unsafe_listen_without_auth: bool) -> Result<(), String> {
    if unsafe_listen_without_auth || address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    Err(format!(
        "{address} is beyond loopback and callers are not authenticated; listen on 127.0.0.1 behind a proxy that \
         authenticates, or set unsafe_listen_without_auth = true"
    ))
}

/// Whether the admin plane may listen there; for `--admin-listen` as well as for the file.
///
/// # Errors
///
/// The reason: the address is beyond loopback, where anyone could write, and callers show no token.
pub fn check_admin_listen(listen: AdminListen, has_token: bool) -> Result<(), String> {
    match listen {
        AdminListen::At(address) if !has_token && !address.ip().to_canonical().is_loopback() => {
            Err(format!(
                "{address} is beyond loopback, where anyone could change resources; use 127.0.0.1, or set \
                 admin_token_file for a token that callers show"
            ))
        }
        AdminListen::At(_) | AdminListen::Default | AdminListen::Off => Ok(()),
    }
}
