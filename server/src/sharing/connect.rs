//! A follower's way to the owner.

use std::{path::Path, time::Duration};

use tokio::{io::BufReader, net::UnixStream, time::timeout};

use super::{Hello, NotReached, Upstream, hello::HELLO_TIMEOUT, place};

/// How long the owner may take to take a connection; it waits in the kernel's queue.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects to the owner of the data directory as whom `hello` says.
///
/// # Errors
/// There is none that can be reached, or it does not share.
pub async fn connect(data_dir: &Path, hello: &Hello) -> Result<Upstream, NotReached> {
    let not_yet = |error: &dyn std::fmt::Display| {
        NotReached::NotYet(format!("{}: its owner cannot be reached: {error}", data_dir.display()))
    };
    let socket = place::locate(data_dir).map_err(|error| not_yet(&error))?;
    let stream = timeout(CONNECT_TIMEOUT, UnixStream::connect(&socket))
        .await
        .map_err(|error| not_yet(&error))?
        .map_err(|error| not_yet(&error))?;
    let peer = stream.peer_cred().map_err(|error| not_yet(&error))?;
    if !place::is_own(peer.uid()) {
        return Err(NotReached::Refused(format!(
            "{}: the process that listens there belongs to another user (uid {})",
            socket.display(),
            peer.uid()
        )));
    }
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let hellos = async {
        hello.write(&mut writer).await?;
        Hello::read(&mut reader).await
    };
    let owner = timeout(HELLO_TIMEOUT, hellos)
        .await
        .map_err(|error| not_yet(&error))?
        .map_err(|error| not_yet(&error))?;
    if let Some(misfit) = hello.misfit(&owner) {
        return Err(NotReached::Refused(misfit));
    }
    if let Some(refused) = &owner.refused {
        return Err(NotReached::Refused(refused.clone()));
    }
    if owner.directory != hello.directory {
        return Err(not_yet(&"the socket is that of another store"));
    }
    let unserved = hello.sources.iter().filter(|source| !owner.sources.contains(source)).count();
    if unserved > 0 {
        tracing::warn!(
            owner = owner.pid,
            unserved,
            "the process that owns the store does not serve all folders of this one: close all windows and start them with \
             the same folders, or give this one a store of its own (--data DIR)"
        );
    }
    Ok(Upstream::owner(reader, writer, owner, data_dir.to_path_buf(), hello.clone()))
}
