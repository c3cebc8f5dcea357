//! The first line of each side of a socket, before any message: who is there and what it understands.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

use super::place;
use crate::sources::lexically_absolute;

/// What follows the hello: lines of MCP as on stdio. Another number means something else.
pub const SHARING_PROTOCOL: u32 = 1;

/// The longest hello, in bytes.
const HELLO_BYTES_MAX: usize = 256 * 1024;

/// Folders that a hello names; those beyond count as served by both.
const SOURCES_MAX: usize = 4_096;

/// How long the other side may take for its hello.
pub(super) const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// Who one is. What a later version adds, an earlier one skips.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The number of the protocol between the two.
    #[serde(rename = "pressmarkSharing")]
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
    /// The process.
    pub pid: u32,
    /// What the data directory is, by whatever path.
    #[serde(default)]
    pub directory: String,
    /// The owner's newest sequence number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<u64>,
    /// Which folders are served, or would be.
    #[serde(default)]
    pub sources: Vec<u64>,
    /// What says so; absent where it cannot be said in a line of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
    /// Why the owner does not share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// What says which folders a process serves: enough for another one to go on with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// The absolute path of the configuration file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// The absolute PATHs of the command line.
    #[serde(default)]
    pub paths: Vec<PathBuf>,
}

/// The most bytes that the paths of a [`Served`] take in a hello.
const SERVED_BYTES_MAX: usize = 64 * 1024;

// === impl Served ===

impl Served {
    /// The configuration file and PATHs of a process that was started in `current_dir`; `None` for paths that are no text
    /// or take too much of it.
    pub fn new(current_dir: &Path, config: Option<&Path>, paths: &[PathBuf]) -> Option<Self> {
        let absolute = |path: &Path| lexically_absolute(current_dir, path);
        let served = Self {
            config: config.map(absolute),
            paths: paths.iter().map(|path| absolute(path)).collect(),
        };
        let line = serde_json::to_vec(&served).ok()?;
        (line.len() <= SERVED_BYTES_MAX).then_some(served)
    }
}

// === impl Hello ===

impl Hello {
    /// This process with its data directory and folders.
    ///
    /// # Errors
    /// The data directory cannot be looked at.
    pub fn new(data_dir: &Path, mut sources: Vec<u64>, served: Option<Served>) -> io::Result<Self> {
        sources.truncate(SOURCES_MAX);
        Ok(Self {
            protocol: SHARING_PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            directory: place::identity(data_dir)?,
            newest: None,
            sources,
            served,
            refused: None,
        })
    }

    /// Why `other` cannot be understood, for people; `None` when it can.
    pub(super) fn misfit(&self, other: &Hello) -> Option<String> {
        if other.protocol == self.protocol {
            return None;
        }
        let other = other.program();
        Some(format!(
            "the store is in use by {other}, which {} cannot share it with: let all windows run the same version, or \
             give this one a store of its own (--data DIR)",
            self.program()
        ))
    }

    fn program(&self) -> String {
        let Self { version, protocol, pid, .. } = self;
        format!("pressmark {version} (sharing protocol {protocol}, pid {pid})")
    }

    /// The hello as a line.
    pub(super) fn line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }

    pub(super) async fn write<W: AsyncWrite + Unpin>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(&self.line()?).await?;
        writer.flush().await
    }

    /// Reads the other side's hello, and nothing of what follows.
    pub(super) async fn read<R: AsyncBufRead + Unpin>(reader: &mut R) -> io::Result<Self> {
        let mut line = Vec::new();
        loop {
            let arrived = reader.fill_buf().await?;
            if arrived.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let end = memchr::memchr(b'\n', arrived);
            let taken = end.map_or(arrived.len(), |at| at + 1);
            line.extend_from_slice(arrived.get(..taken).unwrap_or_default());
            reader.consume(taken);
            if line.len() > HELLO_BYTES_MAX {
                return Err(io::Error::other("its first line is too long"));
            }
            if end.is_some() {
                return Ok(serde_json::from_slice(&line)?);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    fn hello(protocol: u32, version: &str) -> Hello {
        let (version, directory) = (version.to_owned(), "1:2".to_owned());
        Hello {
            protocol,
            version,
            pid: 7,
            directory,
            newest: Some(3),
            sources: vec![],
            served: None,
            refused: None,
        }
    }

    #[tokio::test]
    async fn a_hello_ends_where_messages_begin() {
        let mut bytes = hello(1, "0.1.0").line().unwrap();
        bytes.extend_from_slice(b"{\"jsonrpc\"");
        let mut reader = bytes.as_slice();
        assert_eq!(Hello::read(&mut reader).await.unwrap(), hello(1, "0.1.0"));
        let mut rest = String::new();
        reader.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "{\"jsonrpc\"");
    }

    #[tokio::test]
    async fn what_is_no_hello_is_an_error() {
        let long = " ".repeat(HELLO_BYTES_MAX + 1);
        for bytes in ["", "{", "\n", "GET / HTTP/1.1\r\n", &long] {
            assert!(Hello::read(&mut bytes.as_bytes()).await.is_err(), "{}", bytes.len());
        }
        let later = "{\"pressmarkSharing\":9,\"version\":\"2.0.0\",\"pid\":1,\"new\":{}}\n";
        assert_eq!(Hello::read(&mut later.as_bytes()).await.unwrap().protocol, 9);
    }

    #[test]
    fn a_misfit_names_both_versions() {
        let own = hello(1, "0.1.0");
        assert_eq!(own.misfit(&hello(1, "0.9.0")), None);
        let said = own.misfit(&hello(2, "0.9.0")).unwrap();
        assert!(said.contains("pressmark 0.9.0 (sharing protocol 2") && said.contains("0.1.0"));
    }
}
