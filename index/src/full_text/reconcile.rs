//! Makes the index what the store is, whatever is in it: all URIs of both are gone through side by side.
//!
//! What was changed after the beginning is left to the change log, which is followed meanwhile.

use std::collections::HashMap;
use std::time::Instant;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Searcher, TERMINATED};

use super::check::is_gone_since;
use super::commit::failed;
use super::feeder::Fault;
use super::follow::BATCH_TIME_MAX;
use super::schema::{Fields, column};
use super::session::Session;
use super::state::Rebuilding;
use crate::error::{Error, Result};
use crate::shared::Shared;
use crate::store::codec::Reader;
use crate::store::value::Head;
use crate::store::{Cf, View};

/// Resources that are looked at in one go.
const RESOURCES_PER_STEP: usize = 1_000;

/// What for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The index is made: nobody knows what is in it.
    Make,
    /// The index is whole, as far as it says itself: what differs is a fault that is mended.
    Mend,
}

/// How far it is.
pub(super) struct Reconcile {
    pub(super) purpose: Purpose,
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
    pub(super) fn new(purpose: Purpose, until: u64, searcher: Searcher) -> Reconcile {
        Reconcile { purpose, until, searcher, after: Vec::new(), looked_at: 0 }
    }

    pub(super) fn progress(&self, shared: &Shared) -> Rebuilding {
        let catalog = shared.catalog();
        let all: u64 = catalog.everything().map(|space| space.resource_count()).sum();
        Rebuilding { share: share(self.looked_at, all) }
    }

    /// Looks at the next resources, for a bounded time; false: those were the last.
    pub(super) fn step(&mut self, session: &mut Session<'_>) -> Result<bool, Fault> {
        let store = session.shared.store();
        let view = store.view();
        let slice = next_slice(&view, &self.after)?;
        // Versions that the index has of each resource.
        let mut indexed: HashMap<Vec<u8>, Vec<u64>> = HashMap::new();
        let fields = &session.full_text.fields;
        each_indexed(&self.searcher, fields, &self.after, &slice, &mut |uri, version| {
            indexed.entry(uri.to_vec()).or_default().push(version);
            true
        })?;
        let mut lacking = Vec::new();
        for uri in &slice.uris {
            let versions = indexed.remove(uri).unwrap_or_default();
            // Those that were changed later are left to the log.
            let stored = slice.resources.get(uri).filter(|stored| stored.sequence <= self.until);
            let (Some(stored), Ok(uri)) = (stored, std::str::from_utf8(uri)) else { continue };
            if versions != [stored.version] {
                if !versions.is_empty() {
                    session.delete(uri);
                }
                lacking.push((uri, *stored, versions));
            }
        }
        let uris: Vec<&str> = lacking.iter().map(|(uri, ..)| *uri).collect();
        let added = session.add(&uris, self.until, Instant::now() + BATCH_TIME_MAX)?;
        // The next step begins with what this one did not come to.
        let next = uris.get(added.len()).map(|uri| uri.as_bytes());
        let is_done = |uri: &[u8]| next.is_none_or(|next| uri < next);
        for (uri, stored, versions) in lacking.iter().filter(|(uri, ..)| is_done(uri.as_bytes())) {
            self.note(session, || differs(uri, Some(*stored), versions));
        }
        for (uri, versions) in indexed.iter().filter(|(uri, _)| is_done(uri)) {
            let Ok(text) = std::str::from_utf8(uri) else { continue };
            session.delete(text);
            session.is_dirty = true;
            if !is_gone_since(&view, uri, self.until)? {
                self.note(session, || differs(text, None, versions));
            }
        }
        let done = slice.uris.partition_point(|uri| is_done(uri));
        self.looked_at += u64::try_from(done).unwrap_or(0);
        if next.is_none() {
            let Some(last) = slice.last else { return Ok(false) };
            self.after = last;
        } else if let Some(last) = done.checked_sub(1).and_then(|at| slice.uris.get(at)) {
            self.after.clone_from(last);
        }
        Ok(true)
    }

    fn note(&self, session: &mut Session<'_>, fault: impl FnOnce() -> String) {
        if self.purpose == Purpose::Mend {
            session.mended.add(fault);
        }
    }
}

/// What is wrong about a resource.
pub(super) fn differs(uri: &str, stored: Option<Stored>, versions: &[u64]) -> String {
    let version = |version: u64| format!("version {version}");
    let wanted = stored.map_or("no such resource".to_owned(), |stored| version(stored.version));
    let found = match versions {
        [] => "nothing".to_owned(),
        [one] => version(*one),
        several => {
            let several: Vec<String> = several.iter().map(u64::to_string).collect();
            format!("{} documents of versions {}", several.len(), several.join(", "))
        }
    };
    format!("{uri}: the store has {wanted}, the index has {found}")
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
