//! What a handler is given besides its arguments.

use std::sync::Arc;

use parking_lot::Mutex;
use pressmark_index::{
    access::Access,
    engine::Engine,
    read::{ReadOutcome, ReadRequest, Tier},
};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::{Content, ToolError};
use crate::{
    mcp::protocol::{Revision, notifications},
    metrics::ToolMetrics,
};

pub use crate::mcp::protocol::LogLevel;

/// A call: what it may see, and how to tell of it while it runs. Clones are the same call.
#[derive(Clone)]
pub struct Context(Arc<Call>);

pub(super) struct Call {
    pub(super) engine: Arc<Engine>,
    pub(super) access: Arc<Access>,
    pub(super) revision: Revision,
    /// The most bytes of what is read for it.
    pub(super) contents_bytes_max: usize,
    /// As JSON; none when the client wants no progress.
    pub(super) progress_token: Option<Box<str>>,
    /// The least that the client wants to be told; none: nothing.
    pub(super) log_level: Option<LogLevel>,
    /// The last progress that was told.
    pub(super) progressed: Mutex<f64>,
    pub(super) notifications: mpsc::Sender<Vec<u8>>,
    /// Threads that may work for tools.
    pub(super) threads: Arc<Semaphore>,
    pub(super) over: CancellationToken,
    pub(super) metrics: ToolMetrics,
}

// === impl Context ===

impl Context {
    pub(super) fn new(call: Call) -> Self {
        Self(Arc::new(call))
    }

    /// The engine, whose calls may wait for the disk: make them in [`Context::blocking`].
    pub fn engine(&self) -> &Arc<Engine> {
        &self.0.engine
    }

    /// What the caller may see: hand it to every read.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    /// Tells the client how far the call is, if it wants to know. A value that is not higher than the one before is not
    /// told, and neither is one that comes while the client takes nothing: there will be another.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.0.progress_token else { return };
        let mut last = self.0.progressed.lock();
        // Neither JSON nor "must increase" has a place for what is no number.
        if !progress.is_finite() || progress <= *last {
            return;
        }
        let Some(place) = self.place() else { return };
        *last = progress;
        let total = total.filter(|total| total.is_finite());
        let message = message.filter(|_| self.0.revision.has_progress_messages());
        place.send(notifications::progress(token, progress, total, message));
    }

    /// Sends the client a log message, if it wants those of this level and the tool declares that it logs. `data` is any
    /// value; no secrets. One that comes while the client takes nothing is dropped.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: &impl Serialize) {
        if self.0.log_level.is_none_or(|least| level < least) {
            return;
        }
        if let (Some(place), Ok(data)) = (self.place(), serde_json::to_string(data)) {
            place.send(notifications::message(level, logger, &data));
        }
    }

    /// A place for something to tell.
    fn place(&self) -> Option<mpsc::Permit<'_, Vec<u8>>> {
        let place = self.0.notifications.try_reserve();
        if place.is_err() {
            self.0.metrics.untold.inc();
        }
        place.ok()
    }

    /// Whether nobody waits for the result any more: it was cancelled or took too long. A handler ends by itself then, at
    /// its next `.await`; this is for what runs in [`Context::blocking`].
    pub fn is_over(&self) -> bool {
        self.0.over.is_cancelled()
    }

    /// Runs what waits for the disk or computes for long on a thread for such work.
    ///
    /// # Errors
    /// `Internal` when it panics.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        // The semaphore is never closed.
        let thread = Arc::clone(&self.0.threads).acquire_owned().await.ok();
        let context = self.clone();
        let running = tokio::task::spawn_blocking(move || {
            let _held = thread;
            work(&context)
        });
        running.await.map_err(|error| ToolError::Internal(format!("a tool's work ended: {error}")))
    }

    /// A resource of the store, with all its parts, as the caller may see it; a fragment of its URI reads a part of its text.
    ///
    /// # Errors
    /// For the model where there is no such resource or it is too large.
    pub async fn embed(&self, uri: &str) -> Result<Content, ToolError> {
        if let Some(content) = self.read(uri, Tier::Memory)? {
            return Ok(content);
        }
        let asked = uri.to_owned();
        let read = self.blocking(move |context| context.read(&asked, Tier::Disk)).await??;
        read.ok_or_else(|| ToolError::Internal("the engine did not read from the disk".to_owned()))
    }

    fn read(&self, uri: &str, tier: Tier) -> Result<Option<Content>, ToolError> {
        let call = &self.0;
        let bytes_max = call.contents_bytes_max;
        let request = ReadRequest { uri, access: &call.access, bytes_max, tier };
        let ReadOutcome::Contents(contents) = call.engine.read(&request)? else {
            return Ok(None);
        };
        let mut json = Vec::with_capacity(contents.encoded_bytes(uri));
        contents.write_array(uri, call.revision.wire_fields(), &mut json)?;
        let parts: Vec<Box<RawValue>> = serde_json::from_slice(&json).map_err(|error| {
            ToolError::Internal(format!("{uri}: the stored contents are no JSON: {error}"))
        })?;
        Ok(Some(Content::stored(parts)))
    }
}
