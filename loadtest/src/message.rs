//! Requests of both eras, and what counts as their answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bytes::Bytes;
use clap::ValueEnum;
use http_body_util::Full;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use hyper::http::request::Builder;
use hyper::{Request, Uri};
use serde_json::value::RawValue;

/// How requests are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    /// Revision 2025-11-25, without a session
    Legacy,
    /// Revision 2026-07-28: `_meta` and mirrored headers
    Modern,
}

const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"pressmark-loadtest","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// Writes the requests of a run.
pub(crate) struct Messages {
    endpoint: Uri,
    host: HeaderValue,
    era: Era,
}

impl Messages {
    pub(crate) fn new(target: SocketAddr, path: &str, era: Era) -> Result<Messages, String> {
        let endpoint = path.parse().map_err(|error| format!("--path {path}: {error}"))?;
        let host = HeaderValue::try_from(target.to_string())
            .map_err(|error| format!("{target}: {error}"))?;
        Ok(Messages { endpoint, host, era })
    }

    /// A `resources/read`; `None` for a URI that no header can hold.
    pub(crate) fn resources_read(&self, number: u64, uri: &str) -> Option<Request<Full<Bytes>>> {
        let uri_text = serde_json::to_string(uri).ok()?;
        let mut request = self.request("resources/read");
        if self.era == Era::Modern {
            request = request.header("mcp-name", uri);
        }
        let members = format!(r#""uri":{uri_text}"#);
        request.body(self.body(number, "resources/read", &members)).ok()
    }

    /// A `resources/list` of the page behind a cursor, or of the first one; `None` for what no request can hold.
    pub(crate) fn resources_list(
        &self,
        number: u64,
        cursor: Option<&str>,
    ) -> Option<Request<Full<Bytes>>> {
        let members = match cursor {
            None => String::new(),
            Some(cursor) => format!(r#""cursor":{}"#, serde_json::to_string(cursor).ok()?),
        };
        self.request("resources/list").body(self.body(number, "resources/list", &members)).ok()
    }

    fn body(&self, number: u64, method: &str, members: &str) -> Full<Bytes> {
        let meta = match self.era {
            Era::Legacy => String::new(),
            Era::Modern => format!(r#""_meta":{META}"#),
        };
        let comma = if members.is_empty() || meta.is_empty() { "" } else { "," };
        Full::new(Bytes::from(format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{{{members}{comma}{meta}}}}}"#
        )))
    }

    fn request(&self, method: &str) -> Builder {
        let request = Request::post(self.endpoint.clone())
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        match self.era {
            Era::Legacy => request.header("mcp-protocol-version", "2025-11-25"),
            Era::Modern => {
                request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method)
            }
        }
    }
}

/// Whether the body is a JSON-RPC reply with a result.
pub(crate) fn is_result(body: &[u8]) -> bool {
    let members: Result<BTreeMap<&str, &RawValue>, _> = serde_json::from_slice(body);
    members.is_ok_and(|members| members.contains_key("result") && !members.contains_key("error"))
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn both_eras() {
        for (era, version, mirrored) in
            [(Era::Legacy, "2025-11-25", None), (Era::Modern, "2026-07-28", Some("a://b/c%20d"))]
        {
            let messages = Messages::new("127.0.0.1:1".parse().unwrap(), "/mcp", era).unwrap();
            let request = messages.resources_read(5, "a://b/c%20d").unwrap();
            assert_eq!(request.headers()["mcp-protocol-version"], version);
            let name = request.headers().get("mcp-name").map(|name| name.to_str().unwrap());
            assert_eq!(name, mirrored);
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["id"], 5);
            assert_eq!(body["params"]["uri"], "a://b/c%20d");
            assert_eq!(body["params"]["_meta"].is_object(), era == Era::Modern);
            for cursor in [None, Some("a\"b")] {
                let request = messages.resources_list(6, cursor).unwrap();
                assert!(request.headers().get("mcp-name").is_none());
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(body["method"], "resources/list");
                assert_eq!(body["params"].get("cursor").and_then(|c| c.as_str()), cursor);
                assert_eq!(body["params"]["_meta"].is_object(), era == Era::Modern);
            }
        }
    }

    #[test]
    fn answers() {
        for (body, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[]}}"#, true),
            (r#"{"result":{},"id":1,"jsonrpc":"2.0"}"#, true),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m"}}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"result":"#, false),
            ("", false),
        ] {
            assert_eq!(is_result(body.as_bytes()), expected, "{body}");
        }
    }
}
