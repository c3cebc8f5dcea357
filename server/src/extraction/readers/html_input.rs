//! HTML on its way into the tokenizer, cut where the tokenizer would recurse.
//!
//! html5gum reads one attribute in double quotes by calling itself for the next: a tag with thousands of them would take
//! all of the stack. After [`ATTRIBUTES_MAX`] the input ends with an error, and the rest of the page is read as if the tag
//! had no attributes.

use std::cell::Cell;

use html5gum::Reader;
use thiserror::Error;

/// Attributes of a tag that are read; pages have a dozen.
const ATTRIBUTES_MAX: usize = 256;

/// A tag has more attributes than are read.
#[derive(Debug, Error)]
#[error("a tag has more than {ATTRIBUTES_MAX} attributes")]
pub(super) struct TooWide;

/// How far a page is read, as the tokenizer's owner sees it.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Bytes of the page that are not read yet.
    left: Cell<usize>,
    /// Values in double quotes since something was emitted.
    values: Cell<usize>,
    /// What was left before the first of them.
    left_at_first: Cell<usize>,
}

/// A page, or what is left of one, with a tag in place of the one that was cut.
pub(super) struct Input<'a> {
    tag: &'a [u8],
    page: &'a [u8],
    progress: &'a Progress,
}

// === impl Progress ===

impl Progress {
    /// The tokenizer has emitted something, and so left what it called.
    pub(super) fn emitted(&self) {
        self.values.set(0);
    }

    /// The tag without attributes in place of the one that is too wide, and the page after that one.
    pub(super) fn after_wide_tag<'a>(&self, page: &'a str) -> (String, &'a str) {
        let at = page.len().saturating_sub(self.left.get());
        let first = page.len().saturating_sub(self.left_at_first.get());
        let before = page.get(..page.floor_char_boundary(first)).unwrap_or_default();
        let name = before.rsplit('<').next().unwrap_or_default();
        let is_end = name.starts_with('/');
        let name = name.trim_start_matches('/');
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
        let tag = if is_end { format!("</{name}>") } else { format!("<{name}>") };
        (tag, page.get(page.ceil_char_boundary(at)..).map(after_value).unwrap_or_default())
    }
}

/// What follows the tag in one of whose values in double quotes `rest` begins.
fn after_value(rest: &str) -> &str {
    let mut quote = Some(b'"');
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return rest.get(at + 1..).unwrap_or_default(),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    ""
}

// === impl Input ===

impl<'a> Input<'a> {
    pub(super) fn new(tag: &'a str, page: &'a str, progress: &'a Progress) -> Self {
        progress.left.set(page.len());
        progress.values.set(0);
        Self { tag: tag.as_bytes(), page: page.as_bytes(), progress }
    }

    fn rest(&self) -> &'a [u8] {
        if self.tag.is_empty() { self.page } else { self.tag }
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.rest().split_at_checked(count).unwrap_or_default();
        if self.tag.is_empty() {
            self.page = rest;
            self.progress.left.set(rest.len());
        } else {
            self.tag = rest;
        }
        taken
    }
}

impl Reader for Input<'_> {
    type Error = TooWide;

    fn read_byte(&mut self) -> Result<Option<u8>, TooWide> {
        Ok(self.take(1.min(self.rest().len())).first().copied())
    }

    fn try_read_string(&mut self, wanted: &[u8], case_sensitive: bool) -> Result<bool, TooWide> {
        let Some(found) = self.rest().get(..wanted.len()) else {
            return Ok(false);
        };
        let is_found = found == wanted || (!case_sensitive && found.eq_ignore_ascii_case(wanted));
        if is_found {
            self.take(wanted.len());
        }
        Ok(is_found)
    }

    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        _: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, TooWide> {
        // Only values in double quotes end at these.
        if needle.starts_with(b"\"&") {
            let values = self.progress.values.get();
            if values == 0 {
                self.progress.left_at_first.set(self.progress.left.get());
            }
            // A value is read in two pieces: itself, and its quotation mark.
            if values > 2 * ATTRIBUTES_MAX && self.tag.is_empty() {
                return Err(TooWide);
            }
            self.progress.values.set(values + 1);
        }
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(None);
        }
        let end = rest.iter().position(|byte| needle.contains(byte)).unwrap_or(rest.len());
        Ok(Some(self.take(end.max(1))))
    }
}
