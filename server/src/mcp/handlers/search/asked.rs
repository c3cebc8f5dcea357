//! The arguments of `search`.

use pressmark_index::{
    full_text::{ModifiedRange, SearchRequest, SearchSort},
    resource::UnixMillis,
};

use super::super::{
    Context,
    arguments::{Argument, Empty, Kind, Value, decode},
};
use super::budget::Ask;
use crate::{error::quoted, moment::moment};

/// Hits of a page without `limit`, and the most.
const LIMIT_DEFAULT: u64 = 10;
const LIMIT_MAX: u64 = 50;

/// Bytes of the results without `max_bytes`: about 5,000 tokens, which leaves room for what is fetched then.
const MAX_BYTES_DEFAULT: u64 = 20_000;
const MAX_BYTES_LEAST: u64 = 1_000;
const MAX_BYTES_MOST: u64 = 200_000;

pub(super) const ARGUMENTS: [Argument; 10] = [
    Argument {
        name: "query",
        kind: Kind::Required { what: "the words to look for", empty: Empty::Value },
        description: "Words, \"phrases\", -word, field:value, prefix*.",
    },
    Argument {
        name: "space",
        kind: Kind::Text,
        description: "Only resources of the space of this name.",
    },
    Argument {
        name: "variables",
        kind: Kind::Texts,
        description: "Only resources whose URI template variables have these values; a value that ends in `/` stands for all beneath it.",
    },
    Argument {
        name: "limit",
        kind: Kind::Integer { least: 1, most: LIMIT_MAX, default: LIMIT_DEFAULT },
        description: "The most results.",
    },
    Argument {
        name: "cursor",
        kind: Kind::Text,
        description: "`nextCursor` of the page before, with the same query and filters.",
    },
    Argument {
        name: "sort",
        kind: Kind::Choice(&["relevance", "recent"]),
        description: "The best results first, or the last modified.",
    },
    Argument {
        name: "mime_type",
        kind: Kind::Checked(media_range),
        description: "Only resources of this MIME type, such as `application/pdf` or `text/*`.",
    },
    Argument {
        name: "modified_after",
        kind: Kind::Text,
        description: "Only resources modified at or after this date or RFC 3339 time.",
    },
    Argument {
        name: "modified_before",
        kind: Kind::Text,
        description: "Only resources modified before this date or RFC 3339 time.",
    },
    Argument {
        name: "max_bytes",
        kind: Kind::Integer {
            least: MAX_BYTES_LEAST,
            most: MAX_BYTES_MOST,
            default: MAX_BYTES_DEFAULT,
        },
        description: "The most bytes of the results as JSON: snippets get shorter to fit, then results fewer.",
    },
];

/// The characters of a type's name beside letters and digits (RFC 6838, section 4.2).
const TYPE_NAME_SIGNS: &[u8] = b"!#$&-^_.+";

/// A MIME type, or all of a kind; any type at all is as if not given, and parameters do not count.
fn media_range(text: &str) -> Result<Option<String>, String> {
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if matches!(essence.as_str(), "*" | "*/*") {
        return Ok(None);
    }
    let is_name = |name: &str| {
        let of_name = |byte: u8| byte.is_ascii_alphanumeric() || TYPE_NAME_SIGNS.contains(&byte);
        !name.is_empty() && name.bytes().all(of_name)
    };
    match essence.split_once('/') {
        Some((kind, subtype)) if is_name(kind) && (subtype == "*" || is_name(subtype)) => {
            Ok(Some(essence))
        }
        _ => Err(format!(
            "`mime_type` is `{}`, which is not a MIME type: write one such as `text/markdown`, or `text/*` for all of a kind",
            quoted(text)
        )),
    }
}

/// The decoded arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SearchArguments {
    pub(super) query: String,
    pub(super) space: Option<String>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) limit: usize,
    pub(super) cursor: Option<String>,
    pub(super) sort: SearchSort,
    pub(super) mime_type: Option<String>,
    pub(super) modified: Option<ModifiedRange>,
    pub(super) max_bytes: usize,
}

// === impl SearchArguments ===

impl SearchArguments {
    /// Decodes an object of arguments.
    ///
    /// # Errors
    /// A text that lets a model correct itself.
    pub(in crate::mcp::handlers) fn read(arguments: &str) -> Result<Self, String> {
        let values = decode("search", &ARGUMENTS, arguments)?;
        let [
            query,
            space,
            variables,
            limit,
            cursor,
            sort,
            mime_type,
            modified_after,
            modified_before,
            max_bytes,
        ] = values;
        let from = moment("modified_after", modified_after.text())?;
        let until = moment("modified_before", modified_before.text())?;
        let modified = (from.is_some() || until.is_some()).then(|| ModifiedRange {
            from: from.unwrap_or(UnixMillis::MIN),
            until: until.unwrap_or(UnixMillis::MAX),
        });
        let size = |value: &Value, default| {
            usize::try_from(value.integer_or(default)).unwrap_or(usize::MAX)
        };
        Ok(Self {
            query: query.text().unwrap_or_default(),
            space: space.text(),
            variables: variables.texts(),
            limit: size(&limit, LIMIT_DEFAULT),
            cursor: cursor.text(),
            sort: match sort.text().as_deref() {
                Some("recent") => SearchSort::Recent,
                _ => SearchSort::Relevance,
            },
            mime_type: mime_type.text(),
            modified,
            max_bytes: size(&max_bytes, MAX_BYTES_DEFAULT),
        })
    }

    pub(super) fn request<'a>(&'a self, context: &'a Context<'_>, ask: &Ask) -> SearchRequest<'a> {
        SearchRequest {
            query: &self.query,
            space: self.space.as_deref(),
            variables: &self.variables,
            mime_type: self.mime_type.as_deref(),
            modified: self.modified,
            sort: self.sort,
            limit: ask.limit,
            cursor: self.cursor.as_deref(),
            snippet_bytes: ask.snippet_bytes,
            after_sequence: None,
            time_max: context.mcp.config.search_time_max,
            access: &context.mcp.access,
        }
    }
}
