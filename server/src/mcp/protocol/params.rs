//! `params` of a request, cut into the members that some method reads.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::Fault;

/// The members of `params`; each stays as it was sent until its handler reads it.
#[derive(Debug, Default, Deserialize)]
pub struct Params<'a> {
    /// `_meta`.
    #[serde(borrow, rename = "_meta")]
    pub meta: Option<&'a RawValue>,
    /// `uri` of `resources/read`.
    #[serde(borrow)]
    pub uri: Option<&'a RawValue>,
    /// `cursor` of lists.
    #[serde(borrow)]
    pub cursor: Option<&'a RawValue>,
    /// `notifications` of `subscriptions/listen`.
    #[serde(borrow)]
    pub notifications: Option<&'a RawValue>,
    /// `name` of `tools/call`.
    #[serde(borrow)]
    pub name: Option<&'a RawValue>,
    /// `arguments` of `tools/call`.
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
    /// `protocolVersion` of `initialize`.
    #[serde(borrow, rename = "protocolVersion")]
    pub protocol_version: Option<&'a RawValue>,
}

/// The members of a request's `_meta` that decide how it is served.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RequestMeta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(super) protocol_version: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(super) client_capabilities: Option<&'a RawValue>,
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
            Some(raw) => object(raw, "params"),
        }
    }
}

impl Params<'_> {
    /// Whether `_meta` names a revision, as every modern request does.
    ///
    /// # Errors
    /// What is wrong with `_meta`.
    pub fn is_modern(&self) -> Result<bool, Fault> {
        Ok(RequestMeta::read(self.meta)?.protocol_version.is_some())
    }
}

// === impl RequestMeta ===

impl<'a> RequestMeta<'a> {
    pub(super) fn read(meta: Option<&'a RawValue>) -> Result<Self, Fault> {
        match meta {
            None => Ok(Self::default()),
            Some(raw) => object(raw, "_meta"),
        }
    }
}

fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue, name: &'static str) -> Result<T, Fault> {
    if !is_object(raw) {
        return Err(Fault::invalid_params(format!("`{name}` must be an object")));
    }
    // Members are taken unread, so that a repeated one is all that can be wrong here.
    serde_json::from_str(raw.get())
        .map_err(|_| Fault::invalid_request(format!("a member of `{name}` is given twice")))
}

pub(super) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}
