//! Load for a running Pressmark, and the collections to load it with.
//!
//! `tuples` writes records for completion and `complete` asks for them as people type;
//! `generate` writes a seeded collection as NDJSON for `pressmark load`, `uris` the URIs of the same
//! collection, `read` asks for them over HTTP and reports, `list` walks the whole list, `listen` holds streams of
//! notifications open, and `hyper` is the bare server beside which the figures are read.
//! The tool knows Pressmark from outside only: it depends on none of its crates,
//! so it can measure any server that speaks the protocol. The benches have a generator of their own,
//! since they hand the engine values and not lines; the two need not agree.

#![forbid(unsafe_code)]

mod documents;
mod random;

mod list;
mod message;
mod process;
mod read;

mod complete;
mod listen;
mod tuples;

mod constant_server;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

const EXAMPLES: &str = "Examples:
  pressmark-loadtest generate --count 100000 --out records.ndjson
  pressmark-loadtest uris --count 100000 --out uris.txt
  pressmark-loadtest read --target 127.0.0.1:7411 --uris uris.txt --zipf 1.0 --server-pid 4711
  pressmark-loadtest read --target 127.0.0.1:7411 --uris uris.txt --rate 5000 --seconds 30
  pressmark-loadtest tuples --count 10000000 --out tuples.ndjson
  pressmark-loadtest complete --count 10000000 --server-pid 4711
  pressmark-loadtest list --target 127.0.0.1:7411 --server-pid 4711";

#[derive(Debug, Parser)]
#[command(version, about, after_help = EXAMPLES, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Generates collections and load for a running Pressmark.
#[derive(Debug, Subcommand)]
enum Command {
    /// Write a collection as NDJSON, one resource record a line
    Generate(Collection),
    /// Write the URIs of the same collection, one a line
    Uris(Collection),
    /// Ask a server on this machine for resources, and report how it did
    Read(read::ReadArgs),
    /// Write records behind a template of three variables as NDJSON, for completion
    Tuples(TuplesArgs),
    /// Ask a server that holds such records as people type, and for the records beside it
    Complete(complete::CompleteArgs),
    /// Walk every page of a server's `resources/list`, and report how it did
    List(list::ListArgs),
    /// Hold streams of notifications open, change what they watch, and report what that cost
    Listen(listen::ListenArgs),
    /// Answer every request with one constant reply: the floor of what HTTP costs
    Hyper {
        /// Where to listen; a loopback address
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7499")]
        listen: SocketAddr,
        /// Size of the reply's body
        #[arg(long, value_name = "BYTES", default_value_t = 1_600)]
        body_bytes: usize,
    },
}

#[derive(Debug, Args)]
struct Collection {
    /// How many resources
    #[arg(long)]
    count: u64,
    /// The same seed gives the same collection, on every machine
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// What stands before the name in each URI
    #[arg(long, value_name = "URI", default_value = "load://documents/")]
    prefix: String,
    /// The file to write; stdout when it is not given
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct TuplesArgs {
    /// How many records
    #[arg(long)]
    count: u64,
    /// The same seed gives the same collection, on every machine
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// How many teams; the first is the largest by far
    #[arg(long, default_value_t = 30)]
    teams: usize,
    /// Give a third of the records an ACL with one of 20 groups
    #[arg(long)]
    acl: bool,
    /// The file to write; stdout when it is not given
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::Generate(collection) => collection
            .write(|document, out| document.write_record(out).and_then(|()| out.write_all(b"\n"))),
        Command::Uris(collection) => {
            collection.write(|document, out| writeln!(out, "{}", document.uri))
        }
        Command::Read(args) => read::run(&args),
        Command::Tuples(args) => args.write(),
        Command::Complete(args) => complete::run(&args),
        Command::List(args) => list::run(&args),
        Command::Listen(args) => listen::run(&args),
        Command::Hyper { listen, body_bytes } => {
            constant_server::run(loopback(listen)?, body_bytes).map(|()| ExitCode::SUCCESS)
        }
    }
}

impl Collection {
    fn write(
        &self,
        mut line: impl FnMut(&documents::Document, &mut dyn Write) -> io::Result<()>,
    ) -> Result<ExitCode, String> {
        let mut out = BufWriter::with_capacity(1 << 20, output(self.out.as_deref())?);
        (0..self.count)
            .try_for_each(|index| {
                line(&documents::document(self.seed, index, &self.prefix), &mut out)
            })
            .and_then(|()| out.flush())
            .map_err(|error| format!("the output: {error}"))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl TuplesArgs {
    fn write(&self) -> Result<ExitCode, String> {
        let tuples = tuples::Tuples::new(self.seed, self.teams.max(1), self.acl);
        let mut out = BufWriter::with_capacity(1 << 20, output(self.out.as_deref())?);
        (0..self.count)
            .try_for_each(|index| {
                tuples.tuple(index).write_record(&mut out)?;
                out.write_all(b"\n")
            })
            .and_then(|()| out.flush())
            .map_err(|error| format!("the output: {error}"))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn output(path: Option<&Path>) -> Result<Box<dyn Write>, String> {
    match path {
        None => Ok(Box::new(io::stdout().lock())),
        Some(path) => match File::create(path) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => Err(format!("{}: {error}", path.display())),
        },
    }
}

/// Load is for servers of one's own: an address of another machine is refused.
fn loopback(address: SocketAddr) -> Result<SocketAddr, String> {
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err(format!("{address} is not a loopback address: run the load on the server's machine"))
    }
}
