//! `params` of a request, cut into the members that some method reads.
//!
//! `_meta`, which every modern request has and which is longer than all else in it, is read in the same pass.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::LogLevel;
use crate::{
    error::Fault,
    json_rpc::{self, Key, is_id, string},
};

/// Bytes of what a client has chosen and each notification repeats: the id of its listen, a token of progress.
const REPEATED_BYTES_MAX: usize = 1024;

/// The members of `params`; each stays as it was sent until its handler reads it.
#[derive(Debug, Default, serde::Deserialize)]
pub struct Params<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Meta<'a>,
    /// `uri` of `resources/read`.
    #[serde(borrow)]
    pub uri: Option<&'a RawValue>,
    /// `cursor` of lists.
    #[serde(borrow)]
    pub cursor: Option<&'a RawValue>,
    /// `notifications` of `subscriptions/listen`.
    #[serde(borrow)]
    pub notifications: Option<&'a RawValue>,
    /// `name` of `tools/call` and `prompts/get`.
    #[serde(borrow)]
    pub name: Option<&'a RawValue>,
    /// `arguments` of `tools/call` and `prompts/get`.
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    /// `ref` of `completion/complete`.
    #[serde(borrow, rename = "ref")]
    pub reference: Option<&'a RawValue>,
    /// `argument` of `completion/complete`.
    #[serde(borrow)]
    pub argument: Option<&'a RawValue>,
    /// `context` of `completion/complete`.
    #[serde(borrow)]
    pub context: Option<&'a RawValue>,
    /// `level` of `logging/setLevel`.
    #[serde(borrow)]
    pub level: Option<&'a RawValue>,
    /// `protocolVersion` of `initialize`.
    #[serde(borrow, rename = "protocolVersion")]
    pub protocol_version: Option<&'a RawValue>,
}

/// `_meta` of a request; what is wrong with it is told when it is asked for.
#[derive(Debug, Default)]
enum Meta<'a> {
    #[default]
    Absent,
    NotAnObject,
    Repeated,
    Members(RequestMeta<'a>),
}

/// The members of a request's `_meta` that decide how it is served.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RequestMeta<'a> {
    pub(super) protocol_version: Option<&'a RawValue>,
    pub(super) client_capabilities: Option<&'a RawValue>,
    progress_token: Option<&'a RawValue>,
    log_level: Option<&'a RawValue>,
}

// === impl Params ===

impl<'a> Params<'a> {
    /// Cuts `params`; absent ones have no members.
    ///
    /// # Errors
    /// -32602 when they are no object, -32600 when a member is given twice.
    pub fn read(params: Option<&'a RawValue>) -> Result<Self, Fault> {
        match params {
            None => Ok(Self::default()),
            Some(raw) if !is_object(raw) => Err(not_an_object("params")),
            Some(raw) => serde_json::from_str(raw.get()).map_err(|error| {
                // Members are taken unread, and the text was read once: a repeated one can be wrong here, and a
                // number that stands for `_meta`.
                if error.is_data() { given_twice("params") } else { not_an_object("_meta") }
            }),
        }
    }
}

impl<'a> Params<'a> {
    /// The members of `_meta`; none where there is no `_meta`.
    ///
    /// # Errors
    /// -32602 when it is no object, -32600 when a member is given twice.
    pub(super) fn meta(&self) -> Result<RequestMeta<'a>, Fault> {
        match &self.meta {
            Meta::Absent => Ok(RequestMeta::default()),
            Meta::NotAnObject => Err(not_an_object("_meta")),
            Meta::Repeated => Err(given_twice("_meta")),
            Meta::Members(members) => Ok(*members),
        }
    }

    /// Whether `_meta` names a revision, as every modern request does.
    ///
    /// # Errors
    /// What is wrong with `_meta`.
    pub fn is_modern(&self) -> Result<bool, Fault> {
        Ok(self.meta()?.protocol_version.is_some())
    }

    /// The token, as JSON, under which the client wants to be told of progress; what is none is as good as absent.
    ///
    /// # Errors
    /// -32602 for one that is too long to stand in each notification.
    pub fn progress_token(&self) -> Result<Option<&'a str>, Fault> {
        let token = self.meta().ok().and_then(|meta| meta.progress_token).map(RawValue::get);
        let token = token.filter(|token| is_id(token));
        token
            .map(|token| check_repeated("`_meta.progressToken`", token).map(|()| token))
            .transpose()
    }

    /// The level from which on a modern client wants log messages of this request.
    ///
    /// # Errors
    /// -32602 for what is no level.
    pub fn log_level(&self) -> Result<Option<LogLevel>, Fault> {
        self.meta()?
            .log_level
            .map(|raw| log_level(Some(raw), "io.modelcontextprotocol/logLevel"))
            .transpose()
    }

    /// The first of these capabilities that a modern client does not declare with its request.
    pub fn undeclared_capability<'b>(&self, wanted: &'b [String]) -> Option<&'b str> {
        let declared = self.meta().ok().and_then(|meta| meta.client_capabilities);
        let declared = declared.and_then(|raw| json_rpc::members(raw.get())).unwrap_or_default();
        let missing = |name: &&String| !declared.iter().any(|(declared, _)| declared == *name);
        wanted.iter().find(missing).map(String::as_str)
    }
}

