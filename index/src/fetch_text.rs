//! What a host that knows only tools reads: the text of a resource, or of a folder's listing, decoded
//! and cut to a window.

use crate::access::Access;
use crate::contents::{Contents, FolderEntry, Found};
use crate::contents_fragment::descriptor::FOLDER_MIME_TYPE;
use crate::contents_fragment::json_text;
use crate::contents_fragment::part::{StoredBody, StoredPart};
use crate::error::{Error, ErrorKind, Result};
use crate::fragment::{self, TextRange};
use crate::read::{self, Hit, ReadRequest, Tier, not_found};
use crate::resource::UnixMillis;
use crate::resource_uri;
use crate::shared::Shared;
use crate::space::CacheScope;
use crate::store::View;
use crate::{describe, folder, slice};

/// A window of a text, as asked.
#[derive(Debug, Clone, Copy)]
pub struct TextRequest<'a> {
    /// The resource, a part of it (`#line=`, `#char=`), or a folder-like URI.
    pub uri: &'a str,
    /// What the caller may see.
    pub access: &'a Access,
    /// Where the window begins in what the URI means, in code points.
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

/// What must be put together before it is cut to a window (several parts, a range of lines, a listing) is bounded.
const WHOLE_BYTES_MAX: usize = 8 * 1024 * 1024;

impl Shared {
    pub(crate) fn fetch_text(&self, request: &TextRequest<'_>) -> Result<FetchedText> {
        let uri = resource_uri::normalise(request.uri)?;
        let store = self.store();
        let view = store.view();
        let catalog = self.catalog();
        if let Some(hit) = self.look_up(&view, &catalog, &uri, request.access)? {
            return text_of(&view, &hit, None, request);
        }
        if let (base, Some(fragment)) = fragment::split(&uri)
            && let Some(hit) = self.look_up(&view, &catalog, base, request.access)?
        {
            let range = fragment::parse(fragment)?;
            let text = text_of(&view, &hit, Some(range), request)?;
            return Ok(FetchedText { uri: format!("{}#{fragment}", text.uri), ..text });
        }
        if let Some(hit) = self.look_up_with_slash(&view, &catalog, &uri, request.access)? {
            return text_of(&view, &hit, None, request);
        }
        let listing =
            folder::read(self, &view, &catalog, &uri, &bounded(request, WHOLE_BYTES_MAX))?;
        if let Some(listing) = listing {
            return Ok(folder_text(&uri, &listing, request));
        }
        let hit = self.look_up_without_slash(&view, &catalog, &uri, request.access)?;
        text_of(&view, &hit.ok_or_else(|| not_found(request.uri))?, None, request)
    }
}

fn bounded<'a>(request: &TextRequest<'a>, bytes_max: usize) -> ReadRequest<'a> {
    ReadRequest { uri: request.uri, access: request.access, bytes_max, tier: Tier::Disk }
}

fn text_of(
    view: &View<'_>,
    hit: &Hit,
    range: Option<TextRange>,
    request: &TextRequest<'_>,
) -> Result<FetchedText> {
    let uri = &hit.found.stored_uri;
    let descriptor = describe::of_hit(view, hit)?;
    let head = hit.head()?;
    let window = match range {
        None if hit.found.is_one_text()? => char_window(view, hit, 0, None, request)?,
        None => Window::of(&all_parts(view, hit, request)?, request),
        Some(TextRange::Chars { start, end }) => char_window(view, hit, start, end, request)?,
        Some(lines @ TextRange::Lines { .. }) => {
            let slice = slice::cut(view, hit, &lines, &bounded(request, WHOLE_BYTES_MAX))?;
            Window::of(&decoded(uri, &slice.escaped)?, request)
        }
    };
    Ok(FetchedText {
        uri: uri.clone(),
        title: descriptor.title().or_else(|| descriptor.name()).unwrap_or_default(),
        text: window.text,
        mime_type: descriptor.mime_type(),
        size: descriptor.size(),
        last_modified: Some(head.order.modified).filter(|modified| *modified != 0),
        space: hit.space.settings.name.clone(),
        total_chars: window.total_chars,
        next_offset: window.next_offset,
        cache_scope: hit.cache_scope,
    })
}

/// A text cut to what was asked of it.
struct Window {
    text: String,
    total_chars: u64,
    next_offset: Option<u64>,
}

