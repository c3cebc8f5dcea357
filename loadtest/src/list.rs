//! `list`: walks every page of `resources/list` over one connection, as hosts do when their picker opens.
//!
//! The bytes that came are set against the speed at which this machine copies memory: a server that does
//! nothing but copy what it has stored could not be faster than that.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::message::{Era, Messages};
use crate::process::Usage;

/// Pages are told apart by which tenth of the walk they are in.
const TENTHS: usize = 10;
/// What is copied to measure memory: far more than caches hold.
const COPIED_BYTES: usize = 256 << 20;
const COPIES: u32 = 8;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The server; a loopback address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7411")]
    target: SocketAddr,
    /// Path of the MCP endpoint
    #[arg(long, default_value = "/mcp")]
    path: String,
    /// How requests are written
    #[arg(long, value_enum, default_value_t = Era::Modern)]
    era: Era,
    /// End after this many pages even when there are more
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000)]
    pages_max: u64,
    /// Process id of the server, to report what processor time a resource costs it
    #[arg(long, value_name = "PID")]
    server_pid: Option<u32>,
}

/// Fails when a page did.
pub(crate) fn run(args: &ListArgs) -> Result<ExitCode, String> {
    crate::loopback(args.target)?;
    let messages = Messages::new(args.target, &args.path, args.era)?;
    let runtime =
        tokio::runtime::Runtime::new().map_err(|error| format!("the runtime: {error}"))?;
    let usage = |pid: Option<u32>| pid.map(Usage::of).transpose();
    let before = usage(args.server_pid)?;
    let walked = runtime.block_on(walk(args, &messages))?;
    let server = match (usage(args.server_pid)?, before) {
        (Some(after), Some(before)) => Some(after.since(&before)),
        _ => None,
    };
    walked.print(server).map_err(|error| format!("stdout: {error}"))?;
    Ok(ExitCode::SUCCESS)
}

/// What came.
struct Walked {
    resources: u64,
    bytes: u64,
    took: Duration,
    /// Of each page, from its request to its last byte.
    pages: Vec<Duration>,
    ended: bool,
}

async fn walk(args: &ListArgs, messages: &Messages) -> Result<Walked, String> {
    let mut sender = connect(args.target).await?;
    let mut walked =
        Walked { resources: 0, bytes: 0, took: Duration::ZERO, pages: Vec::new(), ended: false };
    let begun = Instant::now();
    let mut cursor: Option<String> = None;
    for number in 0..args.pages_max {
        let request = messages
            .resources_list(number, cursor.as_deref())
            .ok_or("the server gave a cursor that no request can hold")?;
        let asked = Instant::now();
        let body = answer(&mut sender, request).await?;
        walked.pages.push(asked.elapsed());
        let page = Page::read(&body)?;
        walked.resources += page.resources;
        walked.bytes += body.len() as u64;
        if page.next_cursor.is_some() && page.next_cursor == cursor {
            return Err(format!("page {number} repeats its cursor"));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            walked.ended = true;
            break;
        }
    }
    walked.took = begun.elapsed();
    Ok(walked)
}

async fn connect(target: SocketAddr) -> Result<SendRequest<Full<Bytes>>, String> {
    let failed = |error: &dyn std::error::Error| format!("{target}: {error}");
    let stream = TcpStream::connect(target).await.map_err(|error| failed(&error))?;
    stream.set_nodelay(true).map_err(|error| failed(&error))?;
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
    // Ends with the sender.
    tokio::spawn(connection);
    Ok(sender)
}

async fn answer(
    sender: &mut SendRequest<Full<Bytes>>,
    request: hyper::Request<Full<Bytes>>,
) -> Result<Bytes, String> {
    let failed = |error: hyper::Error| format!("the connection: {error}");
    sender.ready().await.map_err(failed)?;
    let response = sender.send_request(request).await.map_err(failed)?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(failed)?.to_bytes();
    if status.is_success() { Ok(body) } else { Err(format!("the server answered {status}")) }
}

/// What a page tells about the walk.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    resources: u64,
    next_cursor: Option<String>,
}

