//! Keep-alive connections, each of which asks and waits for its answer.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::Load;
use super::report::{Failure, Measured};
use super::schedule::{Due, Schedule};
use crate::message;
use crate::random::Random;

/// A connection that breaks is opened again, this many times in a run: a server that is gone is not stormed.
const RECONNECTS_MAX: usize = 100;

type Sender = SendRequest<Full<Bytes>>;

/// Runs a schedule over that many connections, until its end and the last answer; `seed` decides what is asked for.
pub(super) async fn run_all(
    load: &Arc<Load>,
    schedule: Schedule,
    connections: usize,
    seed: u64,
) -> Result<Measured, String> {
    let schedule = Arc::new(schedule);
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        tasks.spawn(run(Arc::clone(load), Arc::clone(&schedule), seed));
    }
    let mut all = Measured::new()?;
    while let Some(ended) = tasks.join_next().await {
        all.add(&ended.map_err(|error| format!("a connection's task: {error}"))??)?;
    }
    Ok(all)
}

async fn run(load: Arc<Load>, schedule: Arc<Schedule>, seed: u64) -> Result<Measured, String> {
    let mut measured = Measured::new()?;
    let mut sender = None;
    let mut connects_left = RECONNECTS_MAX + 1;
    while let Some(due) = schedule.next().await {
        if sender.as_ref().is_none_or(Sender::is_closed) {
            if connects_left == 0 {
                break;
            }
            connects_left -= 1;
            sender = connect(&load).await;
        }
        let Some(open) = sender.as_mut() else {
            measured.failed(Failure::NoConnection);
            continue;
        };
        match ask(&load, open, due, seed).await {
            Ok(bytes) => measured.answered(due.since.elapsed(), due.overslept, bytes),
            Err(failure) => {
                measured.failed(failure);
                sender = sender.filter(|_| failure != Failure::Broken);
            }
        }
    }
    Ok(measured)
}

async fn connect(load: &Load) -> Option<Sender> {
    let stream = TcpStream::connect(load.target).await.ok()?;
    stream.set_nodelay(true).ok()?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    // Ends with the sender, which the asking task owns.
    tokio::spawn(connection);
    Some(sender)
}

/// One request and its whole answer; the size of the answer's body.
async fn ask(load: &Load, sender: &mut Sender, due: Due, seed: u64) -> Result<usize, Failure> {
    let at = load.picker.pick(&mut Random::of(seed, due.number));
    let uri = load.uris.get(at).ok_or(Failure::Unaskable)?;
    let request = load.messages.resources_read(due.number, uri).ok_or(Failure::Unaskable)?;
    sender.ready().await.map_err(|_| Failure::Broken)?;
    let response = sender.send_request(request).await.map_err(|_| Failure::Broken)?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(|_| Failure::Broken)?.to_bytes();
    if !status.is_success() {
        return Err(Failure::Status(status.as_u16()));
    }
    if message::is_result(&body) { Ok(body.len()) } else { Err(Failure::NoResult) }
}
