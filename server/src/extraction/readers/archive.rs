//! Documents that are ZIP files, read within bounds.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::ExtractFault;
use super::decode::decode;

/// What all parts of a document may inflate to; what comes after is not read. A sheet of a million rows has as much.
const INFLATED_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// What one part may inflate to: more text is taken from no document.
const PART_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Parts that are looked at; books have a thousand.
const PARTS_MAX: usize = 20_000;

/// An open ZIP file, and what may still be inflated of it.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
}

// === impl Archive ===

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ExtractFault> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| ExtractFault::Damaged(format!("no ZIP file: {error}")))?;
        Ok(Self { zip, left: INFLATED_BYTES_MAX })
    }

    /// The names of the parts below `folder` that end in `extension`; those with a number in it in its order.
    pub(super) fn names(&self, folder: &str, extension: &str) -> Vec<String> {
        let names = self.zip.file_names().take(PARTS_MAX).flatten();
        let mut names: Vec<String> = names
            .filter(|name| name.starts_with(folder) && name.ends_with(extension))
            .map(|name| name.into_owned())
            .collect();
        names.sort_by_cached_key(|name| (number(name), name.clone()));
        names
    }

    /// A part as text; `None` where it is not there. A part that is damaged, or larger than what is left, ends early.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let part = self.zip.by_name(name).ok()?;
        let mut bytes = Vec::new();
        // What was inflated before a fault counts.
        let _ = part.take(self.left.min(PART_BYTES_MAX)).read_to_end(&mut bytes);
        self.left = self.left.saturating_sub(bytes.len() as u64);
        // Nearly always it is UTF-8, and not copied.
        Some(match String::from_utf8(bytes) {
            Ok(text) if !text.starts_with('\u{feff}') => text,
            Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
            Err(error) => decode(error.as_bytes(), "").into_owned(),
        })
    }
}

/// The last number in a name: `slide10.xml` comes after `slide9.xml`.
fn number(name: &str) -> u64 {
    let end = name.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
    let head = name.get(..end).unwrap_or_default();
    let digits = head.len() - head.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    head.get(end - digits..).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}
