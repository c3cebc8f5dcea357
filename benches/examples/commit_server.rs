//! A server as `pressmark serve` runs it, whose documents a load test can change: the program itself takes changes only from
//! folders and loads.
//!
//! usage: commit_server DATA_DIR LISTEN CONTROL
//!
//! On the control port each line is the URI of a document in `load://`. It gets a new text, and once that is committed the
//! answer is a line with the time, in microseconds since 1970.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use pressmark::app::App;
use pressmark::config::Config;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Resource};
use pressmark_index::space::{ListMode, SpaceSettings};
use pressmark_index::writer::Durability;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut next = |name: &str| args.next().ok_or(format!("{name} is missing"));
    let data = next("DATA_DIR")?;
    let listen: SocketAddr = next("LISTEN")?.parse()?;
    let control = TcpListener::bind(next("CONTROL")?.parse::<SocketAddr>()?)?;
    let engine = Arc::new(open(Path::new(&data))?);
    let writer = Arc::clone(&engine);
    std::thread::spawn(move || {
        for client in control.incoming().flatten() {
            let engine = Arc::clone(&writer);
            std::thread::spawn(move || commit_lines(client, &engine));
        }
    });
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = tokio::net::TcpListener::bind(listen).await?;
        let config = Config::default().server;
        App::new(engine, config, &Config::default().full_text).serve_http(listener).await;
        Ok(())
    })
}

fn open(data: &Path) -> Result<Engine, pressmark_index::error::Error> {
    let engine = Engine::open(
        data,
        &EngineOptions {
            block_cache_bytes: 64 << 20,
            hot_cache_bytes: 16 << 20,
            completion_memory_entries: 128 * 1_024,
            completion_cache_bytes: 1 << 20,
            full_text: None,
            durability: Durability::Sync,
            change_log_retention: Duration::from_secs(3600),
            owner: "commit_server".to_owned(),
        },
    )?;
    let mut space = SpaceSettings::new("load", "load://{+path}");
    space.list = ListMode::None;
    engine.put_space(space)?;
    Ok(engine)
}

fn commit_lines(client: TcpStream, engine: &Engine) -> std::io::Result<()> {
    static VERSION: AtomicU64 = AtomicU64::new(0);
    client.set_nodelay(true)?;
    let mut answers = client.try_clone()?;
    for uri in BufReader::new(client).lines() {
        let address = Address::Uri(uri?);
        let version = VERSION.fetch_add(1, Ordering::Relaxed);
        let started = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let text = format!("version {version} of {started}");
        let resource = Resource::text("load", address, "text/plain", &text);
        let committed = engine.commit(vec![Mutation::Put(Box::new(resource))]);
        let at = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_micros();
        match committed.map(|mut results| results.remove(0)) {
            Ok(Ok(_)) => writeln!(answers, "{at}")?,
            Ok(Err(error)) | Err(error) => writeln!(answers, "error: {error}")?,
        }
    }
    Ok(())
}
