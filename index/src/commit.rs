//! Commits: mutations are prepared on the caller's thread, wait for the writer, and are answered when they are durable.

use crate::catalog::SpaceCatalog;
use crate::engine::{Engine, mixed_up};
use crate::error::{Error, ErrorKind, Result};
use crate::mutation::{Applied, Mutation};
use crate::prepare;
use crate::resource_uri;
use crate::writer::{Done, Pending, Prepared, Work};

/// One commit carries at most this many mutations.
pub const COMMIT_MUTATIONS_MAX: usize = 100_000;

/// What a commit with an idempotency key came to.
#[derive(Debug)]
pub enum Committed {
    /// It was applied: one result for each mutation.
    Now(Vec<Result<Applied>>),
    /// The key was seen before; nothing was done. That commit made the changes after `before` up to `last`.
    Before {
        /// The last sequence number before that commit.
        before: u64,
        /// Its last sequence number.
        last: u64,
    },
}

/// Mutations that are encoded and checked as far as that is possible without the store: see [`Engine::prepare`].
pub struct PreparedCommit {
    mutations: Vec<Prepared>,
    idempotency_key: Option<Vec<u8>>,
}

/// A commit that waits for the writer, or is being written.
pub struct PendingCommit(Pending);

impl PendingCommit {
    /// Waits until it is durable.
    ///
    /// # Errors
    /// As [`Engine::commit`].
    pub fn wait(self) -> Result<Committed> {
        match self.0.wait()? {
            Done::Mutations(results) => Ok(Committed::Now(results)),
            Done::Replayed { before, last } => Ok(Committed::Before { before, last }),
            Done::Space(_) | Done::Removed(_) | Done::Prompt { .. } => Err(mixed_up()),
        }
    }
}

impl Engine {
    /// Applies mutations in their order, all in one batch; returns when they are durable. One that is
    /// refused leaves no trace and does not keep the others out.
    ///
    /// # Errors
    /// `LimitExceeded` for too many at once, `Poisoned` while writes are refused, `Corrupt`: then none of them was
    /// applied. `Io`: the write failed; whether the mutations are in the store shows when writing works again. Send
    /// them again then: what is there already stays as it is.
    pub fn commit(&self, mutations: Vec<Mutation>) -> Result<Vec<Result<Applied>>> {
        match self.submit(mutations, None)? {
            Committed::Now(results) => Ok(results),
            Committed::Before { .. } => Err(mixed_up()),
        }
    }

    /// The same, but at most once for each key, however often it is sent.
    ///
    /// # Errors
    /// As [`Engine::commit`].
    pub fn commit_once(
        &self,
        idempotency_key: &[u8],
        mutations: Vec<Mutation>,
    ) -> Result<Committed> {
        self.submit(mutations, Some(idempotency_key.to_vec()))
    }

    fn submit(
        &self,
        mutations: Vec<Mutation>,
        idempotency_key: Option<Vec<u8>>,
    ) -> Result<Committed> {
        self.begin(self.prepare(mutations, idempotency_key)?)?.wait()
    }

    /// The first half of a commit, which takes the processor: encodes and checks. May run for several commits at once.
    ///
    /// # Errors
    /// `LimitExceeded` for too many at once.
    pub fn prepare(
        &self,
        mutations: Vec<Mutation>,
        idempotency_key: Option<Vec<u8>>,
    ) -> Result<PreparedCommit> {
        if mutations.len() > COMMIT_MUTATIONS_MAX {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                "commit",
                format!("{} mutations at once; at most {COMMIT_MUTATIONS_MAX}", mutations.len()),
            ));
        }
        let catalog = self.shared.catalog();
        let mutations =
            mutations.into_iter().map(|mutation| prepare_one(&catalog, mutation)).collect();
        Ok(PreparedCommit { mutations, idempotency_key })
    }

    /// The second half: commits are applied in the order in which they are begun, and those that wait together share one
    /// sync. Waits only while very many wait already.
    ///
    /// # Errors
    /// `Closed` when the engine is closing.
    pub fn begin(&self, commit: PreparedCommit) -> Result<PendingCommit> {
        let PreparedCommit { mutations, idempotency_key } = commit;
        self.writer.begin(Work::Mutations { mutations, idempotency_key }).map(PendingCommit)
    }
}

fn prepare_one(catalog: &SpaceCatalog, mutation: Mutation) -> Prepared {
    let prepared = match mutation {
        Mutation::Put(resource) => {
            prepare::prepare(catalog, &resource).map(|put| Prepared::Put(Box::new(put)))
        }
        Mutation::Delete { uri } => {
            resource_uri::normalise(&uri).map(|uri| Prepared::Delete(uri.into_owned()))
        }
        Mutation::IfVersion { expected, then } => {
            Ok(Prepared::IfVersion(expected, Box::new(prepare_one(catalog, *then))))
        }
    };
    prepared.unwrap_or_else(Prepared::Refused)
}
