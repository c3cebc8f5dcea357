//! Parts of a text by the fragments of RFC 5147, cut out of its escaped form. Of a large text only
//! the chunks that hold the part are read.

use crate::contents::{Contents, Found};
use crate::contents_fragment::json_text::{self, TextLength};
use crate::contents_fragment::part::StoredBody;
use crate::error::{Error, ErrorKind, Result};
use crate::fragment::TextRange;
use crate::read::{Hit, ReadRequest, read_chunk, too_large};
use crate::store::View;

/// A text cut out.
pub(crate) struct TextSlice {
    /// `,"mimeType":"…","text":"`.
    pub(crate) head: Vec<u8>,
    /// As JSON string content.
    pub(crate) escaped: Vec<u8>,
    /// Of the whole text.
    pub(crate) total: TextLength,
    pub(crate) chunk_reads: usize,
}

/// Answers a read with a fragment.
pub(crate) fn read(
    view: &View<'_>,
    hit: Hit,
    range: &TextRange,
    request: &ReadRequest<'_>,
) -> Result<Contents> {
    let slice = cut(view, &hit, range, request)?;
    Ok(Contents {
        space: hit.space,
        cache_scope: hit.cache_scope,
        chunk_reads: slice.chunk_reads,
        found: Found::Slice {
            stored_uri: hit.found.stored_uri,
            head: slice.head,
            escaped: slice.escaped,
        },
    })
}

/// Cuts a range out of the first part that is the resource itself.
pub(crate) fn cut(
    view: &View<'_>,
    hit: &Hit,
    range: &TextRange,
    request: &ReadRequest<'_>,
) -> Result<TextSlice> {
    let version = hit.head()?.version;
    let mut slice = None;
    let mut number = 0_u16;
    hit.found.each_part(|part| {
        if slice.is_none() && part.own_uri.is_none() {
            if part.blob {
                return Err(not_a_text(request));
            }
            let pieces = Pieces {
                view,
                uri: &hit.found.stored_uri,
                version,
                part: number,
                body: &part.body,
                total: part.length,
            };
            let (escaped, chunk_reads) =
                pieces.cut(range, request.bytes_max)?.ok_or_else(|| too_large(request, &part))?;
            slice = Some(TextSlice {
                head: part.head.to_vec(),
                escaped,
                total: part.length,
                chunk_reads,
            });
        }
        number = number.saturating_add(1);
        Ok(())
    })?;
    slice.ok_or_else(|| not_a_text(request))
}

pub(crate) fn not_a_text(request: &ReadRequest<'_>) -> Error {
    Error::new(
        ErrorKind::InvalidFragment,
        request.uri,
        "the resource is not a text: only texts are read in parts (`#line=`, `#char=`)",
    )
}

#[derive(Clone, Copy)]
enum Unit {
    Lines,
    Chars,
}

/// The pieces in which a text is stored: one, or its chunks.
struct Pieces<'a> {
    view: &'a View<'a>,
    uri: &'a str,
    version: u64,
    part: u16,
    body: &'a StoredBody<'a>,
    total: TextLength,
}

impl Pieces<'_> {
    /// The escaped text of the range and how many chunks were read; `None`: larger than the bound.
    fn cut(&self, range: &TextRange, bytes_max: usize) -> Result<Option<(Vec<u8>, usize)>> {
        let (unit, start, end) = match range {
            TextRange::Lines { start, end } => (Unit::Lines, *start, *end),
            TextRange::Chars { start, end } => (Unit::Chars, *start, *end),
        };
        let Some((first, skipped)) = self.locate(unit, start) else {
            return Ok(Some((Vec::new(), 0)));
        };
        let last = end.and_then(|end| self.locate(unit, end));
        let last_piece = last.map_or(self.count().saturating_sub(1), |(piece, _)| piece);
        let whole_pieces: usize =
            (first.saturating_add(1)..last_piece).map(|piece| self.bytes(piece)).sum();
        if whole_pieces > bytes_max {
            return Ok(None);
        }
        let mut escaped = Vec::new();
        let mut chunk_reads = 0;
        for piece in first..=last_piece {
            let bytes = self.piece(piece, &mut chunk_reads)?;
            let to = match last {
                Some((last_piece, within)) if last_piece == piece => offset(unit, &bytes, within),
                _ => bytes.len(),
            };
            let from = if piece == first { offset(unit, &bytes, skipped) } else { 0 };
            escaped.extend_from_slice(bytes.get(from..to).unwrap_or_default());
            if escaped.len() > bytes_max {
                return Ok(None);
            }
        }
        Ok(Some((escaped, chunk_reads)))
    }

    /// The piece in which the line or character begins, and how many are before it in that piece.
    /// `None`: the text ends before it.
    fn locate(&self, unit: Unit, wanted: u64) -> Option<(usize, u64)> {
        let mut before = 0;
        for piece in 0..self.count() {
            let length = self.length(piece);
            let here = match unit {
                Unit::Lines => length.line_ends,
                Unit::Chars => length.chars,
            };
            if wanted <= before + here {
                return Some((piece, wanted - before));
            }
            before += here;
        }
        None
    }

    fn count(&self) -> usize {
        match self.body {
            StoredBody::Inline(_) => 1,
            StoredBody::Chunks(chunks) => chunks.len(),
        }
    }

    fn length(&self, piece: usize) -> TextLength {
        match self.body {
            StoredBody::Inline(_) => self.total,
            StoredBody::Chunks(chunks) => {
                chunks.get(piece).map(|chunk| chunk.length).unwrap_or_default()
            }
        }
    }

    fn bytes(&self, piece: usize) -> usize {
        match self.body {
            StoredBody::Inline(bytes) => bytes.len(),
            StoredBody::Chunks(chunks) => chunks.get(piece).map_or(0, |chunk| chunk.bytes),
        }
    }

    fn piece(&self, piece: usize, chunk_reads: &mut usize) -> Result<std::borrow::Cow<'_, [u8]>> {
        match self.body {
            StoredBody::Inline(bytes) => Ok(std::borrow::Cow::Borrowed(bytes)),
            StoredBody::Chunks(_) => {
                *chunk_reads += 1;
                read_chunk(self.view, self.uri, self.version, self.part, piece)
                    .map(std::borrow::Cow::Owned)
            }
        }
    }
}

fn offset(unit: Unit, escaped: &[u8], wanted: u64) -> usize {
    match unit {
        Unit::Lines => json_text::line_offset(escaped, wanted),
        Unit::Chars => json_text::char_offset(escaped, wanted),
    }
}
