//! Notifications on their way to a client of lines.

use super::Replies;
use crate::{
    mcp::protocol::notifications,
    subscriptions::{Ended, NotificationStream, Taken},
};

/// Tells a client what its stream has until that ends. While the client takes nothing, this waits, and what changes
/// meanwhile becomes one notification for each URI.
pub(super) async fn tell(mut stream: NotificationStream, replies: Replies) {
    if stream.listen_id().is_some() {
        let mut acknowledgement = Vec::new();
        stream.take_acknowledgement(&mut acknowledgement);
        replies.send(acknowledgement, None).await;
    }
    loop {
        match stream.take().await {
            Taken::Batch(batch) => {
                let mut messages = Vec::with_capacity(batch.uris.len() + 1);
                stream.write(&batch, |_, message| {
                    let mut body = Vec::new();
                    message(&mut body);
                    messages.push(body);
                });
                for message in messages {
                    replies.send(message, None).await;
                }
                stream.delivered(&batch);
            }
            // Pipes do not close for being quiet.
            Taken::KeepAlive => {}
            Taken::Ended(why) => return end(&stream, why, &replies).await,
        }
    }
}

/// A listen is cancelled by its server before its result comes (2026-07-28, cancellation).
async fn end(stream: &NotificationStream, why: Ended, replies: &Replies) {
    let Some(id) = stream.listen_id() else { return };
    let reason = match why {
        Ended::Shutdown => "the server is shutting down",
        Ended::TooSlow => {
            "too many changes were waiting: listen again, and read again what is shown"
        }
        Ended::Replaced => "the subscription was ended",
    };
    let mut cancelled = Vec::new();
    notifications::cancelled(id, reason, &mut cancelled);
    replies.send(cancelled, None).await;
    let mut result = Vec::new();
    notifications::listen_result(id, &mut result);
    replies.send(result, None).await;
}
