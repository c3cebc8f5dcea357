//! Opening the index, and what a commit carries beside documents: how far it is.

use std::fmt::Write;
use std::io::ErrorKind as IoErrorKind;
use std::path::Path;
use std::sync::Arc;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{
    Document, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, TantivyError,
};

use super::FullTextOptions;
use super::analysis::ANALYSIS_VERSION;
use super::analysis::tokenizer::TextTokenizer;
use super::directory::{Gate, IndexDirectory};
use super::leftovers;
use super::schema::{Fields, SCHEMA_VERSION, TOKENIZER};
use crate::error::{Error, ErrorKind, Result};

/// Memory that tantivy needs for one thread at least.
const THREAD_BYTES_MIN: usize = 16 * 1024 * 1024;
/// tantivy takes no more than this for one thread.
const THREAD_BYTES_MAX: usize = 2 * 1024 * 1024 * 1024;
/// tantivy has no more threads than this.
const THREADS_MAX: usize = 8;
/// Segments from this many documents on are not merged any more: one merge has a bound.
const MERGED_DOCUMENTS_MAX: usize = 2_000_000;
/// So many segments of one size become one.
const MERGE_FACTOR: usize = 8;
/// Segments of fewer documents count as of one size.
const SMALL_SEGMENT_DOCUMENTS: u32 = 10_000;
/// A segment of which more than this share is deleted is written anew.
const DELETED_SHARE_MAX: f32 = 0.3;
/// What the document store packs together, bytes: the URIs of some fifty documents, all of which are unpacked for one.
const STORE_BLOCK_BYTES: usize = 4 * 1024;
/// Blocks of the document store that one segment keeps unpacked.
const STORE_BLOCKS_CACHED: usize = 64;

/// Goes up when a fault is mended by which the index came to differ from the store: one that was fed before is compared
/// with the store once, and mended. Indexes without this number were fed by programs that may have added documents twice
/// when they were stopped.
pub(super) const FEEDER_VERSION: u32 = 1;
/// An index that is to be compared with the store.
pub(super) const FEEDER_DISTRUSTED: u32 = 0;

/// How far the documents of a commit go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payload {
    /// All changes up to this sequence number are in it.
    pub(super) through: u64,
    /// Whether all resources were looked at since the index was made.
    pub(super) is_complete: bool,
    /// [`FEEDER_VERSION`] of what has fed it.
    pub(super) feeder: u32,
    /// What must be the same for the index to be used.
    pub(super) versions: String,
}

impl Payload {
    pub(super) fn encode(&self) -> String {
        let mut text = String::new();
        let _ = write!(
            text,
            "{} feeder={} through={} complete={}",
            self.versions,
            self.feeder,
            self.through,
            u8::from(self.is_complete)
        );
        text
    }

