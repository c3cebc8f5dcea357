//! `pressmark load`: records from NDJSON files into a space.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pressmark_index::engine::Engine;
use pressmark_index::mutation::{Mutation, Outcome};

use super::open::{open, setup};
use super::{Common, EXIT_PARTLY, chain, say};
use crate::records;

/// A line longer than this is refused; the largest resource, escaped at its worst, fits.
const LINE_BYTES_MAX: u64 = 512 << 20;
/// A batch is committed when it holds this many records ...
const BATCH_RECORDS_MAX: usize = 1_000;
/// ... or was read from this many bytes.
const BATCH_BYTES_MAX: usize = 8 << 20;

pub(super) fn run(common: &Common, space: &str, files: &[PathBuf]) -> Result<ExitCode, String> {
    let setup = setup(common, &[])?;
    let engine = open(&setup, "load")?;
    if engine.spaces().by_name(space).is_none() {
        return Err(format!(
            "there is no space `{space}`: declare it in the configuration as [[space]], or add it with `pressmark space add`"
        ));
    }
    let mut load = Load {
        engine: &engine,
        space,
        batch: Vec::new(),
        batch_bytes: 0,
        counts: Counts::default(),
    };
    for file in files {
        load.file(file)?;
    }
    let counts = load.counts;
    say(&format!(
        "{} records loaded: {} created, {} updated, {} unchanged; {} refused",
        counts.created + counts.updated + counts.unchanged,
        counts.created,
        counts.updated,
        counts.unchanged,
        counts.refused
    ));
    Ok(if counts.refused == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_PARTLY) })
}

#[derive(Default)]
struct Counts {
    created: u64,
    updated: u64,
    unchanged: u64,
    refused: u64,
}

struct Load<'a> {
    engine: &'a Engine,
    space: &'a str,
    /// Records with the line that each came from.
    batch: Vec<(u64, Mutation)>,
    batch_bytes: usize,
    counts: Counts,
}

impl Load<'_> {
    fn file(&mut self, path: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::new(std::io::stdin()))
        } else {
            Box::new(BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?))
        };
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            let read =
                (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 {
                break;
            }
            if u64::try_from(read) == Ok(LINE_BYTES_MAX) && !line.ends_with(b"\n") {
                return Err(format!(
                    "{}:{number}: the line is longer than {LINE_BYTES_MAX} bytes",
                    path.display()
                ));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            match records::parse(&line, self.space) {
                Ok(resource) => self.batch.push((number, Mutation::Put(Box::new(resource)))),
                Err(error) => self.refuse(path, number, &error.to_string()),
            }
            self.batch_bytes += line.len();
            if self.batch.len() >= BATCH_RECORDS_MAX || self.batch_bytes >= BATCH_BYTES_MAX {
                self.commit(path)?;
            }
        }
        self.commit(path)
    }

    fn commit(&mut self, path: &Path) -> Result<(), String> {
        self.batch_bytes = 0;
        let (lines, mutations): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.batch).into_iter().unzip();
        let results = self.engine.commit(mutations).map_err(|error| chain(&error))?;
        for (line, result) in lines.into_iter().zip(results) {
            match result.map(|applied| applied.outcome) {
                Ok(Outcome::Created) => self.counts.created += 1,
                Ok(Outcome::Updated) => self.counts.updated += 1,
                Ok(Outcome::Unchanged | Outcome::Deleted | Outcome::Absent) => {
                    self.counts.unchanged += 1;
                }
                Err(error) => self.refuse(path, line, &chain(&error)),
            }
        }
        Ok(())
    }

    fn refuse(&mut self, path: &Path, line: u64, reason: &str) {
        self.counts.refused += 1;
        say(&format!("{}:{line}: {reason}", path.display()));
    }
}
