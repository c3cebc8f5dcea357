//! The stream of one client's notifications, as transports take it.

use std::{
    future::poll_fn,
    sync::{Arc, Weak},
    task::{Context, Poll},
};

use super::{Batch, StreamPlace, Subscription, Taken};
use crate::mcp::protocol::{SubscriptionFilter, notifications};

/// What a client is told, in order. Dropping it ends a listen; a session keeps what it watches.
pub struct NotificationStream {
    subscription: Arc<Subscription>,
    attachment: u64,
    honoured: SubscriptionFilter,
    _place: StreamPlace,
}

impl NotificationStream {
    pub(super) fn open(
        subscription: Arc<Subscription>,
        place: StreamPlace,
        honoured: SubscriptionFilter,
    ) -> Self {
        let attachment = subscription.subscriber.attach();
        Self { subscription, attachment, honoured, _place: place }
    }

    /// The id of the `subscriptions/listen`; none of a legacy client's stream.
    pub fn listen_id(&self) -> Option<&str> {
        self.subscription.subscriber.listen_id.as_deref()
    }

    /// What it tells of, for whoever may have to end it.
    pub fn subscription(&self) -> Weak<Subscription> {
        Arc::downgrade(&self.subscription)
    }

    /// Appends the first message of a listen, which says what is honoured; a legacy stream has none.
    pub fn take_acknowledgement(&mut self, out: &mut Vec<u8>) {
        let honoured = std::mem::take(&mut self.honoured);
        if let Some(id) = self.listen_id() {
            notifications::acknowledged(id, &honoured, out);
        }
    }

    /// Reserves the number of the event that opens the stream: no other event on the client's streams has it.
    pub fn number_opening(&self) -> u64 {
        self.subscription.subscriber.number_opening()
    }

    /// What is to be sent next.
    pub fn poll_take(&self, context: &Context<'_>) -> Poll<Taken> {
        self.subscription.subscriber.poll_take(self.attachment, context)
    }

    /// The same for those who can wait.
    pub async fn take(&self) -> Taken {
        poll_fn(|context| self.poll_take(context)).await
    }

    /// Hands each notification of a batch to `frame`: its number, and what appends the message.
    pub fn write(&self, batch: &Batch, mut frame: impl FnMut(u64, &dyn Fn(&mut Vec<u8>))) {
        let id = self.listen_id();
        let mut number = batch.first_number;
        for list in batch.lists.each() {
            frame(number, &|out| notifications::list_changed(list, id, out));
            number += 1;
        }
        for uri in &batch.uris {
            frame(number, &|out| notifications::resource_updated(id, uri, out));
            number += 1;
        }
    }

    /// Counts a batch whose bytes the transport has taken.
    pub fn delivered(&self, batch: &Batch) {
        let count = batch.uris.len() as u64 + batch.lists.count();
        self.subscription.subscriptions.registry.metrics().delivered(count, batch.since.elapsed());
    }
}

impl Drop for NotificationStream {
    fn drop(&mut self) {
        self.subscription.subscriber.detach(self.attachment);
    }
}
