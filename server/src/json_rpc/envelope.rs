//! One message read into an envelope that borrows from the body.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{members::Key, scan};

/// A message with the parts that decide what it is.
#[derive(Debug)]
pub enum Message<'a> {
    /// It wants a reply.
    Request(Request<'a>),
    /// It wants none.
    Notification {
        /// `method`.
        method: Cow<'a, str>,
        /// `params` as they were sent.
        params: Option<&'a RawValue>,
    },
    /// The answer to something that we would have asked.
    Response,
}

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    /// The id as it was spelled: a JSON string or integer.
    pub id: &'a str,
    /// `method`.
    pub method: Cow<'a, str>,
    /// `params` as they were sent.
    pub params: Option<&'a RawValue>,
}

/// Why a text is no message.
#[derive(Debug, PartialEq, Eq)]
pub enum Malformed<'a> {
    /// Not JSON, not UTF-8, or with an escape that is no character: -32700.
    Syntax,
    /// An array, which may be a batch: the caller knows whether one is allowed.
    Batch(&'a str),
    /// JSON that is no JSON-RPC message: -32600.
    Invalid {
        /// The id where one can be read.
        id: Option<&'a str>,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl Malformed<'_> {
    fn invalid(reason: &'static str) -> Self {
        Malformed::Invalid { id: None, reason }
    }
}

/// Reads the message in `body`.
///
/// # Errors
/// [`Malformed`] says which answer the body gets.
pub fn parse(body: &[u8]) -> Result<Message<'_>, Malformed<'_>> {
    let text = std::str::from_utf8(body).map_err(|_| Malformed::Syntax)?;
    if !scan::depth_bounded(text) {
        return Err(Malformed::invalid("the message nests deeper than 128 levels"));
    }
    if !scan::surrogates_paired(text) {
        return Err(Malformed::Syntax);
    }
    parse_element(text)
}

/// Reads the elements of a batch that [`parse`] found; more than `messages_max` are refused.
///
/// # Errors
/// [`Malformed::Syntax`] for what is not JSON, [`Malformed::Invalid`] for an empty or too long batch.
pub fn parse_batch(text: &str, messages_max: usize) -> Result<Vec<&RawValue>, Malformed<'_>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let elements = deserializer
        .deserialize_seq(BatchVisitor { messages_max })
        .map_err(|_| Malformed::Syntax)?;
    if elements.is_empty() {
        return Err(Malformed::invalid("the batch is empty"));
    }
    if elements.len() > messages_max {
        return Err(Malformed::invalid("the batch has too many messages: send fewer at a time"));
    }
    Ok(elements)
}

/// Collects the elements of a batch, one more than the bound at most: the rest is only skipped.
struct BatchVisitor {
    messages_max: usize,
}

impl<'de> Visitor<'de> for BatchVisitor {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while elements.len() <= self.messages_max {
            match seq.next_element()? {
                Some(element) => elements.push(element),
                None => return Ok(elements),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(elements)
    }
}

/// Reads one message from text that the scans have passed.
pub(crate) fn parse_element(text: &str) -> Result<Message<'_>, Malformed<'_>> {
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => {
            let envelope: Envelope<'_> =
                serde_json::from_str(text).map_err(|_| Malformed::Syntax)?;
            envelope.into_message()
        }
        Some(b'[') => match serde_json::from_str::<&RawValue>(text) {
            Ok(batch) => Err(Malformed::Batch(batch.get())),
            Err(_) => Err(Malformed::Syntax),
        },
        _ => match serde_json::from_str::<&RawValue>(text) {
            Ok(_) => Err(Malformed::invalid("a message is a JSON object")),
            Err(_) => Err(Malformed::Syntax),
        },
    }
}

#[derive(Debug, Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// A member was given twice: readers could differ about which one counts.
    duplicate: bool,
    duplicate_id: bool,
}

// === impl Envelope ===

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(Key(key)) = map.next_key()? {
            let member = match &*key {
                "jsonrpc" => &mut envelope.jsonrpc,
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if member.replace(map.next_value()?).is_some() {
                envelope.duplicate = true;
                envelope.duplicate_id |= key == "id";
            }
        }
        Ok(envelope)
    }
}

