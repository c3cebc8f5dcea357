//! A request's body, bounded.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::{
    StatusCode,
    body::{Body, Incoming},
};

use super::responses::{HttpResponse, refusal};

/// Reads the body; a body of one frame, as an ordinary request has it, is not copied.
///
/// # Errors
/// The response: 413 past the bound, 400 for a body that breaks off.
pub(super) async fn read(mut body: Incoming, bytes_max: usize) -> Result<Bytes, HttpResponse> {
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(too_large());
    }
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(refusal(StatusCode::BAD_REQUEST, "the body broke off"));
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len() + rest.len() + data.len() > bytes_max {
            return Err(too_large());
        }
        if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
        if body.is_end_stream() {
            break;
        }
    }
    if rest.is_empty() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(whole.freeze())
}

fn too_large() -> HttpResponse {
    refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than this server takes")
}
