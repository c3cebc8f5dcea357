//! What a host that knows only tools reads: the text of a resource, or of a folder's listing, decoded
//! and cut to a window.

use crate::access::Access;
use crate::contents::{Contents, FolderEntry, Found};
use crate::contents_fragment::descriptor::Descriptor;
use crate::contents_fragment::json_text;
use crate::error::{Error, ErrorKind, Result};
use crate::fragment::{self, TextRange};
use crate::read::{Hit, ReadRequest, Tier, not_found};
use crate::resource::UnixMillis;
use crate::resource_uri;
use crate::shared::Shared;
use crate::space::CacheScope;
use crate::store::codec::Reader;
use crate::store::value::Head;
use crate::store::{Cf, View};
use crate::{folder, slice};

/// A window of a text, as asked.
#[derive(Debug, Clone, Copy)]
pub struct TextRequest<'a> {
    /// The resource; a fragment is not needed and taken off.
    pub uri: &'a str,
    /// What the caller may see.
    pub access: &'a Access,
    /// Where the window begins, in code points.
    pub offset: u64,
    /// How many code points it holds at most.
    pub limit: u64,
}

/// Encoded bytes of a window: no character takes more than six in JSON.
const BYTES_PER_CHAR: u64 = 6;

/// A window of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedText {
    /// The stored URI.
    pub uri: String,
    /// Title, or name.
    pub title: String,
    /// The window, decoded.
    pub text: String,
    /// The resource's MIME type.
    pub mime_type: Option<String>,
    /// Bytes of the raw content.
    pub size: Option<u64>,
    /// `lastModified` as the record gave it.
    pub last_modified: Option<UnixMillis>,
    /// Name of the space.
    pub space: String,
    /// Code points of the whole text.
    pub total_chars: u64,
    /// Where the next window begins; `None`: this one reached the end.
    pub next_offset: Option<u64>,
    /// Whether the reply may be shared.
    pub cache_scope: CacheScope,
}

impl Shared {
    pub(crate) fn fetch_text(&self, request: &TextRequest<'_>) -> Result<FetchedText> {
        let uri = resource_uri::normalise(request.uri)?;
        let store = self.store();
        let view = store.view();
        let catalog = self.catalog();
        let read = ReadRequest {
            uri: request.uri,
            access: request.access,
            bytes_max: usize::try_from(request.limit.saturating_mul(BYTES_PER_CHAR))
                .unwrap_or(usize::MAX),
            tier: Tier::Disk,
        };
        let mut hit = self.look_up(&view, &catalog, &uri, request.access)?;
        if hit.is_none()
            && let (base, Some(_)) = fragment::split(&uri)
        {
            hit = self.look_up(&view, &catalog, base, request.access)?;
        }
        match hit {
            Some(hit) => text_of(&view, &hit, request, &read),
            None => folder::read(self, &view, &catalog, &uri, &read)?
                .map(|listing| folder_text(&uri, listing, request))
                .ok_or_else(|| not_found(request.uri)),
        }
    }
}

fn text_of(
    view: &View<'_>,
    hit: &Hit,
    request: &TextRequest<'_>,
    read: &ReadRequest<'_>,
) -> Result<FetchedText> {
    let stored = view.get(Cf::Descriptors, hit.uri.as_bytes())?.ok_or_else(|| {
        Error::new(
            ErrorKind::Corrupt,
            &hit.uri,
            "its descriptor is missing; run `pressmark verify`",
        )
    })?;
    let descriptor = Descriptor::from_stored(stored.to_vec())?;
    let head = Head::read(&mut Reader::new(&hit.value, "contents value"))?;
    let end = request.offset.saturating_add(request.limit);
    let range = TextRange::Chars { start: request.offset, end: Some(end) };
    let (text, total_chars) = match slice::cut(view, hit, &range, read) {
        Ok(slice) => {
            let text = json_text::unescape(&slice.escaped).ok_or_else(|| {
                Error::new(
                    ErrorKind::Corrupt,
                    &hit.uri,
                    "its stored text is not JSON string content",
                )
            })?;
            (text, slice.total.chars)
        }
        Err(error) if error.kind() == ErrorKind::InvalidFragment => binary_text(&descriptor),
        Err(error) => return Err(error),
    };
    Ok(FetchedText {
        uri: hit.uri.clone(),
        title: descriptor.title().or_else(|| descriptor.name()).unwrap_or_default(),
        text,
        mime_type: descriptor.mime_type(),
        size: descriptor.size(),
        last_modified: Some(head.order.modified).filter(|modified| *modified != 0),
        space: hit.space.settings.name.clone(),
        total_chars,
        next_offset: Some(end).filter(|end| *end < total_chars),
        cache_scope: hit.cache_scope,
    })
}

/// What is said in place of the text of a binary.
fn binary_text(descriptor: &Descriptor) -> (String, u64) {
    let mime_type = descriptor.mime_type().unwrap_or_else(|| "application/octet-stream".to_owned());
    let size = descriptor.size().map(|size| format!(", {size} bytes")).unwrap_or_default();
    let text = format!("(binary content: {mime_type}{size}; read it with resources/read)");
    let chars = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    (text, chars)
}

fn folder_text(uri: &str, listing: Contents, request: &TextRequest<'_>) -> FetchedText {
    let (entries, truncated) = match listing.found {
        Found::Folder { entries, truncated } => (entries, truncated),
        Found::Resource(_) | Found::Slice { .. } => (Vec::new(), false),
    };
    let mut whole: String = entries.iter().map(entry_line).collect();
    if truncated {
        whole.push_str("(more entries are not shown)\n");
    }
    let total_chars = u64::try_from(whole.chars().count()).unwrap_or(u64::MAX);
    let end = request.offset.saturating_add(request.limit);
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    FetchedText {
        uri: uri.to_owned(),
        title: resource_uri::last_segment(uri),
        text: whole.chars().skip(count(request.offset)).take(count(request.limit)).collect(),
        mime_type: Some(crate::contents_fragment::descriptor::FOLDER_MIME_TYPE.to_owned()),
        size: None,
        last_modified: None,
        space: listing.space.settings.name.clone(),
        total_chars,
        next_offset: Some(end).filter(|end| *end < total_chars),
        cache_scope: listing.cache_scope,
    }
}

fn entry_line(entry: &FolderEntry) -> String {
    if entry.line.is_empty() {
        format!("- {}\n", entry.uri)
    } else {
        format!("- {} ({})\n", entry.uri, entry.line)
    }
}