impl<'a> Envelope<'a> {
    fn into_message(self) -> Result<Message<'a>, Malformed<'a>> {
        let id = self.id.map(RawValue::get).filter(|id| is_id(id) && !self.duplicate_id);
        let invalid = |reason| Malformed::Invalid { id, reason };
        if self.duplicate {
            return Err(invalid("a member of the message is given twice"));
        }
        if self.jsonrpc.and_then(string).as_deref() != Some("2.0") {
            return Err(invalid("`jsonrpc` must be \"2.0\""));
        }
        let Some(method) = self.method else {
            return match (self.result.is_some(), self.error.is_some()) {
                (true, false) | (false, true) => Ok(Message::Response),
                (true, true) => Err(invalid("a response has either `result` or `error`")),
                (false, false) => Err(invalid("`method` is missing")),
            };
        };
        let Some(method) = string(method) else {
            return Err(invalid("`method` must be a string"));
        };
        if self.result.is_some() || self.error.is_some() {
            return Err(invalid("a request has neither `result` nor `error`"));
        }
        match (self.id, id) {
            (None, _) => Ok(Message::Notification { method, params: self.params }),
            (Some(_), Some(id)) => {
                Ok(Message::Request(Request { id, method, params: self.params }))
            }
            (Some(_), None) => Err(invalid("`id` must be a string or an integer")),
        }
    }
}

/// Whether raw JSON is a string or an integer, spelled as one.
pub(crate) fn is_id(raw: &str) -> bool {
    match raw.as_bytes().first() {
        Some(b'"') => true,
        Some(b'-' | b'0'..=b'9') => !raw.contains(['.', 'e', 'E']),
        _ => false,
    }
}

/// The text of a JSON string, borrowed where it has no escapes; `None` for another kind of value.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let quoted = raw.get();
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(quoted).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a body is, in one word and with the id that its answer would carry.
    fn verdict(body: &[u8]) -> String {
        match parse(body) {
            Ok(Message::Request(request)) => format!("request {} {}", request.id, request.method),
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Response) => "response".to_owned(),
            Err(Malformed::Syntax) => "syntax".to_owned(),
            Err(Malformed::Batch(_)) => "batch".to_owned(),
            Err(Malformed::Invalid { id, .. }) => format!("invalid {}", id.unwrap_or("-")),
        }
    }

    #[test]
    fn ids_are_kept_as_they_were_spelled() {
        for id in [
            "1",
            "-1",
            "0",
            "9007199254740993",
            "9223372036854775808",
            "\"1\"",
            "\"\"",
            "\"\\u00e9\"",
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(verdict(body.as_bytes()), format!("request {id} ping"));
        }
        let body = "{\"jsonrpc\":\"2.0\",\"id\":\"é\u{2028}x\",\"method\":\"ping\"}";
        assert_eq!(verdict(body.as_bytes()), "request \"é\u{2028}x\" ping");
    }

    #[test]
    fn ids_of_another_kind_are_invalid() {
        for id in ["1.5", "1e3", "1E3", "null", "true", "{}", "[1]"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(verdict(body.as_bytes()), "invalid -", "{id}");
        }
    }

    #[test]
    fn messages_are_told_apart() {
        for (body, expected) in [
            (r#"{"method":"ping","id":1,"jsonrpc":"2.0"}"#, "request 1 ping"),
            (
                r#" { "jsonrpc" : "2.0" , "id" : 1 , "\u006dethod" : "p\u0069ng" } "#,
                "request 1 ping",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                "notification notifications/initialized",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "response"),
            (r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#, "response"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "invalid 1"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "invalid 1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "invalid 1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#, "invalid 1"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "invalid 1"),
            (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, "invalid 1"),
            (r#"{"id":1,"method":"ping"}"#, "invalid 1"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "invalid -"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}"#, "invalid 1"),
            ("{}", "invalid -"),
            ("7", "invalid -"),
            ("\"x\"", "invalid -"),
            ("[]", "batch"),
            ("[1,2]", "batch"),
            ("", "syntax"),
            ("{", "syntax"),
            ("[1,", "syntax"),
            ("{} {}", "syntax"),
            ("{'a':1}", "syntax"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\uD800"}}"#, "syntax"),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"a\tb\"}}",
                "syntax",
            ),
        ] {
            assert_eq!(verdict(body.as_bytes()), expected, "{body}");
        }
        assert_eq!(verdict(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xFF\",\"method\":\"ping\"}"), "syntax");
        assert_eq!(verdict("[".repeat(100_000).as_bytes()), "invalid -");
    }

    #[test]
    fn batches_are_bounded() {
        assert_eq!(parse_batch("[1,2]", 2).map(|elements| elements.len()), Ok(2));
        assert!(matches!(parse_batch("[1,2,3]", 2), Err(Malformed::Invalid { id: None, .. })));
        assert!(matches!(parse_batch("[]", 2), Err(Malformed::Invalid { id: None, .. })));
    }
}
