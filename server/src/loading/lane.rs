//! Committing lanes: which record is committed where, and in batches of what size.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Resource};
use pressmark_index::resource_uri;
use pressmark_index::uri_template::TemplateMatcher;

/// A batch goes out when it holds this many records ...
const BATCH_RECORDS_MAX: usize = 2_000;
/// ... or was read from this many bytes.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// Batches that wait for a lane; a file's thread waits when there are more.
const QUEUE_BATCHES_MAX: usize = 1;

/// Records of one file for one lane, in the order of the file.
pub struct Batch {
    /// The file's place among the files of the load.
    pub file: usize,
    /// The line of each record.
    pub lines: Vec<u64>,
    /// The records, as puts.
    pub mutations: Vec<Mutation>,
    bytes: usize,
}

/// A lane that has ended since the store takes no more.
#[derive(Debug)]
pub(super) struct LaneClosed;

/// Where batches for the lanes go in.
#[derive(Clone)]
pub(super) struct Lanes(Vec<SyncSender<Batch>>);

/// Distributes the records of one file over the lanes.
///
/// Records of one URI go to one lane, which keeps their order: the last one in the file is the one that stays.
pub(super) struct Router<'a> {
    /// Of the space's template.
    matcher: &'a TemplateMatcher,
    lanes: Lanes,
    /// What is not full yet, for each lane.
    pending: Vec<Batch>,
}

/// Makes `lane_count` lanes; each receiver is for a thread of its own.
pub(super) fn lanes(lane_count: usize) -> (Lanes, Vec<Receiver<Batch>>) {
    let (senders, receivers) = (0..lane_count).map(|_| sync_channel(QUEUE_BATCHES_MAX)).unzip();
    (Lanes(senders), receivers)
}

// === impl Batch ===

impl Batch {
    fn new(file: usize) -> Self {
        Self { file, lines: Vec::new(), mutations: Vec::new(), bytes: 0 }
    }
}

// === impl Router ===

impl<'a> Router<'a> {
    pub(super) fn new(matcher: &'a TemplateMatcher, lanes: Lanes, file: usize) -> Self {
        let pending = lanes.0.iter().map(|_| Batch::new(file)).collect();
        Self { matcher, lanes, pending }
    }

    /// Takes a record that was read from `bytes` bytes; waits while its lane has enough to do.
    pub(super) fn put(
        &mut self,
        line: u64,
        bytes: usize,
        resource: Resource,
    ) -> Result<(), LaneClosed> {
        let at = lane_of(self.matcher, &resource.address, self.pending.len());
        let (Some(batch), Some(lane)) = (self.pending.get_mut(at), self.lanes.0.get(at)) else {
            return Err(LaneClosed);
        };
        batch.lines.push(line);
        batch.mutations.push(Mutation::Put(Box::new(resource)));
        batch.bytes += bytes;
        if batch.lines.len() < BATCH_RECORDS_MAX && batch.bytes < BATCH_BYTES_MAX {
            return Ok(());
        }
        let full = std::mem::replace(batch, Batch::new(batch.file));
        lane.send(full).map_err(|_| LaneClosed)
    }

    /// Hands over what is left.
    pub(super) fn finish(self) -> Result<(), LaneClosed> {
        for (batch, lane) in self.pending.into_iter().zip(&self.lanes.0) {
            if !batch.lines.is_empty() {
                lane.send(batch).map_err(|_| LaneClosed)?;
            }
        }
        Ok(())
    }
}

/// By the URI as it will be stored, however the record spells it. One that will be refused may go anywhere.
fn lane_of(matcher: &TemplateMatcher, address: &Address, lane_count: usize) -> usize {
    let expanded = match address {
        Address::Uri(uri) | Address::Both { uri, .. } => Some(resource_uri::normalise_strict(uri)),
        Address::Variables(bindings) => matcher
            .expand_canonical(&matcher.spread(bindings))
            .ok()
            .map(|uri| resource_uri::normalise_strict(&uri)),
    };
    let Some(Ok(uri)) = expanded else {
        return 0;
    };
    let mut hasher = DefaultHasher::new();
    uri.hash(&mut hasher);
    let lane_count = u64::try_from(lane_count).unwrap_or(1).max(1);
    usize::try_from(hasher.finish() % lane_count).unwrap_or(0)
}
