//! Accepting connections where that may fail for a while: the process may have no file descriptors left.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// A pause after an accept that failed. The connection waits in the system's queue meanwhile.
const PAUSE: Duration = Duration::from_millis(50);
/// The log gets one line of failures in so long.
const WARNING_PERIOD: Duration = Duration::from_secs(10);

/// A listener that waits out what keeps it from accepting.
pub(crate) struct Acceptor {
    listener: TcpListener,
    failures: Failures,
}

/// Accepts that failed since the log was told.
#[derive(Default)]
struct Failures {
    count: u64,
    logged: Option<Instant>,
}

// === impl Acceptor ===

impl Acceptor {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, failures: Failures::default() }
    }

    /// The next connection.
    pub(crate) async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let Self { listener, failures } = self;
        let (stream, peer) = accepted(|| listener.accept(), failures).await;
        // A client that has left already is seen by whoever reads from it.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("a connection has no TCP_NODELAY: {error}");
        }
        (stream, peer)
    }
}

/// Tries until it works, with pauses.
async fn accepted<T, F>(mut accept: impl FnMut() -> F, failures: &mut Failures) -> T
where
    F: Future<Output = io::Result<T>>,
{
    loop {
        match accept().await {
            Ok(accepted) => return accepted,
            // The client was faster: the next one may be there already.
            Err(error) if is_the_clients(&error) => {}
            Err(error) => {
                failures.add(&error);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn is_the_clients(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

// === impl Failures ===

impl Failures {
    fn add(&mut self, error: &io::Error) {
        self.count += 1;
        if self.logged.is_none_or(|logged| logged.elapsed() >= WARNING_PERIOD) {
            let count = self.count;
            tracing::warn!(
                "no connection can be accepted ({count} tries since the last such line): {error}"
            );
            (self.count, self.logged) = (0, Some(Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// On Linux.
    const EMFILE: i32 = 24;

    #[tokio::test(start_paused = true)]
    async fn accepting_pauses_while_there_are_no_file_descriptors() {
        let (tries, begun, mut failures) = (Cell::new(0_u32), Instant::now(), Failures::default());
        let accept = || {
            tries.set(tries.get() + 1);
            let outcome = match begun.elapsed() < Duration::from_secs(5) {
                true => Err(io::Error::from_raw_os_error(EMFILE)),
                false => Ok("accepted"),
            };
            async { outcome }
        };
        assert_eq!(accepted(accept, &mut failures).await, "accepted");
        assert!(tries.get() <= 102, "{}", tries.get());
        assert!(failures.count > 0, "one line in ten seconds");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_left_costs_no_pause() {
        let (left, begun) = (Cell::new(3), Instant::now());
        let accept = || {
            let outcome = match left.replace(left.get() - 1) {
                0 => Ok(()),
                _ => Err(io::ErrorKind::ConnectionAborted.into()),
            };
            async { outcome }
        };
        accepted(accept, &mut Failures::default()).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}
