//! The way to have documents changed: the control port of `benches/examples/commit_server.rs`.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, interval};

use super::now_micros;
use crate::random::Random;
use crate::read::pick::Picker;

/// Connections that commit at a time: the server brings what waits to the disk together.
const CONNECTIONS: usize = 64;

/// A connection on which one document after another is changed.
pub(crate) struct Control {
    lines: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

/// When a document was changed, in microseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touched {
    pub(crate) asked: u64,
    pub(crate) committed: u64,
}

impl Control {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Control, String> {
        let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (read, write) = stream.into_split();
        Ok(Control { lines: BufReader::new(read).lines(), write })
    }

    pub(crate) async fn touch(&mut self, uri: &str) -> Result<Touched, String> {
        let asked = now_micros();
        let line = format!("{uri}\n");
        self.write.write_all(line.as_bytes()).await.map_err(|error| error.to_string())?;
        let answer = self.lines.next_line().await.map_err(|error| error.to_string())?;
        let answer = answer.ok_or("the control connection ended")?;
        let committed = answer.parse().map_err(|_| answer)?;
        Ok(Touched { asked, committed })
    }
}

/// Changes documents at a rate, picked by their rank; gives back when each was changed last, and how many commits there were.
pub(crate) async fn run_at_rate(
    control: SocketAddr,
    uris: &Arc<Vec<String>>,
    zipf: f64,
    per_second: u64,
    duration: Duration,
) -> Result<(HashMap<String, u64>, u64), String> {
    let mut tasks = tokio::task::JoinSet::new();
    let ends = Instant::now() + duration;
    for part in 0..CONNECTIONS {
        let uris = Arc::clone(uris);
        tasks.spawn(async move {
            let mut control = Control::connect(control).await?;
            let picker = Picker::new(uris.len(), Some(zipf));
            let mut random = Random::of(11, part as u64);
            let mut last = HashMap::new();
            let mut count = 0_u64;
            let period = Duration::from_secs(1) * 64 / u32::try_from(per_second).unwrap_or(1);
            let mut ticks = interval(period);
            while Instant::now() < ends {
                ticks.tick().await;
                // Each document belongs to one connection: its changes come one after the other.
                let at = picker.pick(&mut random) / CONNECTIONS * CONNECTIONS + part;
                let Some(uri) = uris.get(at) else { continue };
                let touched = control.touch(uri).await?;
                last.insert(uri.clone(), touched.asked);
                count += 1;
            }
            Ok::<_, String>((last, count))
        });
    }
    let mut all = HashMap::new();
    let mut commits = 0;
    while let Some(done) = tasks.join_next().await {
        let (last, count) = done.map_err(|error| error.to_string())??;
        all.extend(last);
        commits += count;
    }
    Ok((all, commits))
}