impl Window {
    fn of(whole: &str, request: &TextRequest<'_>) -> Window {
        let total_chars = u64::try_from(whole.chars().count()).unwrap_or(u64::MAX);
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let text = whole.chars().skip(count(request.offset)).take(count(request.limit)).collect();
        Window { text, total_chars, next_offset: next_offset(request, total_chars) }
    }
}

fn next_offset(request: &TextRequest<'_>, total_chars: u64) -> Option<u64> {
    Some(request.offset.saturating_add(request.limit)).filter(|end| *end < total_chars)
}

/// The window of a text of which only the characters from `start` to `end` are meant: only its chunks are read.
fn char_window(
    view: &View<'_>,
    hit: &Hit,
    start: u64,
    end: Option<u64>,
    request: &TextRequest<'_>,
) -> Result<Window> {
    let from = start.saturating_add(request.offset);
    let to = from.saturating_add(request.limit).min(end.unwrap_or(u64::MAX));
    let range = TextRange::Chars { start: from, end: Some(to.max(from)) };
    let bytes_max =
        usize::try_from(request.limit.saturating_mul(BYTES_PER_CHAR)).unwrap_or(usize::MAX);
    let slice = slice::cut(view, hit, &range, &bounded(request, bytes_max))?;
    let total_chars = end.unwrap_or(u64::MAX).min(slice.total.chars).saturating_sub(start);
    let text = decoded(&hit.found.stored_uri, &slice.escaped)?;
    Ok(Window { text, total_chars, next_offset: next_offset(request, total_chars) })
}

/// All parts of a resource as one text: texts as they are, of a binary a line that says what it is.
fn all_parts(view: &View<'_>, hit: &Hit, request: &TextRequest<'_>) -> Result<String> {
    let large_bodies = read::large_bodies(view, hit, &bounded(request, WHOLE_BYTES_MAX))?;
    let mut large_bodies = large_bodies.iter();
    let mut whole = String::new();
    hit.found.each_part(|part| {
        if !whole.is_empty() {
            whole.push_str("\n\n");
        }
        if let Some(own_uri) = part.own_uri {
            whole.push_str(&format!("--- {}\n", decoded("part", own_uri)?));
        }
        let large =
            matches!(part.body, StoredBody::Chunks(_)).then(|| large_bodies.next()).flatten();
        match (&part.body, large) {
            _ if part.blob => whole.push_str(&binary_line(&part)),
            (StoredBody::Inline(escaped), _) => {
                whole.push_str(&decoded(&hit.found.stored_uri, escaped)?);
            }
            (StoredBody::Chunks(_), body) => {
                let escaped = body.map(Vec::as_slice).unwrap_or_default();
                whole.push_str(&decoded(&hit.found.stored_uri, escaped)?);
            }
        }
        Ok(())
    })?;
    Ok(whole)
}

/// What is said in place of the text of a binary.
fn binary_line(part: &StoredPart<'_>) -> String {
    let mime_type = part.mime_type().unwrap_or_else(|| "application/octet-stream".to_owned());
    format!(
        "(binary content: {mime_type}, {} bytes; it cannot be fetched as text: ask `search` for words, whose snippets \
         quote the text in it, if there is any)",
        part.raw_bytes
    )
}

fn decoded(subject: &str, escaped: &[u8]) -> Result<String> {
    json_text::unescape(escaped).ok_or_else(|| {
        Error::new(ErrorKind::Corrupt, subject, "its stored text is not JSON string content")
    })
}

fn folder_text(uri: &str, listing: &Contents, request: &TextRequest<'_>) -> FetchedText {
    let mut whole = String::new();
    if let Found::Folder { entries, truncated } = &listing.found {
        whole.extend(entries.iter().map(entry_line));
        if *truncated {
            whole.push_str("(more entries are not shown)\n");
        }
    }
    let window = Window::of(&whole, request);
    FetchedText {
        uri: uri.to_owned(),
        title: resource_uri::last_segment(uri),
        text: window.text,
        mime_type: Some(FOLDER_MIME_TYPE.to_owned()),
        size: None,
        last_modified: None,
        space: listing.space.settings.name.clone(),
        total_chars: window.total_chars,
        next_offset: window.next_offset,
        cache_scope: listing.cache_scope,
    }
}

fn entry_line(entry: &FolderEntry) -> String {
    format!("- {}\n", entry.text())
}
