//! A server with the fixture tools, prompts and resources of the official conformance suite, put together in code: what
//! `tests/conformance/run.sh` runs the suite against, and an example of all that a program can build.
//!
//! usage: conformance_server --data DIR --listen ADDRESS

#![forbid(unsafe_code)]
// An argument that is wrong is said on stderr; nothing else is.
#![allow(clippy::print_stderr)]

mod prompts;
mod resources;
mod tools;

use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;

use pressmark::builder::ServerBuilder;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance_server: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn serve() -> Result<(), Box<dyn Error>> {
    let data_dir = argument("--data")?;
    let listen: SocketAddr = argument("--listen")?.parse()?;
    let mut server = ServerBuilder::at(data_dir);
    for space in resources::spaces() {
        server = server.space(space);
    }
    for prompt in prompts::all() {
        server = server.prompt(prompt);
    }
    for tool in tools::all() {
        server = server.tool(tool);
    }
    let app = server.build()?;
    for put in app.engine().commit(resources::all())? {
        put?;
    }
    let listener = TcpListener::bind(listen).await?;
    let mut terminated = signal(SignalKind::terminate())?;
    let shutdown = app.shutdown.clone();
    tokio::spawn(async move {
        terminated.recv().await;
        shutdown.begin();
    });
    app.serve_http(listener).await;
    app.drain().await;
    Ok(())
}

/// The value behind an option.
fn argument(name: &str) -> Result<String, String> {
    let value = std::env::args().skip_while(|argument| argument != name).nth(1);
    value
        .ok_or_else(|| format!("{name} is missing: conformance_server --data DIR --listen ADDRESS"))
}
