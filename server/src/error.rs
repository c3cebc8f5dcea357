//! Faults as clients see them: one table from what went wrong to code, text and HTTP status.
//!
//! What a client is told names its own input and the way out. What only the operator may know
//! (paths, RocksDB's words) goes to the log, once, under the request id that the client is told.

use std::borrow::Cow;

use hyper::StatusCode;
pub use pressmark_index::error::quoted;
use pressmark_index::error::{Error, ErrorKind};
use prometheus_client::encoding::EncodeLabelValue;

use crate::{json_rpc::write, mcp::protocol::Revision};

/// The codes of error replies (JSON-RPC 2.0 section 5.1 and the MCP specification's own).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The body is not JSON.
    ParseError,
    /// The body is no message.
    InvalidRequest,
    /// No such method in the request's revision.
    MethodNotFound,
    /// Parameters that do not fit the method.
    InvalidParams,
    /// Our fault, or too much load.
    Internal,
    /// No such resource, up to revision 2025-11-25.
    ResourceNotFound,
    /// Headers and body disagree, from 2026-07-28.
    HeaderMismatch,
    /// A tool needs what the client has not declared, from 2026-07-28.
    MissingClientCapability,
    /// A revision that is not served.
    UnsupportedProtocolVersion,
}

// === impl Code ===

impl Code {
    /// Every code, in the order of [`Code::index`].
    pub const ALL: [Code; 9] = [
        Code::ParseError,
        Code::InvalidRequest,
        Code::MethodNotFound,
        Code::InvalidParams,
        Code::Internal,
        Code::ResourceNotFound,
        Code::HeaderMismatch,
        Code::MissingClientCapability,
        Code::UnsupportedProtocolVersion,
    ];

    /// The number on the wire.
    pub fn number(self) -> i32 {
        match self {
            Code::ParseError => -32700,
            Code::InvalidRequest => -32600,
            Code::MethodNotFound => -32601,
            Code::InvalidParams => -32602,
            Code::Internal => -32603,
            Code::ResourceNotFound => -32002,
            Code::HeaderMismatch => -32020,
            Code::MissingClientCapability => -32021,
            Code::UnsupportedProtocolVersion => -32022,
        }
    }

    /// A small number for tables.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl EncodeLabelValue for Code {
    fn encode(
        &self,
        encoder: &mut prometheus_client::encoding::LabelValueEncoder<'_>,
    ) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&i64::from(self.number()), encoder)
    }
}

/// A fault that is answered: `error` of the reply and the HTTP status beside it.
#[derive(Debug)]
pub struct Fault {
    /// `code`.
    pub code: Code,
    /// `message`.
    pub message: Cow<'static, str>,
    /// `data`, as JSON.
    pub data: Option<String>,
    /// What HTTP says; stdio has no use for it.
    pub status: StatusCode,
}

// === impl Fault ===