impl Page {
    fn read(body: &[u8]) -> Result<Page, String> {
        #[derive(Deserialize)]
        struct Reply<'a> {
            #[serde(borrow)]
            result: Listed<'a>,
        }
        #[derive(Deserialize)]
        struct Listed<'a> {
            #[serde(borrow)]
            resources: Vec<&'a RawValue>,
            #[serde(rename = "nextCursor")]
            next_cursor: Option<String>,
        }
        let reply: Reply<'_> = serde_json::from_slice(body)
            .map_err(|error| format!("an answer is no page of a list: {error}"))?;
        Ok(Page {
            resources: reply.result.resources.len() as u64,
            next_cursor: reply.result.next_cursor,
        })
    }
}

impl Walked {
    fn print(&self, server: Option<Usage>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let seconds = self.took.as_secs_f64();
        let bytes = self.bytes as f64;
        writeln!(
            out,
            "resources   {} on {} pages in {seconds:.2} s, {:.0} a second, {:.0} bytes each{}",
            self.resources,
            self.pages.len(),
            self.resources as f64 / seconds,
            bytes / self.resources.max(1) as f64,
            if self.ended { "" } else { " (there are more)" }
        )?;
        let memory = memory_bytes_per_second();
        writeln!(
            out,
            "bytes       {:.0} MB a second; copying memory: {:.0} MB a second, {:.0} times as many",
            bytes / seconds / 1e6,
            memory / 1e6,
            memory / (bytes / seconds)
        )?;
        let tenths: Vec<_> = tenths(&self.pages).iter().map(|mean| mean.as_micros()).collect();
        writeln!(out, "a page us   {tenths:?} on average in each tenth of the walk")?;
        if let Some(usage) = server {
            let busy = (usage.user + usage.system).as_secs_f64();
            writeln!(
                out,
                "server cpu  {:.2} us a resource, {:.0} us a page; {:.0} MB for each second of it, {} MiB resident",
                busy * 1e6 / self.resources.max(1) as f64,
                busy * 1e6 / self.pages.len().max(1) as f64,
                bytes / busy / 1e6,
                usage.resident_bytes >> 20
            )?;
        }
        Ok(())
    }
}

/// The mean of each tenth; fewer when there are fewer pages.
fn tenths(pages: &[Duration]) -> Vec<Duration> {
    let size = pages.len().div_ceil(TENTHS).max(1);
    pages
        .chunks(size)
        .map(|tenth| {
            let sum: Duration = tenth.iter().sum();
            sum / u32::try_from(tenth.len()).unwrap_or(u32::MAX)
        })
        .collect()
}

/// What a plain copy from one place to another reaches; each byte is read once and written once.
fn memory_bytes_per_second() -> f64 {
    let from = vec![1_u8; COPIED_BYTES];
    let mut to = vec![0_u8; COPIED_BYTES];
    let begun = std::time::Instant::now();
    for _ in 0..COPIES {
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
    }
    COPIED_BYTES as f64 * f64::from(COPIES) / begun.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_tells_its_resources_and_the_next() {
        for (body, expected) in [
            (
                r#"{"result":{"resources":[{},{"a":[1]}],"nextCursor":"x\"y"}}"#,
                Some((2, Some("x\"y"))),
            ),
            (r#"{"id":1,"result":{"resources":[]}}"#, Some((0, None))),
            (r#"{"error":{"code":-32602,"message":"m"}}"#, None),
            ("", None),
        ] {
            let expected = expected.map(|(resources, next): (u64, Option<&str>)| Page {
                resources,
                next_cursor: next.map(str::to_owned),
            });
            assert_eq!(Page::read(body.as_bytes()).ok(), expected, "{body}");
        }
    }

    #[test]
    fn tenths_are_means() {
        let ms = Duration::from_millis;
        assert_eq!(tenths(&[]), []);
        assert_eq!(tenths(&[ms(2)]), [ms(2)]);
        let pages: Vec<_> = (0..20).map(ms).collect();
        let means = tenths(&pages);
        assert_eq!(means.len(), 10);
        assert_eq!(means.first(), Some(&Duration::from_micros(500)));
    }
}
