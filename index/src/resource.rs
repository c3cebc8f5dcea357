//! What a resource is before it is encoded: plain data, as a source or a loader hands it in.

/// Points in time are milliseconds since 1970-01-01T00:00:00Z.
pub type UnixMillis = i64;

/// One resource with its contents, to be put into a space.
///
/// The fields are those of the resource record in the interfaces: `uri` or variables, `name`,
/// `title`, `description`, `mimeType`, contents, annotations, `size`, `icons`, `_meta`, `pinned`, `acl`.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// The space it belongs to, by name.
    pub space: String,
    /// Where it stands in the space.
    pub address: Address,
    /// `name`; absent: the last segment of the URI.
    pub name: Option<String>,
    /// `title`, for people.
    pub title: Option<String>,
    /// `description`, one or more lines.
    pub description: Option<String>,
    /// `mimeType`; absent: the space's.
    pub mime_type: Option<String>,
    /// One part as a rule; the first is the resource itself unless it names another URI.
    pub contents: Vec<Part>,
    /// `annotations`.
    pub annotations: Annotations,
    /// `size` in bytes of the raw content; absent: measured from the first part.
    pub size: Option<u64>,
    /// `icons`, as the JSON array that goes on the wire.
    pub icons: Option<RawJson>,
    /// `_meta`, as the JSON object that goes on the wire.
    pub meta: Option<RawJson>,
    /// Listed even where a space lists only what is pinned.
    pub pinned: bool,
    /// Group names; `None`: visible to all who may use the space. An empty list: visible to nobody.
    pub acl: Option<Vec<String>>,
    /// Which source it came from and what it looked like there.
    pub source: Option<SourceMark>,
}

impl Resource {
    /// A resource of one text and nothing else.
    pub fn text(
        space: impl Into<String>,
        address: Address,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Resource {
        Resource {
            space: space.into(),
            address,
            name: None,
            title: None,
            description: None,
            mime_type: Some(mime_type.into()),
            contents: vec![Part {
                uri: None,
                mime_type: None,
                meta: None,
                body: Body::Text(text.into()),
            }],
            annotations: Annotations::default(),
            size: None,
            icons: None,
            meta: None,
            pinned: false,
            acl: None,
            source: None,
        }
    }
}

/// How a record says where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// By URI; the space's template must match it.
    Uri(String),
    /// By the template's variables, expanded into a URI.
    Variables(Vec<Binding>),
    /// By both, which must come to the same URI: what the store gives back of a resource has both.
    Both {
        /// As in [`Address::Uri`].
        uri: String,
        /// As in [`Address::Variables`].
        variables: Vec<Binding>,
    },
}

impl Address {
    /// The URI, where it is said.
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Uri(uri) | Self::Both { uri, .. } => Some(uri),
            Self::Variables(_) => None,
        }
    }
}

/// A variable with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The variable's name in the template.
    pub name: String,
    /// Its value.
    pub value: Value,
}

/// The value of a variable (RFC 6570 section 2.3). Strings are decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A string.
    String(String),
    /// A list of strings.
    List(Vec<String>),
    /// Names with values, in their order.
    Map(Vec<(String, String)>),
}

/// One entry of `contents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its own URI; `None`: the resource's.
    pub uri: Option<String>,
    /// Its `mimeType`; `None`: the resource's.
    pub mime_type: Option<String>,
    /// Its `_meta`, as the JSON object that goes on the wire.
    pub meta: Option<RawJson>,
    /// What it holds.
    pub body: Body,
}

/// Text or bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// TextResourceContents.
    Text(String),
    /// BlobResourceContents; encoded as base64 when it is written.
    Blob(Vec<u8>),
}

impl Body {
    /// The raw content's size in bytes.
    pub fn len(&self) -> usize {
        match self {
            Body::Text(text) => text.len(),
            Body::Blob(bytes) => bytes.len(),
        }
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Hints for hosts (`annotations` of the schema).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Annotations {
    /// For whom it is meant.
    pub audience: Vec<Role>,
    /// 0.0 (optional) to 1.0 (required).
    pub priority: Option<f64>,
    /// `lastModified`.
    pub last_modified: Option<UnixMillis>,
}

/// `Role` of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// JSON text that the caller has checked to be valid and compact, one line, of the kind its field asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawJson(pub String);

/// Which source a resource came from and what it looked like there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMark {
    /// The source's id: stable over restarts, e.g. a hash of its folder's path.
    pub source_id: u64,
    /// What tells an unchanged original without reading it, e.g. size, time and inode.
    pub fingerprint: Vec<u8>,
}
