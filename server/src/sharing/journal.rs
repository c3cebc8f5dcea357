//! What a new owner has to be told of a client: its `initialize`, what it watches, and what was not answered yet.
//!
//! The journal sees each line on its way to the owner before it is sent, and each line of the owner before the client
//! gets it. So a request is known to be answered exactly when its answer is on its way to the client.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use super::messages::{self, Heard};
use crate::{
    json_rpc::{self, Malformed, Message, Request},
    mcp::{RequestKey, protocol::SubscriptionFilter, protocol::notifications},
    subscriptions::Lists,
};

/// Requests that may wait for their answers; with more the client is not read.
const WAITING_MAX: usize = 4_096;
/// Bytes of their lines; one more line may be as long as lines are.
const WAITING_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Owners that may end with a request. One that ends its owner must not end all windows, one after the other.
const OWNERS_MAX: u32 = 4;
/// Messages of a batch that are looked at: more are refused by every owner.
const BATCH_MESSAGES_MAX: usize = 1_000;

/// The memory of one client.
#[derive(Default)]
pub(super) struct Journal {
    /// Requests without an answer, and listens.
    open: HashMap<RequestKey, Open>,
    asked: u64,
    waiting: usize,
    waiting_bytes: usize,
    /// The `initialize` that was answered.
    initialize: Option<(RequestKey, Arc<[u8]>)>,
    initialized: bool,
    has_batches: bool,
    /// What is subscribed to by the methods of the legacy era.
    watched: BTreeSet<String>,
}

struct Open {
    order: u64,
    /// How many owners have ended with it.
    owners: u32,
    line: Arc<[u8]>,
    kind: Kind,
}

enum Kind {
    Initialize,
    Subscribe(String),
    Unsubscribe(String),
    Listen,
    /// One whose client knows what is honoured.
    OpenListen(SubscriptionFilter),
    Other,
}

/// What a line of the client was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// A request, or a batch of them: it waits for its answer.
    Request,
    /// Nothing that is answered.
    Notification,
    /// Nothing that can be read; the server says so.
    Unreadable,
}

/// What restores a client's state with a new owner.
pub(super) struct Restoration {
    /// The lines, with their ends.
    pub(super) lines: Vec<u8>,
    /// Whose answers or acknowledgements are to come; the client has had them.
    pub(super) awaited: HashSet<RequestKey>,
}

// === impl Open ===

impl Open {
    /// Whether its client waits for an answer, or for what is honoured.
    fn is_waiting(&self) -> bool {
        !matches!(self.kind, Kind::OpenListen(_))
    }
}

// === impl Journal ===

impl Journal {
    /// Notes a line of the client.
    pub(super) fn asked(&mut self, line: &[u8]) -> Asked {
        match json_rpc::parse(line) {
            Ok(Message::Request(request)) => {
                self.asked += 1;
                self.request(&request, &Arc::from(line));
                Asked::Request
            }
            Ok(Message::Notification { method, params }) => {
                match &*method {
                    "notifications/initialized" => self.initialized = true,
                    "notifications/cancelled" => {
                        if let Some(key) = messages::cancelled(params) {
                            self.close(&key);
                        }
                    }
                    _ => {}
                }
                Asked::Notification
            }
            Ok(Message::Response) => Asked::Notification,
            Err(Malformed::Batch(text)) if self.has_batches => self.batch(text, line),
            Err(_) => Asked::Unreadable,
        }
    }

    fn batch(&mut self, text: &str, line: &[u8]) -> Asked {
        let Ok(elements) = json_rpc::parse_batch(text, BATCH_MESSAGES_MAX) else {
            return Asked::Unreadable;
        };
        self.asked += 1;
        let line = Arc::from(line);
        let mut asked = Asked::Notification;
        for element in elements {
            if let Ok(Message::Request(request)) = json_rpc::parse_element(element.get()) {
                self.request(&request, &line);
                asked = Asked::Request;
            }
        }
        asked
    }

    fn request(&mut self, request: &Request<'_>, line: &Arc<[u8]>) {
        let Some(key) = RequestKey::of(request.id) else { return };
        let kind = match &*request.method {
            "initialize" => Kind::Initialize,
            "resources/subscribe" => {
                messages::uri(request.params).map_or(Kind::Other, Kind::Subscribe)
            }
            "resources/unsubscribe" => {
                messages::uri(request.params).map_or(Kind::Other, Kind::Unsubscribe)
            }
            "subscriptions/listen" => Kind::Listen,
            _ => Kind::Other,
        };
        if self.open.contains_key(&key) {
            // A client that uses an id twice; the owner refuses the second or answers both.
            return;
        }
        self.waiting += 1;
        self.waiting_bytes += line.len();
        self.open.insert(key, Open { order: self.asked, owners: 0, line: Arc::clone(line), kind });
    }

    /// Whether so much waits that the client has to wait as well.
    pub(super) fn is_full(&self) -> bool {
        self.waiting >= WAITING_MAX || self.waiting_bytes >= WAITING_BYTES_MAX
    }

    /// Whether the client waits for an answer.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// How many answers the client waits for.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Notes a line that goes to the client now.
    pub(super) fn heard(&mut self, heard: &Heard) {
        match heard {
            Heard::Answer { key, failed, revision } => {
                self.answered(key, *failed, revision.as_deref());
            }
            Heard::Batch(keys) => {
                for key in keys {
                    // Whether single ones failed is not looked at: what is replayed then is refused again.
                    self.answered(key, false, None);
                }
            }
            Heard::Acknowledged { key, honoured } => self.acknowledged(key, honoured),
            Heard::Other => {}
        }
    }

