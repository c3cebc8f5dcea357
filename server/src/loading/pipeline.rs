//! The threads of a load: one for each file that is read, and several that commit.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;

use parking_lot::Mutex;
use pressmark_index::error::{TEXT_BYTES_MAX, shortened};
use pressmark_index::uri_template::TemplateMatcher;

use super::columns::Columns;
use super::delimited::{FIELD_COUNT_MAX, Row, RowRead, RowReader};
use super::destination::{Destination, Fault, Tally};
use super::fields::{RecordError, utf8, wrong};
use super::format::{Dialect, Quoting, RecordFormat};
use super::input::{self, Input};
use super::lane::{Batch, LaneClosed, Lanes, Router, lanes};
use super::lines::{LINE_BYTES_MAX, Line, LineReader};
use super::ndjson;
use super::progress::Progress;
use super::refusals::Refusals;
use crate::config::ColumnMapping;

/// The writer is one thread: more lanes than it can serve only take memory.
const LANES_MAX: usize = 8;
/// Files that are read at a time; each has a batch for each lane in memory.
const FILES_AT_A_TIME_MAX: usize = 4;

/// What is to be loaded.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    /// Files; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// How they are written; `None`: their names say it.
    pub format: Option<RecordFormat>,
    /// Whether fields of CSV and TSV may stand in quotes; `None`: in CSV they may.
    pub quoting: Option<Quoting>,
    /// The byte between fields of CSV and TSV; `None`: comma or tab.
    pub delimiter: Option<u8>,
    /// What the columns of CSV and TSV fill; empty: their headers say it.
    pub columns: Vec<ColumnMapping>,
}

/// The space that is loaded.
#[derive(Debug)]
pub struct LoadSpace {
    /// Its name.
    pub name: String,
    /// Of its template.
    pub matcher: TemplateMatcher,
}

/// What became of the records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadCounts {
    /// Records of new resources.
    pub created: u64,
    /// Records that took the place of other versions.
    pub updated: u64,
    /// Records that stood there already.
    pub unchanged: u64,
    /// Records that did not go in.
    pub refused: u64,
    /// Files that could not be read, or not to their end.
    pub failed_files: u64,
}

/// What the threads of a load share.
struct Load<'a> {
    destination: &'a dyn Destination,
    space: &'a LoadSpace,
    plan: &'a LoadPlan,
    progress: &'a Progress,
    refusals: &'a Refusals<'a>,
    next_file: AtomicUsize,
    counts: Mutex<LoadCounts>,
    /// Why the store takes no more.
    fault: Mutex<Option<Fault>>,
}

/// Why reading a file ended before its end.
enum Interrupted {
    Store(LaneClosed),
    File(String),
}

/// Loads files into a space. Files are read side by side: of two records with one URI in different files
/// either may be the later one. Returns when everything is durable at the store's level.
///
/// # Errors
/// The store takes no more writes; what was loaded until then is counted and stays.
pub fn load(
    destination: &dyn Destination,
    space: &LoadSpace,
    plan: &LoadPlan,
    progress: &Progress,
    refusals: &Refusals<'_>,
) -> (LoadCounts, Result<(), Fault>) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (lanes, receivers) = lanes((cores + 1).min(LANES_MAX));
    let load = Load {
        destination,
        space,
        plan,
        progress,
        refusals,
        next_file: AtomicUsize::new(0),
        counts: Mutex::default(),
        fault: Mutex::new(None),
    };
    let started = thread::scope(|scope| {
        let load = &load;
        // Where a thread cannot be started, those that were end when `lanes` and `receivers` are dropped.
        for receiver in receivers {
            named("pressmark-lane").spawn_scoped(scope, move || load.commit_batches(&receiver))?;
        }
        for _ in 0..plan.files.len().min(cores).min(FILES_AT_A_TIME_MAX) {
            let lanes = lanes.clone();
            named("pressmark-read").spawn_scoped(scope, move || load.read_files(&lanes))?;
        }
        // The lanes end when the last file's thread has dropped its senders.
        drop(lanes);
        Ok(())
    });
    let started = started.map_err(|error: io::Error| {
        Fault::from(format!("load: a thread could not be started: {error}"))
    });
    let loaded = load.fault.into_inner().map_or(started, Err);
    (load.counts.into_inner(), loaded)
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned())
}

