//! Where the records of a load go: into a store that this process has opened, or to a server.

use pressmark_index::engine::Engine;
use pressmark_index::mutation::{Applied, Outcome};

use super::lane::Batch;

/// Why a destination takes no more.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// What became of some records of one file.
#[derive(Debug, Default)]
pub struct Tally {
    /// The file's place among the files of the load.
    pub file: usize,
    /// How many records they are.
    pub record_count: usize,
    /// Records of new resources.
    pub created: u64,
    /// Records that took the place of other versions.
    pub updated: u64,
    /// Records that stood there already.
    pub unchanged: u64,
    /// Lines of records that did not go in, with the reason.
    pub refused: Vec<(u64, String)>,
    /// Lines of records that went in, with something that one should know.
    pub warnings: Vec<(u64, String)>,
}

/// Takes batches.
pub trait Destination: Sync {
    /// Commits all batches of a lane in their order, and tells what became of each when it is durable. Several lanes call
    /// at a time.
    ///
    /// # Errors
    /// It takes no more. What was told of stays.
    fn commit_all(
        &self,
        batches: &mut dyn Iterator<Item = Batch>,
        tell: &(dyn Fn(Tally) + Sync),
    ) -> Result<(), Fault>;
}

impl Destination for Engine {
    fn commit_all(
        &self,
        batches: &mut dyn Iterator<Item = Batch>,
        tell: &(dyn Fn(Tally) + Sync),
    ) -> Result<(), Fault> {
        for batch in batches {
            let results = self.commit(batch.mutations)?;
            let mut tally =
                Tally { file: batch.file, record_count: batch.lines.len(), ..Tally::default() };
            for (line, result) in batch.lines.into_iter().zip(results) {
                match result {
                    Ok(applied) => tally.applied(line, applied),
                    Err(error) => tally.refused.push((line, error.to_string())),
                }
            }
            tell(tally);
        }
        Ok(())
    }
}

// === impl Tally ===

impl Tally {
    fn applied(&mut self, line: u64, applied: Applied) {
        let count = match applied.outcome {
            Outcome::Created => &mut self.created,
            Outcome::Updated => &mut self.updated,
            Outcome::Unchanged | Outcome::Deleted | Outcome::Absent => &mut self.unchanged,
        };
        *count += 1;
        self.warnings.extend(applied.warning.map(|text| (line, text)));
    }
}
