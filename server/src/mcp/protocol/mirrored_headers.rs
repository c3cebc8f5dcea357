//! Headers that repeat what the body says (2026-07-28, Streamable HTTP, request metadata).
//!
//! A gateway may decide by the header what we decide by the body: both must say the same.

use std::borrow::Cow;

use hyper::{HeaderMap, StatusCode, header::HeaderName};

use super::params::Params;
use crate::{
    error::{Code, Fault},
    json_rpc::{Request, string},
};

/// `MCP-Protocol-Version`.
pub(super) static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Compares the header of the version with the body of a modern request.
///
/// # Errors
/// -32020 with HTTP 400.
pub(super) fn check_version(header: Option<&str>, body_version: Option<&str>) -> Result<(), Fault> {
    let version = header.ok_or_else(|| missing(&PROTOCOL_VERSION))?;
    // A body without a version is another fault, told by its own check.
    match body_version {
        Some(body) if body != version => Err(differs(&PROTOCOL_VERSION)),
        Some(_) | None => Ok(()),
    }
}

/// Compares the headers of the method and the name with the body of a modern request.
///
/// # Errors
/// -32020 with HTTP 400.
pub(super) fn check_names(
    headers: &HeaderMap,
    request: &Request<'_>,
    params: &Params<'_>,
) -> Result<(), Fault> {
    let method = single(headers, &METHOD)?.ok_or_else(|| missing(&METHOD))?;
    if method != request.method {
        return Err(differs(&METHOD));
    }
    let source = match &*request.method {
        "resources/read" => params.uri,
        "tools/call" | "prompts/get" => params.name,
        _ => return Ok(()),
    };
    let name = single(headers, &NAME)?.ok_or_else(|| missing(&NAME))?;
    let name = decoded(name).ok_or_else(|| {
        mismatch("the header `mcp-name` has no valid base64 of UTF-8 between `=?base64?` and `?=`")
    })?;
    // Where the body has no such string the handler refuses it as the wrong parameter it is.
    match source.and_then(string) {
        Some(value) if value != name => Err(differs(&NAME)),
        Some(_) | None => Ok(()),
    }
}

/// The only value of a header, in visible ASCII.
///
/// # Errors
/// -32020 for several lines and for other bytes: readers would differ about what it says.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Fault> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(mismatch(format!("the header `{name}` is given more than once")));
    }
    match value.to_str() {
        Ok(text) => Ok(Some(text.trim_ascii())),
        Err(_) => Err(mismatch(format!("the header `{name}` has invalid characters"))),
    }
}

/// The value behind the sentinel encoding `=?base64?...?=`, or the value as it stands.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = base64_simd::STANDARD.decode_to_vec(inner).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn missing(name: &HeaderName) -> Fault {
    mismatch(format!("the header `{name}` is missing: it must repeat what the body says"))
}

fn differs(name: &HeaderName) -> Fault {
    mismatch(format!("the header `{name}` does not match the body"))
}

fn mismatch(message: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Code::HeaderMismatch, message).with_status(StatusCode::BAD_REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinel_values_are_decoded_strictly() {
        for (header, value) in [
            ("doc://x", Some("doc://x")),
            ("=?base64?ZG9jOi8vw6k=?=", Some("doc://é")),
            ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", Some("=?base64?literal?=")),
            ("=?base64??=", Some("")),
            ("=?base64?ZG9jOi8vw6k?=", None),
            ("=?base64?ZG9j Oi8v?=", None),
            ("=?base64?/w==?=", None),
            ("=?base64?_w==?=", None),
            ("=?BASE64?eA==?=", Some("=?BASE64?eA==?=")),
            ("=?base64?eA==", Some("=?base64?eA==")),
        ] {
            assert_eq!(decoded(header).as_deref(), value, "{header}");
        }
    }
}
