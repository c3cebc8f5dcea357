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
    HttpConfig,
    responses::{self, HttpResponse, refusal},
};
use crate::{
    error::Fault,
    limits::{ByteBudget, ReservedBytes},
};

/// Places for bodies that are not there with their heads.
pub struct Arrivals {
    places: Arc<Semaphore>,
    bytes: ByteBudget,
}

/// A body that has arrived.
#[derive(Default)]
pub(super) struct Arrived {
    pub(super) bytes: Bytes,
    _reserved: Option<ReservedBytes>,
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
    pub fn new(bodies_max: usize, bytes_max: usize) -> Self {
        let places = bodies_max.min(Semaphore::MAX_PERMITS);
        Self { places: Arc::new(Semaphore::new(places)), bytes: ByteBudget::new(bytes_max) }
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
    arrivals: &Arrivals,
    config: &HttpConfig,
    deadline: Instant,
) -> Result<Arrived, Unread> {
    let arrived = arrive_within(&mut body, arrivals, config, deadline).await;
    if matches!(arrived, Err(Unread::TooLarge)) {
        // One that goes on sending has had its chance to read the answer.
        let _ = timeout(DISCARDING_TIME_MAX, discard_some(&mut body)).await;
    }
    arrived
}

async fn arrive_within(
    body: &mut Incoming,
    arrivals: &Arrivals,
    config: &HttpConfig,
    deadline: Instant,
) -> Result<Arrived, Unread> {
    let mut reading = pin!(read(body, config.body_bytes_max, &arrivals.bytes));
    if let Some(arrived) = there_already(reading.as_mut()).await {
        return arrived;
    }
    let Ok(_place) = arrivals.places.try_acquire() else {
        return Err(Unread::Crowded);
    };
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
    bytes_max: usize,
    budget: &ByteBudget,
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
            reserve(&mut reserved, data.len(), budget)?;
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

/// Takes a further piece's bytes from the budget.
fn reserve(
    held: &mut Option<ReservedBytes>,
    bytes: usize,
    budget: &ByteBudget,
) -> Result<(), Unread> {
    let Some(more) = budget.try_reserve(bytes) else {
        return Err(Unread::Crowded);
    };
    match held {
        Some(held) => held.merge(more),
        None => *held = Some(more),
    }
    Ok(())
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
