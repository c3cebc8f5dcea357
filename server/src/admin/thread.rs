//! The plane on a thread of its own, so that what it reads and encodes never keeps a reader of MCP waiting.

use std::io;
use std::sync::Arc;

use pressmark_index::background::stand_back;
use pressmark_index::engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::{Callers, serve};
use crate::prompts::Prompts;
use crate::shutdown::Shutdown;

/// Does what [`serve`] does, on a thread of its own that stands back behind those that serve readers, as do the threads
/// on which it waits for the store.
///
/// # Errors
/// The thread cannot be started; what broke the listener.
pub async fn serve_apart(
    listener: TcpListener,
    engine: Arc<Engine>,
    prompts: Arc<Prompts>,
    callers: Callers,
    shutdown: Shutdown,
) -> io::Result<()> {
    // It is to be woken by the thread's own runtime.
    let listener = listener.into_std()?;
    let (sender, ended) = oneshot::channel();
    std::thread::Builder::new().name("pressmark-admin".to_owned()).spawn(move || {
        stand_back();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .thread_name("pressmark-admin")
            .build();
        let served = runtime.and_then(|runtime| {
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener)?;
                serve(listener, engine, prompts, callers, shutdown).await
            })
            // What waits for the store still is waited for here.
        });
        // Whoever waited may have given up.
        let _ = sender.send(served);
    })?;
    ended.await.unwrap_or_else(|_| Err(io::Error::other("its thread ended in a panic")))
}
