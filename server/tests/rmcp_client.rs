//! The official Rust SDK lists, pages through and reads a folder, and hears of a file that changes in it, over both
//! transports and in both eras.
//!
//! The tests start the built program, as a host does. What they read is compared with the disk.

// clippy.toml exempts `#[test]` functions only, not the functions that they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ProtocolVersion, ReadResourceRequestParams, ResourceContents,
    ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

type Client = RunningService<RoleClient, Host>;

/// A client that passes on what it hears outside of its listens.
struct Host(mpsc::Sender<String>);

impl ClientHandler for Host {
    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.send(params.uri).await.unwrap();
    }
}

/// A client, and what it hears outside of its listens.
struct Connected {
    client: Client,
    heard: mpsc::Receiver<String>,
}

/// More than one page of `resources/list`.
const FILE_COUNT: usize = 600;
const FILES_PER_FOLDER: usize = 100;
const DEADLINE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LINES: &str = "line 0\nline 1 – 行\nline 2\nline 3\n";

#[derive(Clone, Copy)]
enum Era {
    Legacy,
    Modern,
}

impl Era {
    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Legacy => ClientLifecycleMode::Initialize,
            Self::Modern => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        }
    }
}

/// A folder to serve and the store that Pressmark makes of it; both go when it is dropped.
struct Collection {
    scratch: TempDir,
}

impl Collection {
    fn new() -> Self {
        let collection = Self { scratch: tempfile::tempdir().unwrap() };
        let folder = collection.folder();
        for number in 0..FILE_COUNT {
            let parent = folder.join(format!("notes-{}", number / FILES_PER_FOLDER));
            std::fs::create_dir_all(&parent).unwrap();
            let path = parent.join(format!("note-{number}.txt"));
            std::fs::write(path, format!("note {number}\n")).unwrap();
        }
        std::fs::write(folder.join("100%_done #1.txt"), "odd name\n").unwrap();
        std::fs::write(folder.join("手引き.md"), "# 手引き\n").unwrap();
        std::fs::write(folder.join("lines.txt"), LINES).unwrap();
        std::fs::write(folder.join("bytes.bin"), [0xff, 0x00, 0xfe, 0x80]).unwrap();
        collection
    }

    fn folder(&self) -> PathBuf {
        self.scratch.path().join("shelf")
    }

    /// The program with everything that both transports have in common.
    fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pressmark"));
        command
            .arg(subcommand)
            .arg(self.folder())
            .arg("--data")
            .arg(self.scratch.path().join("data"));
        command.kill_on_drop(true);
        command
    }

    async fn connect_stdio(&self, era: Era) -> Connected {
        let transport = TokioChildProcess::new(self.command("stdio")).unwrap();
        let (tell, heard) = mpsc::channel(16);
        let client = Host(tell).serve_with_lifecycle(transport, era.lifecycle()).await.unwrap();
        Connected { client, heard }
    }

    /// Saves a file as editors do: what is there is one text or the other, and no half.
    fn save(&self, name: &str, text: &str) {
        let beside = self.scratch.path().join("beside");
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(beside, self.folder().join(name)).unwrap();
    }

    /// The program lives as long as the returned child.
    async fn connect_http(&self, era: Era) -> (Child, Connected) {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut command = self.command("serve");
        command.arg("--listen").arg(address.to_string());
        let mut program = command.stdout(Stdio::null()).spawn().unwrap();

        let mut look = tokio::time::interval(LOOK_EVERY);
        tokio::time::timeout(DEADLINE, async {
            while tokio::net::TcpStream::connect(address).await.is_err() {
                let ended = program.try_wait().unwrap();
                assert!(ended.is_none(), "the server ended: {ended:?}");
                look.tick().await;
            }
        })
        .await
        .expect("the server listens");
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
        let (tell, heard) = mpsc::channel(16);
        let client = Host(tell).serve_with_lifecycle(transport, era.lifecycle()).await.unwrap();
        (program, Connected { client, heard })
    }
}

/// The file behind `docs://slug/path`, decoded once.
fn path_of(folder: &Path, uri: &str) -> PathBuf {
    let (_, path) = uri.strip_prefix("docs://").unwrap().split_once('/').unwrap();
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    folder.join(String::from_utf8(bytes).unwrap())
}

async fn read(client: &Client, uri: &str) -> Vec<ResourceContents> {
    client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap().contents
}

fn text_of(contents: &[ResourceContents]) -> &str {
    match contents {
        [ResourceContents::TextResourceContents { text, .. }] => text,
        other => panic!("one text expected: {other:?}"),
    }
}

/// Lists until the background indexing has reached every file.
async fn list_files(client: &Client, folder: &Path) -> BTreeSet<String> {
    let mut look = tokio::time::interval(LOOK_EVERY);
    let listing = async {
        loop {
            look.tick().await;
            let listed = client.list_all_resources().await.unwrap();
            let count = listed.len();
            let uris: BTreeSet<String> = listed.into_iter().map(|resource| resource.uri).collect();
            assert_eq!(uris.len(), count, "a resource was listed twice");
            let is_file = |uri: &String| path_of(folder, uri).is_file();
            let files: BTreeSet<String> = uris.into_iter().filter(is_file).collect();
            if files.len() == FILE_COUNT + 4 {
                return files;
            }
        }
    };
    tokio::time::timeout(DEADLINE, listing).await.expect("every file is listed in time")
}