    fn answered(&mut self, key: &RequestKey, failed: bool, revision: Option<&str>) {
        let Some(open) = self.close(key) else { return };
        if failed {
            return;
        }
        match open.kind {
            Kind::Initialize => {
                self.has_batches = revision == Some("2025-03-26");
                self.initialize = Some((key.clone(), open.line));
            }
            Kind::Subscribe(uri) => {
                self.watched.insert(uri);
            }
            Kind::Unsubscribe(uri) => {
                self.watched.remove(&uri);
            }
            Kind::Listen | Kind::OpenListen(_) | Kind::Other => {}
        }
    }

    /// Notes what is honoured of a listen.
    pub(super) fn acknowledged(&mut self, key: &RequestKey, honoured: &SubscriptionFilter) {
        let Some(open) = self.open.get_mut(key) else { return };
        if open.is_waiting() {
            self.waiting -= 1;
            self.waiting_bytes -= open.line.len();
        }
        open.kind = Kind::OpenListen(honoured.clone());
        open.owners = 0;
    }

    fn close(&mut self, key: &RequestKey) -> Option<Open> {
        let open = self.open.remove(key)?;
        if open.is_waiting() {
            self.waiting -= 1;
            self.waiting_bytes -= open.line.len();
        }
        Some(open)
    }

    /// What comes first with a new owner: what the client takes for agreed.
    pub(super) fn restoration(&self) -> Restoration {
        let (mut lines, mut awaited) = (Vec::new(), HashSet::new());
        let mut add = |line: &[u8]| {
            lines.extend_from_slice(line);
            lines.push(b'\n');
        };
        if let Some((key, line)) = &self.initialize {
            add(line);
            awaited.insert(key.clone());
            if self.initialized {
                add(messages::INITIALIZED);
            }
        }
        for (number, uri) in self.watched.iter().enumerate() {
            let (id, line) = messages::subscribe(number, uri);
            add(&line);
            awaited.extend(RequestKey::of(&id));
        }
        for (key, open) in &self.open {
            if !open.is_waiting() {
                add(&open.line);
                awaited.insert(key.clone());
            }
        }
        Restoration { lines, awaited }
    }

    /// Whether a listen is open under this id.
    pub(super) fn is_open_listen(&self, key: &RequestKey) -> bool {
        self.open.get(key).is_some_and(|open| !open.is_waiting())
    }

    /// The lines that wait for an answer, with their ends, as they were asked.
    pub(super) fn unanswered(&self) -> Vec<u8> {
        // The requests of a batch share a line.
        let mut by_order = BTreeMap::<u64, &Arc<[u8]>>::new();
        for open in self.open.values().filter(|open| open.is_waiting()) {
            by_order.insert(open.order, &open.line);
        }
        let mut lines = Vec::new();
        for line in by_order.into_values() {
            lines.extend_from_slice(line);
            lines.push(b'\n');
        }
        lines
    }

    /// Notes that whoever was asked has ended.
    pub(super) fn owner_ended(&mut self) {
        for open in self.open.values_mut() {
            open.owners += 1;
        }
    }

    /// The ids of requests that several owners in turn have not answered; they are not waited for any more.
    pub(super) fn worn_out(&mut self) -> Vec<String> {
        self.take_waiting(|open| open.owners >= OWNERS_MAX)
    }

    /// The ids of all requests that wait; they are not waited for any more.
    pub(super) fn give_up(&mut self) -> Vec<String> {
        self.take_waiting(|_| true)
    }

    /// In the order in which they were asked.
    fn take_waiting(&mut self, wanted: impl Fn(&Open) -> bool) -> Vec<String> {
        let taken = self.open.iter().filter(|(_, open)| open.is_waiting() && wanted(open));
        let mut taken: Vec<_> = taken.map(|(key, open)| (open.order, key.clone())).collect();
        taken.sort_by_key(|(order, _)| *order);
        for (_, key) in &taken {
            self.close(key);
        }
        taken.into_iter().map(|(_, key)| key.to_json()).collect()
    }

    /// Tells the client of all that it watches, for it may have changed.
    pub(super) fn announce(&self) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        let mut add = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut message = Vec::new();
            write(&mut message);
            messages.push(message);
        };
        if self.initialize.is_some() {
            Lists::ALL
                .each()
                .for_each(|list| add(&|out| notifications::list_changed(list, None, out)));
        }
        for uri in &self.watched {
            add(&|out| notifications::resource_updated(None, uri, out));
        }
        for (key, open) in &self.open {
            let Kind::OpenListen(honoured) = &open.kind else { continue };
            let id = key.to_json();
            for list in honoured.lists.each() {
                add(&|out| notifications::list_changed(list, Some(&id), out));
            }
            for uri in &honoured.resource_subscriptions {
                add(&|out| notifications::resource_updated(Some(&id), uri, out));
            }
        }
        messages
    }

    /// Ends the listens, as a server does before it ends (2026-07-28, cancellation).
    pub(super) fn end_listens(&mut self) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        for (key, _) in self.open.extract_if(|_, open| !open.is_waiting()) {
            let id = key.to_json();
            let (mut cancelled, mut result) = (Vec::new(), Vec::new());
            notifications::cancelled(&id, "the server is shutting down", &mut cancelled);
            notifications::listen_result(&id, &mut result);
            messages.extend([cancelled, result]);
        }
        messages
    }
}
