//! A request's body, bounded.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::{
    StatusCode,
    body::{Body, Incoming},
};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout, timeout_at},
};

use super::{
    HttpServer,
    responses::{self, HttpResponse, refusal},
};
use crate::{
    call_rates::Caller,
    error::Fault,
    limits::{ByteBudget, ReservedBytes, Share, Shares},
    metrics::Metrics,
};

/// Places for bodies that are not there with their heads.
pub struct Arrivals {
    places: Arc<Semaphore>,
    place_shares: Arc<Shares>,
    bytes: ByteBudget,
    byte_shares: Arc<Shares>,
}

/// A body that has arrived.
#[derive(Default)]
pub(super) struct Arrived {
    pub(super) bytes: Bytes,
    _reserved: Option<Reserved>,
}

/// Bytes of a body of more than one piece.
struct Reserved {
    bytes: ReservedBytes,
    share: Share,
}

/// Why a body was not read to its end.
#[derive(Debug)]
pub(super) enum Unread {
    BrokeOff,
    TooSlow,
    TooLarge,
    /// Too many others are on their way.
    Crowded,
}

/// What of a body over the bound is read and thrown away: a client that writes all of it before it
/// reads would else find its connection reset instead of the 413.
const DISCARDED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// For how long; most clients that send such a body do so as fast as they can.
const DISCARDING_TIME_MAX: Duration = Duration::from_secs(5);

// === impl Arrivals ===

impl Arrivals {
    /// Room for `bodies_max` bodies that arrive at a time, and for `bytes_max` bytes of all bodies
    /// of more than one piece.
    pub fn new(bodies_max: usize, bytes_max: usize, metrics: &Metrics) -> Self {
        let places = bodies_max.min(Semaphore::MAX_PERMITS);
        let shares = |whole| Shares::of(whole, metrics.shares_used_up.clone());
        Self {
            places: Arc::new(Semaphore::new(places)),
            place_shares: shares(places),
            bytes: ByteBudget::new(bytes_max),
            byte_shares: shares(bytes_max),
        }
    }

    /// Takes a further piece's bytes from the budget, within the caller's share.
    fn reserve(
        &self,
        held: &mut Option<Reserved>,
        bytes: usize,
        caller: Caller,
    ) -> Result<(), Unread> {
        let more = self.bytes.try_reserve(bytes).ok_or(Unread::Crowded)?;
        match held {
            Some(held) => {
                if !held.share.grow(bytes) {
                    return Err(Unread::Crowded);
                }
                held.bytes.merge(more);
            }
            None => {
                let share = self.byte_shares.take(caller, bytes).ok_or(Unread::Crowded)?;
                *held = Some(Reserved { bytes: more, share });
            }
        }
        Ok(())
    }
}

/// Reads the body; a body of one frame, as an ordinary request has it, is not copied.
///
/// What came with the head needs no place, so that half-sent bodies turn away only each other, and no timer. The rest
/// has `config.body_timeout`, and until the request's deadline.
///
/// # Errors
/// What the client is answered instead.
pub(super) async fn arrive(
    mut body: Incoming,
    caller: Caller,
    server: &HttpServer,
    deadline: Instant,
) -> Result<Arrived, Unread> {
    let arrived = arrive_within(&mut body, caller, server, deadline).await;
    if matches!(arrived, Err(Unread::TooLarge)) {
        // One that goes on sending has had its chance to read the answer.
        let _ = timeout(DISCARDING_TIME_MAX, discard_some(&mut body)).await;
    }
    arrived
}

async fn arrive_within(
    body: &mut Incoming,
    caller: Caller,
    server: &HttpServer,
    deadline: Instant,
) -> Result<Arrived, Unread> {
    let HttpServer { arrivals, config, .. } = server;
    let mut reading = pin!(read(body, caller, config.body_bytes_max, arrivals));
    if let Some(arrived) = there_already(reading.as_mut()).await {
        return arrived;
    }
    let _share = arrivals.place_shares.take(caller, 1).ok_or(Unread::Crowded)?;
    let _place = arrivals.places.try_acquire().map_err(|_| Unread::Crowded)?;
    let until = deadline.min(Instant::now() + config.body_timeout);
    timeout_at(until, reading).await.unwrap_or(Err(Unread::TooSlow))
}

/// What the body comes to without waiting: the connection hands out what it has read once it is
/// asked, so that the body is asked twice.
async fn there_already<F: Future + Unpin>(mut reading: F) -> Option<F::Output> {
    tokio::select! {
        biased;
        arrived = &mut reading => Some(arrived),
        () = tokio::task::yield_now() => None,
    }
}

async fn read(
    body: &mut Incoming,
    caller: Caller,
    bytes_max: usize,
    arrivals: &Arrivals,
) -> Result<Arrived, Unread> {
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(Unread::TooLarge);
    }
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    let mut reserved = None;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(Unread::BrokeOff);
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len() + rest.len() + data.len() > bytes_max {
            return Err(Unread::TooLarge);
        }
        if first.is_empty() {
            first = data;
        } else {
            arrivals.reserve(&mut reserved, data.len(), caller)?;
            rest.extend_from_slice(&data);
        }
        if body.is_end_stream() {
            break;
        }
    }
    if rest.is_empty() {
        return Ok(Arrived { bytes: first, _reserved: reserved });
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(Arrived { bytes: whole.freeze(), _reserved: reserved })
}

/// Reads a bounded rest of a body that is refused.
async fn discard_some(body: &mut Incoming) {
    let mut discarded = 0;
    while discarded < DISCARDED_BYTES_MAX
        && let Some(Ok(frame)) = body.frame().await
    {
        discarded += frame.data_ref().map_or(0, Bytes::len);
    }
}

// === impl Unread ===

impl Unread {
    pub(super) fn response(&self) -> HttpResponse {
        match self {
            Unread::BrokeOff => refusal(StatusCode::BAD_REQUEST, "the body broke off"),
            Unread::TooSlow => refusal(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
            Unread::TooLarge => {
                refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than this server takes")
            }
            Unread::Crowded => responses::fault(&Fault::overloaded()),
        }
    }
}