    pub(super) fn decode(text: &str) -> Option<Payload> {
        let (text, is_complete) = text.rsplit_once(" complete=")?;
        let (versions, through) = text.rsplit_once(" through=")?;
        let is_complete = match is_complete {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        let (versions, feeder) = match versions.rsplit_once(" feeder=") {
            Some((versions, feeder)) => (versions, feeder.parse().ok()?),
            None => (versions, FEEDER_DISTRUSTED),
        };
        let through = through.parse().ok()?;
        Some(Payload { through, is_complete, feeder, versions: versions.to_owned() })
    }
}

/// The versions of all that decides what is in the index.
pub(super) fn versions(options: &FullTextOptions) -> String {
    format!(
        "pressmark schema={SCHEMA_VERSION} analysis={ANALYSIS_VERSION} extraction={}",
        options.extract.version()
    )
}

/// An index that is open.
pub(super) struct OpenIndex {
    pub(super) index: Index,
    pub(super) reader: IndexReader,
    /// `None`: there is no commit yet.
    pub(super) payload: Option<Payload>,
}

/// Why an index could not be opened.
pub(super) enum OpenFault {
    /// It was made in another way, or from another store: it must be thrown away.
    Outdated(String),
    /// It is not what was written: it must be thrown away.
    Damaged(String),
    /// It may be used later.
    Later(Error),
}

/// Opens the index of a folder, or makes it.
pub(super) fn open(
    folder: &Path,
    fields: &Fields,
    versions: &str,
    gate: &Arc<Gate>,
) -> Result<OpenIndex, OpenFault> {
    crate::data_dir::make_private(folder)
        .map_err(|source| OpenFault::Later(folder_error(folder, source)))?;
    let opened = open_or_create(folder, fields, gate).map_err(|source| {
        if is_of_another_version(&source) {
            OpenFault::Outdated(source.to_string())
        } else if is_useless(&source) {
            OpenFault::Damaged(source.to_string())
        } else {
            OpenFault::Later(failed("opened", source))
        }
    })?;
    match &opened.payload {
        Some(payload) if payload.versions != versions => {
            Err(OpenFault::Outdated(format!("it is of another version ({})", payload.versions)))
        }
        None if opened.reader.searcher().num_docs() > 0 => {
            Err(OpenFault::Damaged("it does not say how far it is".to_owned()))
        }
        _ => Ok(opened),
    }
}

fn open_or_create(folder: &Path, fields: &Fields, gate: &Arc<Gate>) -> tantivy::Result<OpenIndex> {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(TOKENIZER, TextTokenizer::default());
    let settings = IndexSettings {
        docstore_compress_dedicated_thread: false,
        docstore_blocksize: STORE_BLOCK_BYTES,
        ..IndexSettings::default()
    };
    let index = Index::builder()
        .schema(fields.schema.clone())
        .settings(settings)
        .tokenizers(tokenizers)
        .open_or_create(IndexDirectory::open(folder, gate)?)?;
    leftovers::delete(folder, &index)?;
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .doc_store_cache_num_blocks(STORE_BLOCKS_CACHED)
        .try_into()?;
    // A commit without a readable payload is as good as none; see `open`.
    let payload = index.load_metas()?.payload.as_deref().and_then(Payload::decode);
    Ok(OpenIndex { index, reader, payload })
}

/// Opens the writer. Its threads are as nice as the one that calls. It merges nothing yet, see [`allow_merges`].
pub(super) fn writer<D: Document>(
    index: &Index,
    options: &FullTextOptions,
) -> Result<IndexWriter<D>> {
    let threads = options.threads.clamp(1, THREADS_MAX);
    let memory = (options.memory_bytes / threads).clamp(THREAD_BYTES_MIN, THREAD_BYTES_MAX);
    let writer_options = IndexWriterOptions::builder()
        .num_worker_threads(threads)
        .memory_budget_per_thread(memory)
        .num_merge_threads(1)
        .build();
    let writer =
        index.writer_with_options(writer_options).map_err(|source| failed("opened", source))?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    // A writer numbers its operations from the number of the last commit on, so that the first one has the same. A merge of
    // committed segments that begins before the next commit takes it for one that is in the commit: it passes it over in
    // segments with deletions of that commit, and goes on behind it. A deletion would be lost, so the number goes to nothing.
    writer.run(Vec::new()).map_err(|source| failed("written", source))?;
    Ok(writer)
}

/// From here on segments are merged. Before their files were compared with their checksums they are not: what is merged
/// gets a checksum that is right, whatever was read.
pub(super) fn allow_merges<D: Document>(writer: &IndexWriter<D>) {
    let mut policy = LogMergePolicy::default();
    policy.set_max_docs_before_merge(MERGED_DOCUMENTS_MAX);
    policy.set_min_num_segments(MERGE_FACTOR);
    policy.set_min_layer_size(SMALL_SEGMENT_DOCUMENTS);
    policy.set_del_docs_ratio_before_merge(DELETED_SHARE_MAX);
    writer.set_merge_policy(Box::new(policy));
}

/// Throws the index away.
pub(super) fn discard(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(source) if source.kind() != IoErrorKind::NotFound => Err(folder_error(folder, source)),
        _ => Ok(()),
    }
}

fn folder_error(folder: &Path, source: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, folder.display().to_string(), "the full-text folder cannot be used")
        .with_source(source)
}

/// Faults of an index that another version of the program made.
fn is_of_another_version(error: &TantivyError) -> bool {
    use tantivy::directory::error::OpenReadError;
    matches!(
        error,
        TantivyError::IncompatibleIndex(_)
            | TantivyError::SchemaError(_)
            | TantivyError::MissingPlugin(_)
            | TantivyError::UnexpectedPlugin(_)
            | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_))
    )
}