async fn check(client: &Client, folder: &Path) {
    let uris = list_files(client, folder).await;
    let first_page = client.list_resources(None).await.unwrap();
    assert!(first_page.next_cursor.is_some(), "{} files fit in one page", uris.len());

    let mut root = None;
    for uri in &uris {
        let bytes = std::fs::read(path_of(folder, uri)).unwrap();
        match read(client, uri).await.as_slice() {
            [ResourceContents::TextResourceContents { uri: echoed, text, .. }] => {
                assert_eq!((echoed, text.as_bytes()), (uri, bytes.as_slice()));
            }
            [ResourceContents::BlobResourceContents { uri: echoed, mime_type, blob, .. }] => {
                assert!(uri.ends_with("/bytes.bin") && mime_type.is_some());
                assert_eq!((echoed, blob.as_str()), (uri, "/wD+gA=="));
            }
            other => panic!("one part expected for {uri}: {other:?}"),
        }
        root = root.or(uri.strip_suffix("lines.txt"));
    }
    let root = root.expect("lines.txt is listed");

    let slice = read(client, &format!("{root}lines.txt#line=1,3")).await;
    assert_eq!(text_of(&slice), "line 1 – 行\nline 2\n");
    let slice = read(client, &format!("{root}lines.txt#char=7,15")).await;
    assert_eq!(text_of(&slice), "line 1 –");
    assert_eq!(read(client, &format!("{root}notes-3")).await.len(), FILES_PER_FOLDER);

    let templates = client.list_all_resource_templates().await.unwrap();
    assert!(templates.iter().any(|template| template.uri_template == format!("{root}{{+path}}")));
    assert!(client.list_all_tools().await.unwrap().iter().any(|tool| tool.name == "fetch"));
    let arguments = serde_json::json!({ "id": format!("{root}lines.txt") });
    let arguments = arguments.as_object().unwrap().clone();
    let fetch = CallToolRequestParams::new("fetch").with_arguments(arguments);
    let fetched = client.call_tool(fetch).await.unwrap();
    assert_eq!(fetched.structured_content.unwrap()["text"], LINES);
    let arguments = serde_json::json!({ "query": "lines", "mime_type": "text/plain" });
    let arguments = arguments.as_object().unwrap().clone();
    let search = CallToolRequestParams::new("search").with_arguments(arguments);
    let found = client.call_tool(search).await.unwrap();
    assert_eq!(found.is_error, Some(false), "{found:?}");
    assert!(found.structured_content.unwrap()["results"].is_array());

    let missing = ReadResourceRequestParams::new(format!("{root}no-such-file.txt"));
    client.read_resource(missing).await.expect_err("a missing resource is an error");
}

/// Each change of a file is heard of once, and the read that follows sees it.
async fn check_hears(connected: &mut Connected, collection: &Collection, era: Era) {
    let uri = "docs://shelf/lines.txt";
    let client = &connected.client;
    let mut listening = None;
    match era {
        Era::Legacy => {
            #[allow(deprecated, reason = "the legacy era has no other way")]
            client.subscribe(SubscribeRequestParams::new(uri)).await.unwrap();
        }
        Era::Modern => {
            let mut filter = SubscriptionFilter::new();
            filter.resource_subscriptions = Some(vec![uri.to_owned()]);
            listening = Some(client.listen(filter).await.unwrap());
        }
    }
    for text in ["changed\n", "changed again\n"] {
        collection.save("lines.txt", text);
        let hear = async {
            let Some(listening) = &mut listening else {
                return connected.heard.recv().await.unwrap();
            };
            match listening.next().await.unwrap() {
                Some(ServerNotification::ResourceUpdatedNotification(told)) => told.params.uri,
                other => panic!("an update expected: {other:?}"),
            }
        };
        let heard = tokio::time::timeout(DEADLINE, hear).await.expect("it is told in time");
        assert_eq!(heard, uri);
        assert_eq!(text_of(&read(client, uri).await), text);
    }
}

async fn check_all(mut connected: Connected, collection: &Collection, era: Era) {
    check(&connected.client, &collection.folder()).await;
    check_hears(&mut connected, collection, era).await;
    connected.client.cancel().await.unwrap();
}

async fn check_http(era: Era) {
    let collection = Collection::new();
    let (_program, connected) = collection.connect_http(era).await;
    check_all(connected, &collection, era).await;
}

async fn check_stdio(era: Era) {
    let collection = Collection::new();
    let connected = collection.connect_stdio(era).await;
    check_all(connected, &collection, era).await;
}

#[tokio::test]
async fn reads_over_http_in_the_legacy_era() {
    check_http(Era::Legacy).await;
}

#[tokio::test]
async fn reads_over_http_in_the_modern_era() {
    check_http(Era::Modern).await;
}

#[tokio::test]
async fn reads_over_stdio_in_the_legacy_era() {
    check_stdio(Era::Legacy).await;
}

#[tokio::test]
async fn reads_over_stdio_in_the_modern_era() {
    check_stdio(Era::Modern).await;
}