impl Fault {
    /// A fault in an otherwise sound request: its reply is an ordinary one.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None, status: StatusCode::OK }
    }

    /// -32602.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidParams, message)
    }

    /// -32600 with HTTP 400.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, message).with_status(StatusCode::BAD_REQUEST)
    }

    /// -32700 with HTTP 400.
    pub fn parse_error() -> Self {
        Self::new(Code::ParseError, "the message is not JSON in UTF-8")
            .with_status(StatusCode::BAD_REQUEST)
    }

    /// -32603 whose cause is in the log under `request_id`.
    pub fn internal(request_id: u64) -> Self {
        let message = format!("internal error; the server's log has it as request {request_id}");
        Self::new(Code::Internal, message)
    }

    /// The server has as much to do as it takes on: try again.
    pub fn overloaded() -> Self {
        Self::new(Code::Internal, "the server is busy; try again in a second")
            .with_status(StatusCode::SERVICE_UNAVAILABLE)
    }

    /// The request's deadline passed.
    pub fn timed_out() -> Self {
        Self::new(Code::Internal, "the request took too long")
            .with_status(StatusCode::GATEWAY_TIMEOUT)
    }

    /// The same fault with another HTTP status.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same fault with `data`, which must be JSON.
    #[must_use]
    pub fn with_data(self, data: String) -> Self {
        Self { data: Some(data), ..self }
    }

    /// What a client of `revision` is told about an engine's error; logs what it is not told.
    pub fn of_engine(error: &Error, revision: Revision, request_id: u64) -> Self {
        match error.kind() {
            ErrorKind::NotFound => {
                let fault = Self::new(revision.not_found_code(), "resource not found");
                fault.with_data(uri_data(error.subject()))
            }
            ErrorKind::InvalidUri
            | ErrorKind::InvalidFragment
            | ErrorKind::InvalidCursor
            | ErrorKind::LimitExceeded => Self::invalid_params(error.to_string()),
            ErrorKind::Closed => Self::new(Code::Internal, "the server is shutting down")
                .with_status(StatusCode::SERVICE_UNAVAILABLE),
            // No MCP method takes a template or a record: these say that the store is not sound.
            ErrorKind::InvalidTemplate
            | ErrorKind::InvalidRecord
            | ErrorKind::Conflict
            | ErrorKind::VersionMismatch
            | ErrorKind::Corrupt
            | ErrorKind::Io
            | ErrorKind::Poisoned
            | ErrorKind::Locked
            | ErrorKind::UnknownFormat => {
                log_engine_error(error, request_id);
                Self::internal(request_id)
            }
        }
    }

    /// The reply on the wire; without `id` where none could be read.
    pub fn reply(&self, id: Option<&str>) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + self.message.len() + id.map_or(0, str::len));
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
        if let Some(id) = id {
            out.extend_from_slice(b"\"id\":");
            out.extend_from_slice(id.as_bytes());
            out.push(b',');
        }
        out.extend_from_slice(b"\"error\":{\"code\":");
        write::number(self.code.number(), &mut out);
        out.extend_from_slice(b",\"message\":");
        write::string(&self.message, &mut out);
        if let Some(data) = &self.data {
            out.extend_from_slice(b",\"data\":");
            out.extend_from_slice(data.as_bytes());
        }
        out.extend_from_slice(b"}}");
        out
    }
}

/// The URI as it was asked: the engine finds nothing under one that is longer than it takes.
fn uri_data(uri: &str) -> String {
    serde_json::json!({ "uri": uri }).to_string()
}

/// The one place where an engine's error is logged, with its sources.
fn log_engine_error(error: &Error, request_id: u64) {
    let source = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(request_id, kind = ?error.kind(), source, "engine failed: {error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_learn_about_their_input_and_nothing_of_the_store() {
        for (kind, revision, code, says_detail) in [
            (ErrorKind::NotFound, Revision::V2025_11_25, -32002, false),
            (ErrorKind::NotFound, Revision::V2026_07_28, -32602, false),
            (ErrorKind::InvalidUri, Revision::V2025_11_25, -32602, true),
            (ErrorKind::InvalidFragment, Revision::V2026_07_28, -32602, true),
            (ErrorKind::InvalidCursor, Revision::V2026_07_28, -32602, true),
            (ErrorKind::LimitExceeded, Revision::V2026_07_28, -32602, true),
            (ErrorKind::Corrupt, Revision::V2026_07_28, -32603, false),
            (ErrorKind::Io, Revision::V2026_07_28, -32603, false),
            (ErrorKind::Poisoned, Revision::V2026_07_28, -32603, false),
            (ErrorKind::Conflict, Revision::V2026_07_28, -32603, false),
            (ErrorKind::Closed, Revision::V2026_07_28, -32603, false),
        ] {
            let error = Error::new(kind, "doc://x", "/var/secret is broken").with_source("rocksdb");
            let fault = Fault::of_engine(&error, revision, 7);
            let reply = String::from_utf8(fault.reply(Some("1"))).unwrap();
            assert_eq!(fault.code.number(), code, "{kind:?}");
            assert_eq!(reply.contains("/var/secret"), says_detail, "{kind:?}: {reply}");
            assert!(!reply.contains("rocksdb"), "{kind:?}: {reply}");
        }
    }

    #[test]
    fn codes_stand_in_their_table_where_their_index_says() {
        for (at, code) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code.index(), at);
        }
    }

    #[test]
    fn an_error_without_id_has_no_member_for_it() {
        let reply = Fault::parse_error().reply(None);
        let reply: serde_json::Value = serde_json::from_slice(&reply).unwrap();
        assert_eq!(reply.get("id"), None);
        assert_eq!(reply["error"]["code"], -32700);
    }
}