// === impl Meta ===

impl<'de: 'a, 'a> Deserialize<'de> for Meta<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MetaVisitor)
    }
}

/// Takes any value: only an object says something, and `null` is as good as none.
struct MetaVisitor;

impl<'de> Visitor<'de> for MetaVisitor {
    type Value = Meta<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = RequestMeta::default();
        let mut seen = [false; 4];
        let mut repeated = false;
        while let Some(Key(name)) = map.next_key()? {
            let (at, member) = match &*name {
                "io.modelcontextprotocol/protocolVersion" => (0, &mut members.protocol_version),
                "io.modelcontextprotocol/clientCapabilities" => {
                    (1, &mut members.client_capabilities)
                }
                "progressToken" => (2, &mut members.progress_token),
                "io.modelcontextprotocol/logLevel" => (3, &mut members.log_level),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *member = map.next_value()?;
            repeated |= seen.get_mut(at).is_some_and(|seen| std::mem::replace(seen, true));
        }
        Ok(if repeated { Meta::Repeated } else { Meta::Members(members) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Meta::NotAnObject)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Meta::Absent)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Meta::NotAnObject)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Meta::NotAnObject)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Meta::NotAnObject)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Meta::NotAnObject)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Meta::NotAnObject)
    }
}

/// A level that must be there.
///
/// # Errors
/// -32602 for what is no level.
pub fn log_level(raw: Option<&RawValue>, name: &'static str) -> Result<LogLevel, Fault> {
    let level = raw.and_then(string).and_then(|name| LogLevel::parse(&name));
    level.ok_or_else(|| {
        let levels = LogLevel::ALL.map(LogLevel::name).join(", ");
        Fault::invalid_params(format!("`{name}` must be one of {levels}"))
    })
}

/// Whether what a client has chosen is short enough to stand in each notification of a kind: else a few bytes of a change
/// would become megabytes for each of those who listen.
///
/// # Errors
/// -32602 with `what` it is.
pub(crate) fn check_repeated(what: &str, chosen: &str) -> Result<(), Fault> {
    if chosen.len() <= REPEATED_BYTES_MAX {
        return Ok(());
    }
    Err(Fault::invalid_params(format!(
        "{what} has {} bytes and stands in each notification: at most {REPEATED_BYTES_MAX}",
        chosen.len()
    )))
}

fn not_an_object(name: &'static str) -> Fault {
    Fault::invalid_params(format!("`{name}` must be an object"))
}

fn given_twice(name: &'static str) -> Fault {
    Fault::invalid_request(format!("a member of `{name}` is given twice"))
}

pub(super) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_read_with_the_params() {
        const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
        for (params, expected) in [
            ("{}".to_owned(), "legacy"),
            (r#"{"_meta":null}"#.to_owned(), "legacy"),
            (r#"{"_meta":{}}"#.to_owned(), "legacy"),
            (r#"{"_meta":{"progressToken":[1,{"a":2}]}}"#.to_owned(), "legacy"),
            (format!(r#"{{"_meta":{{{VERSION}}}}}"#), "modern"),
            (format!(r#"{{"_meta":{{"x":1,"x":2,{VERSION}}},"uri":"a:b"}}"#), "modern"),
            (
                r#"{"_meta":{"io.modelcontextprotocol\u002fprotocolVersion":"x"}}"#.to_owned(),
                "modern",
            ),
            (
                format!(r#"{{"_meta":{{{VERSION},{VERSION}}}}}"#),
                "a member of `_meta` is given twice",
            ),
            (r#"{"_meta":{},"_meta":{}}"#.to_owned(), "a member of `params` is given twice"),
            (r#"{"uri":1,"uri":1}"#.to_owned(), "a member of `params` is given twice"),
            (r#"{"_meta":[{},[1]]}"#.to_owned(), "`_meta` must be an object"),
            (r#"{"_meta":"x"}"#.to_owned(), "`_meta` must be an object"),
            (r#"{"_meta":true}"#.to_owned(), "`_meta` must be an object"),
            (r#"{"_meta":-1}"#.to_owned(), "`_meta` must be an object"),
            (r#"{"_meta":1.5}"#.to_owned(), "`_meta` must be an object"),
            (r#"{"_meta":1e999}"#.to_owned(), "`_meta` must be an object"),
            ("[]".to_owned(), "`params` must be an object"),
        ] {
            let raw: &RawValue = serde_json::from_str(&params).unwrap();
            let verdict = Params::read(Some(raw)).and_then(|params| params.is_modern());
            let verdict = match &verdict {
                Ok(true) => "modern",
                Ok(false) => "legacy",
                Err(fault) => &fault.message,
            };
            assert_eq!(verdict, expected, "{params}");
        }
    }
}