// === impl Load ===

impl Load<'_> {
    fn read_files(&self, lanes: &Lanes) {
        loop {
            let at = self.next_file.fetch_add(1, Ordering::Relaxed);
            let Some(path) = self.plan.files.get(at) else { return };
            match self.read_file(at, path, lanes) {
                Ok(()) => {}
                // The lane has said why.
                Err(Interrupted::Store(LaneClosed)) => return,
                Err(Interrupted::File(reason)) => {
                    self.counts.lock().failed_files += 1;
                    self.refusals.file(path, &reason);
                }
            }
        }
    }

    fn read_file(&self, at: usize, path: &Path, lanes: &Lanes) -> Result<(), Interrupted> {
        // What is in the file says more than a name that tells nothing.
        let input = input::open(path, self.progress.bytes_read())?;
        let Some(format) = self.plan.format.or_else(|| RecordFormat::of_name(path)) else {
            return Err(Interrupted::File(
                "the name does not tell the format: say --format ndjson, csv or tsv".to_owned(),
            ));
        };
        let mut router = Router::new(&self.space.matcher, lanes.clone(), at);
        let read = match format {
            RecordFormat::Ndjson => self.read_ndjson(path, input, &mut router),
            RecordFormat::Csv => self.read_rows(path, input, b',', Quoting::Cautious, &mut router),
            RecordFormat::Tsv => self.read_rows(path, input, b'\t', Quoting::None, &mut router),
        };
        // What stands before a fault of the file goes in.
        router.finish()?;
        read
    }

    fn read_ndjson(
        &self,
        path: &Path,
        input: Input,
        router: &mut Router<'_>,
    ) -> Result<(), Interrupted> {
        let space = &self.space.name;
        let mut lines = LineReader::new(input, LINE_BYTES_MAX);
        let mut record_lines = 0_u64;
        loop {
            let before = lines.number();
            let line = lines.next().map_err(|error| broken(before, &error))?;
            let is_whole = match line {
                None if record_lines == 0 => return self.no_record(path),
                None => return Ok(()),
                Some(Line::Whole(line)) if line.trim_ascii().is_empty() => continue,
                Some(Line::Whole(_)) => true,
                Some(Line::TooLong) => false,
            };
            record_lines += 1;
            if record_lines == 1 {
                // A fault behind the line is met again when it is read.
                let next = lines.peek().unwrap_or(None);
                if let Some(reason) = ndjson::not_ndjson(lines.current(), next) {
                    return Err(Interrupted::File(reason.to_owned()));
                }
            }
            let bytes = lines.current().len();
            let record =
                if is_whole { ndjson::parse(lines.current(), space) } else { Err(too_large()) };
            match record {
                Ok(resource) => router.put(lines.number(), bytes, resource)?,
                Err(error) => self.refuse(path, lines.number(), &error),
            }
        }
    }

    fn read_rows(
        &self,
        path: &Path,
        input: Input,
        delimiter: u8,
        quoting: Quoting,
        router: &mut Router<'_>,
    ) -> Result<(), Interrupted> {
        let dialect = Dialect {
            delimiter: self.plan.delimiter.unwrap_or(delimiter),
            quoting: self.plan.quoting.unwrap_or(quoting),
        };
        let mut rows = RowReader::new(input, dialect);
        let mut row = Row::default();
        match rows.next(&mut row)? {
            RowRead::Whole => {}
            RowRead::End => {
                let reason = "there is no header; it holds no record";
                return Err(Interrupted::File(reason.to_owned()));
            }
            RowRead::TooLarge => {
                return Err(Interrupted::File(format!("the header: {}", too_large().reason)));
            }
            RowRead::Malformed(fault) => {
                return Err(Interrupted::File(format!("the header: {fault}")));
            }
        }
        let columns = columns(&row, &self.plan.columns, dialect.delimiter)?;
        let mut is_first = true;
        loop {
            let read = rows.next(&mut row).map_err(|error| broken(rows.line(), &error))?;
            let record = match read {
                RowRead::End if is_first => return self.no_record(path),
                RowRead::End => return Ok(()),
                RowRead::Whole => columns.record(&self.space.name, &row),
                RowRead::TooLarge => Err(too_large()),
                RowRead::Malformed(fault) => wrong("", fault.to_string()),
            };
            match record {
                Ok(resource) => router.put(rows.line(), row.len(), resource)?,
                Err(error) => self.refuse(path, rows.line(), &error),
            }
            is_first = false;
        }
    }

    /// An empty file is no fault, but often a surprise.
    fn no_record(&self, path: &Path) -> Result<(), Interrupted> {
        self.refusals.remark(path, "it holds no record");
        Ok(())
    }

    fn commit_batches(&self, batches: &Receiver<Batch>) {
        let committed =
            self.destination.commit_all(&mut batches.iter(), &|tally| self.tally(tally));
        if let Err(fault) = committed {
            self.fault.lock().get_or_insert(fault);
        }
    }

    fn tally(&self, tally: Tally) {
        let Some(path) = self.plan.files.get(tally.file) else { return };
        {
            let mut all = self.counts.lock();
            all.created += tally.created;
            all.updated += tally.updated;
            all.unchanged += tally.unchanged;
        }
        for (line, reason) in tally.refused {
            self.refuse(path, line, &RecordError { field: String::new(), reason });
        }
        for (line, text) in tally.warnings {
            self.refusals.warning(path, line, &text);
        }
        self.progress.advance(tally.record_count);
    }

    fn refuse(&self, path: &Path, line: u64, error: &RecordError) {
        self.counts.lock().refused += 1;
        self.refusals.record(path, line, error);
    }
}

