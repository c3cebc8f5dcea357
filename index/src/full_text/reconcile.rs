//! Makes the index what the store is, whatever is in it: all URIs of both are gone through side by side.
//!
//! What was changed after the beginning is left to the change log, which is followed meanwhile.

use std::collections::HashMap;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Searcher, TERMINATED};

use super::commit::failed;
use super::feeder::Session;
use super::schema::{Fields, column};
use super::state::Rebuilding;
use crate::error::{Error, Result};
use crate::shared::Shared;
use crate::store::codec::Reader;
use crate::store::value::Head;
use crate::store::{Cf, View};

/// Resources that are looked at in one go.
const RESOURCES_PER_STEP: usize = 1_000;

/// How far it is.
pub(super) struct Reconcile {
    /// Resources changed later are left to the log.
    until: u64,
    /// What the index held at the beginning.
    searcher: Searcher,
    /// The last URI that was looked at.
    after: Vec<u8>,
    looked_at: u64,
}

/// A resource as the store has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) version: u64,
    pub(super) sequence: u64,
}

/// A range of URIs with the resources that the store has in it.
pub(super) struct Slice {
    pub(super) resources: HashMap<Vec<u8>, Stored>,
    /// In order.
    pub(super) uris: Vec<Vec<u8>>,
    /// `None`: to the end.
    pub(super) last: Option<Vec<u8>>,
}

impl Reconcile {
    pub(super) fn new(until: u64, searcher: Searcher) -> Reconcile {
        Reconcile { until, searcher, after: Vec::new(), looked_at: 0 }
    }

    pub(super) fn progress(&self, shared: &Shared) -> Rebuilding {
        let catalog = shared.catalog();
        let all: u64 = catalog.everything().map(|space| space.resource_count()).sum();
        Rebuilding { share: share(self.looked_at, all) }
    }

    /// Looks at the next resources; false: those were the last.
    pub(super) fn step(
        &mut self,
        session: &mut Session<'_>,
    ) -> std::result::Result<bool, super::feeder::Fault> {
        let slice = {
            let store = session.shared.store();
            next_slice(&store.view(), &self.after)?
        };
        // How often the index has the version that the store has, and how often another one.
        let mut known: HashMap<&[u8], (u32, u32)> = HashMap::new();
        let fields = &session.full_text.fields;
        each_indexed(&self.searcher, fields, &self.after, &slice, &mut |uri, version| {
            match slice.resources.get_key_value(uri) {
                Some((uri, stored)) => {
                    let counts = known.entry(uri).or_default();
                    if stored.version == version {
                        counts.0 += 1;
                    } else {
                        counts.1 += 1;
                    }
                }
                None => {
                    if let Ok(uri) = std::str::from_utf8(uri) {
                        session.delete(uri);
                    }
                }
            }
            true
        })?;
        let mut lacking = Vec::new();
        for uri in &slice.uris {
            let counts = known.get(uri.as_slice()).copied().unwrap_or_default();
            let stored = slice.resources.get(uri);
            let is_mine = stored.is_some_and(|stored| stored.sequence <= self.until);
            let Ok(uri) = std::str::from_utf8(uri) else { continue };
            if is_mine && counts != (1, 0) {
                if counts != (0, 0) {
                    session.delete(uri);
                }
                lacking.push(uri);
            }
        }
        session.add(&lacking, self.until)?;
        self.looked_at += u64::try_from(slice.uris.len()).unwrap_or(0);
        match slice.last {
            Some(last) => {
                self.after = last;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

fn share(part: u64, all: u64) -> f32 {
    if all == 0 { 1.0 } else { (part as f32 / all as f32).min(1.0) }
}

/// The resources after a URI.
pub(super) fn next_slice(view: &View<'_>, after: &[u8]) -> Result<Slice> {
    let mut scan = view.scan(Cf::Contents, b"", after)?;
    let mut slice = Slice { resources: HashMap::new(), uris: Vec::new(), last: None };
    while let Some((uri, value)) = scan.item()? {
        if slice.uris.len() >= RESOURCES_PER_STEP {
            slice.last = slice.uris.last().cloned();
            break;
        }
        if uri > after {
            let head = Head::read(&mut Reader::new(value, "contents value"))?;
            let stored = Stored { version: head.version, sequence: head.sequence };
            slice.resources.insert(uri.to_vec(), stored);
            slice.uris.push(uri.to_vec());
        }
        scan.advance();
    }
    Ok(slice)
}

/// Calls `visit` with every document whose URI is in the range of the slice, and with its version, until that says no.
pub(super) fn each_indexed(
    searcher: &Searcher,
    fields: &Fields,
    after: &[u8],
    slice: &Slice,
    visit: &mut dyn FnMut(&[u8], u64) -> bool,
) -> Result<()> {
    let read = |source: tantivy::TantivyError| failed("read", source);
    let read_io = |source: std::io::Error| -> Error { failed("read", source.into()) };
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(fields.uri).map_err(read)?;
        let versions = segment.fast_fields().column_first_or_default::<u64>(column::VERSION);
        let versions = versions.map_err(read)?;
        let mut range = index.terms().range().gt(after);
        if let Some(last) = &slice.last {
            range = range.le(last);
        }
        let mut stream = range.into_stream().map_err(read_io)?;
        while stream.advance() {
            let mut postings = index
                .read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)
                .map_err(read_io)?;
            while postings.doc() != TERMINATED {
                if !segment.is_deleted(postings.doc())
                    && !visit(stream.key(), versions.get_val(postings.doc()))
                {
                    return Ok(());
                }
                postings.advance();
            }
        }
    }
    Ok(())
}
