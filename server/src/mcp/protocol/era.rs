//! Which revision a request speaks, or why that cannot be served.

use std::sync::Arc;

use hyper::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

use super::{
    mirrored_headers,
    params::{Params, is_object},
    revision::Revision,
};
use crate::{
    call_rates::Caller,
    error::{Code, Fault, quoted},
    json_rpc::{Request, string},
    subscriptions::Subscription,
};

/// The way a message came, and what was agreed on that way before.
#[derive(Clone, Copy)]
pub enum Channel<'a> {
    /// Lines of a process or socket.
    Stdio {
        /// What its `initialize` agreed on.
        negotiated: Option<Revision>,
        /// What it watches.
        subscription: Option<&'a Arc<Subscription>>,
    },
    /// One HTTP request.
    Http {
        /// Its headers.
        headers: &'a HeaderMap,
        /// The session that it names.
        session: Session,
        /// What that session watches.
        subscription: Option<&'a Arc<Subscription>>,
        /// Where it came from.
        caller: Caller,
    },
}

/// The session that an HTTP request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    /// It names none.
    Absent,
    /// One that ended or never was.
    Unknown,
    /// One that agreed on this revision.
    Known(Revision),
}

/// The revision of a request whose `params` were cut.
///
/// Checks come in the order in which the specification lets them win: the version in header and
/// body (-32020), whether it is served (-32022), since no other check knows what an unknown one
/// asks for; then the other headers against the body (-32020) and `_meta` (-32602).
///
/// # Errors
/// The fault to answer, with HTTP 400.
pub fn of_request(
    request: &Request<'_>,
    params: &Params<'_>,
    channel: Channel<'_>,
) -> Result<Revision, Fault> {
    let meta = params.meta().map_err(|fault| malformed(fault, channel))?;
    if request.method == "initialize" && meta.protocol_version.is_none() {
        // A client that has not agreed on a revision yet may send any header and any session:
        // its `initialize` settles both.
        return Ok(Revision::LATEST_LEGACY);
    }
    let header = channel.version_header()?;
    if meta.protocol_version.is_none() && !header.is_some_and(names_modern) {
        return legacy(header, channel);
    }
    let body_version = meta.protocol_version.and_then(string);
    if matches!(channel, Channel::Http { .. }) {
        mirrored_headers::check_version(header, body_version.as_deref())?;
    }
    let missing_version = || missing_meta("protocolVersion", "a string");
    let version = body_version.as_deref().or(header.filter(|header| names_modern(header)));
    let revision = modern(version.ok_or_else(missing_version)?)?;
    if let Channel::Http { headers, .. } = channel {
        mirrored_headers::check_names(headers, request, params)?;
    }
    if body_version.is_none() {
        return Err(missing_version());
    }
    if !meta.client_capabilities.is_some_and(is_object) {
        return Err(missing_meta("clientCapabilities", "an object"));
    }
    params.log_level().map_err(|fault| fault.with_status(StatusCode::BAD_REQUEST))?;
    Ok(revision)
}

/// A fault in what would say the revision, `params` or its `_meta`: only a header can say it then.
///
/// A modern request that lacks what it must have is HTTP 400 (2026-07-28, `_meta`); the revisions before
/// answer wrong parameters with 200.
pub fn malformed(fault: Fault, channel: Channel<'_>) -> Fault {
    match channel.version_header() {
        Ok(Some(header)) if names_modern(header) => fault.with_status(StatusCode::BAD_REQUEST),
        Ok(_) => fault,
        Err(header_fault) => header_fault,
    }
}

/// The revision of a message that has no `_meta` of its own: a notification, a response, a batch.
///
/// # Errors
/// The fault to answer, with HTTP 400.
pub fn of_other(channel: Channel<'_>) -> Result<Revision, Fault> {
    let header = channel.version_header()?;
    match header.filter(|header| names_modern(header)) {
        Some(version) => modern(version),
        None => legacy(header, channel),
    }
}

/// What `initialize` is answered with: the asked revision where it is a legacy one that we serve.
///
/// # Errors
/// -32602 without a version.
pub fn negotiate(asked: Option<&RawValue>) -> Result<Revision, Fault> {
    let Some(asked) = asked.and_then(string) else {
        return Err(Fault::invalid_params("`protocolVersion` must be a string"));
    };
    let revision = Revision::parse(&asked).filter(|revision| *revision < Revision::FIRST_MODERN);
    Ok(revision.unwrap_or(Revision::LATEST_LEGACY))
}

fn modern(version: &str) -> Result<Revision, Fault> {
    Revision::MODERN
        .into_iter()
        .find(|revision| revision.name() == version)
        .ok_or_else(|| unsupported(version, &Revision::MODERN))
}

fn legacy(header: Option<&str>, channel: Channel<'_>) -> Result<Revision, Fault> {
    let negotiated = match channel {
        Channel::Stdio { negotiated, .. } => negotiated,
        Channel::Http { session: Session::Absent, .. } => None,
        Channel::Http { session: Session::Known(revision), .. } => Some(revision),
        Channel::Http { session: Session::Unknown, .. } => {
            let fault = Fault::invalid_request("no such session: send `initialize` again");
            return Err(fault.with_status(StatusCode::NOT_FOUND));
        }
    };
    match header {
        Some(name) => Revision::parse(name).ok_or_else(|| unsupported(name, &Revision::ALL)),
        None => Ok(negotiated.unwrap_or(Revision::WITHOUT_HEADER)),
    }
}

/// Whether a header's value is a date not before the first modern revision.
fn names_modern(version: &str) -> bool {
    let is_date =
        version.len() == 10 && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_date && version >= Revision::FIRST_MODERN.name()
}

fn missing_meta(name: &str, kind: &str) -> Fault {
    let message = format!(
        "`params._meta` must have \"io.modelcontextprotocol/{name}\" as {kind} (revision 2026-07-28)"
    );
    Fault::invalid_params(message).with_status(StatusCode::BAD_REQUEST)
}

fn unsupported(requested: &str, supported: &[Revision]) -> Fault {
    let supported: Vec<_> = supported.iter().map(|revision| revision.name()).collect();
    let data = serde_json::json!({ "supported": supported, "requested": quoted(requested) });
    Fault::new(Code::UnsupportedProtocolVersion, "unsupported protocol version")
        .with_data(data.to_string())
        .with_status(StatusCode::BAD_REQUEST)
}

// === impl Channel ===

impl<'a> Channel<'a> {
    /// Who sent the message.
    pub fn caller(&self) -> Caller {
        match self {
            Channel::Stdio { .. } => Caller::Process,
            Channel::Http { caller, .. } => *caller,
        }
    }

    /// What the legacy client behind it watches; none without a session.
    pub fn subscription(&self) -> Option<&'a Arc<Subscription>> {
        match self {
            Channel::Stdio { subscription, .. } | Channel::Http { subscription, .. } => {
                *subscription
            }
        }
    }

    /// Whether the session is known by its id alone: what it watched before is gone.
    pub fn has_only_an_id(&self) -> bool {
        matches!(self, Channel::Http { session: Session::Known(_), subscription: None, .. })
    }

    fn version_header(&self) -> Result<Option<&'a str>, Fault> {
        match self {
            Channel::Stdio { .. } => Ok(None),
            Channel::Http { headers, .. } => {
                mirrored_headers::single(headers, &mirrored_headers::PROTOCOL_VERSION)
            }
        }
    }
}