fn columns(header: &Row, mapping: &[ColumnMapping], delimiter: u8) -> Result<Columns, Interrupted> {
    let names = header
        .fields()
        .map(|name| utf8("the header", name))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Interrupted::File(error.to_string()))?;
    Columns::resolve(&names, mapping).map_err(|reason| {
        Interrupted::File(match other_delimiter(&names, delimiter) {
            Some(other) => format!(
                "the header is `{}`; its fields seem to be separated by `{}`, say --delimiter '{}'",
                shortened(names.first().copied().unwrap_or_default(), TEXT_BYTES_MAX),
                other.escape_ascii(),
                other.escape_ascii()
            ),
            None => reason,
        })
    })
}

/// What else separates the names of a header that looks like one name.
fn other_delimiter(names: &[&str], delimiter: u8) -> Option<u8> {
    let [name] = names else { return None };
    let count = |other: u8| memchr::memchr_iter(other, name.as_bytes()).count();
    [b';', b'\t', b'|', b',']
        .into_iter()
        .filter(|other| *other != delimiter && count(*other) > 0)
        .max_by_key(|other| count(*other))
}

/// A file whose reading failed after a line; what stands before goes in.
fn broken(line: u64, error: &io::Error) -> Interrupted {
    match line {
        0 => Interrupted::File(error.to_string()),
        line => Interrupted::File(format!("after line {line}: {error}")),
    }
}

fn too_large() -> RecordError {
    let reason = format!(
        "the line has more than {LINE_BYTES_MAX} bytes, or more than {FIELD_COUNT_MAX} fields"
    );
    RecordError { field: String::new(), reason }
}

impl From<LaneClosed> for Interrupted {
    fn from(closed: LaneClosed) -> Self {
        Self::Store(closed)
    }
}

impl From<io::Error> for Interrupted {
    fn from(error: io::Error) -> Self {
        Self::File(error.to_string())
    }
}