/// Faults that trying again does not mend.
fn is_useless(error: &TantivyError) -> bool {
    use tantivy::directory::error::OpenReadError;
    match error {
        TantivyError::DataCorruption(_)
        | TantivyError::DeserializeError(_)
        | TantivyError::FieldNotFound(_)
        | TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)) => true,
        // What is read and makes no sense comes as an error of these kinds.
        TantivyError::IoError(source) => {
            matches!(source.kind(), IoErrorKind::InvalidData | IoErrorKind::UnexpectedEof)
        }
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
            matches!(io_error.kind(), IoErrorKind::InvalidData | IoErrorKind::UnexpectedEof)
        }
        _ => is_of_another_version(error),
    }
}

/// An error of tantivy as one of ours.
pub(super) fn failed(what: &str, source: TantivyError) -> Error {
    let kind = if is_useless(&source) { ErrorKind::Corrupt } else { ErrorKind::Io };
    Error::new(kind, "full text", format!("the index could not be {what}")).with_source(source)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tantivy::TantivyDocument;
    use tantivy::collector::DocSetCollector;
    use tantivy::query::AllQuery;
    use tantivy::schema::Value;

    use super::super::extract::AsStored;
    use super::*;

    #[test]
    fn a_payload_comes_back() {
        let payload = |is_complete, feeder| Payload {
            through: 1 << 40,
            is_complete,
            feeder,
            versions: "a b=1 c=2".into(),
        };
        for is_complete in [false, true] {
            let payload = payload(is_complete, FEEDER_VERSION);
            assert_eq!(Payload::decode(&payload.encode()), Some(payload));
        }
        let older = Payload::decode("a b=1 c=2 through=1099511627776 complete=1");
        assert_eq!(older, Some(payload(true, FEEDER_DISTRUSTED)));
        for broken in [
            "",
            "a feeder=x through=1 complete=1",
            "a",
            "a through=1",
            "a through=x complete=1",
            "a through=1 complete=2",
        ] {
            assert_eq!(Payload::decode(broken), None, "{broken}");
        }
    }

    /// The first thing after a start is a deletion in a segment that had deletions in the last commit, and segments are
    /// merged before the next one.
    #[test]
    fn the_first_deletion_after_a_start_is_not_lost_in_a_merge() {
        let folder = tempfile::tempdir().unwrap();
        let fields = Fields::new();
        let options = FullTextOptions {
            memory_bytes: THREAD_BYTES_MIN,
            hit_cache_bytes: 0,
            threads: 1,
            commit_interval: Duration::ZERO,
            extract: Arc::new(AsStored),
        };
        let open = || open_or_create(folder.path(), &fields, &Arc::default()).unwrap();
        let add = |writer: &IndexWriter, uri: &str| {
            let mut document = TantivyDocument::new();
            document.add_text(fields.uri, uri);
            writer.add_document(document).unwrap();
        };
        let mut writer: IndexWriter = writer(&open().index, &options).unwrap();
        for uris in [&["a", "b", "c", "d"][..], &["w", "x", "y"]] {
            uris.iter().for_each(|uri| add(&writer, uri));
            writer.commit().unwrap();
        }
        // More than a third of the second segment is deleted: it is merged with the first.
        writer.delete_term(fields.uri_term("y"));
        add(&writer, "e");
        writer.commit().unwrap();
        drop(writer);
        let mut writer: IndexWriter = super::writer(&open().index, &options).unwrap();
        allow_merges(&writer);
        writer.delete_term(fields.uri_term("x"));
        add(&writer, "f");
        writer.commit().unwrap();
        writer.wait_merging_threads().unwrap();
        let searcher = open().reader.searcher();
        let all = searcher.search(&AllQuery, &DocSetCollector).unwrap();
        let uri = |address| {
            let document: TantivyDocument = searcher.doc(address).unwrap();
            document.get_first(fields.uri).unwrap().as_str().unwrap().to_owned()
        };
        let mut uris: Vec<String> = all.into_iter().map(uri).collect();
        uris.sort_unstable();
        assert_eq!(uris, ["a", "b", "c", "d", "e", "f", "w"]);
        assert!(searcher.segment_readers().len() < 4, "nothing was merged");
    }
}
