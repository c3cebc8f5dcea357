//! The official Rust SDK hears of changes, over both transports and in both eras.

use std::sync::Arc;

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{
        ProtocolVersion, ResourceUpdatedNotificationParam, ServerNotification,
        SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RunningService, SubscriptionEnd},
    transport::StreamableHttpClientTransport,
};
use tokio::sync::mpsc;

use crate::common::{Bounds, Front, events::DEADLINE, http::HttpFront, stdio};

const PLAIN: &str = "note://shelf/plain";

/// A client that passes on what it hears outside of its listens.
struct Listener(mpsc::Sender<String>);

impl ClientHandler for Listener {
    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.send(params.uri).await.unwrap();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("list_changed".to_owned()).await.unwrap();
    }
}

type Client = RunningService<RoleClient, Listener>;

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

async fn over_http(
    server: &HttpFront,
    lifecycle: ClientLifecycleMode,
) -> (Client, mpsc::Receiver<String>) {
    let (heard, hearing) = mpsc::channel(16);
    let url = format!("http://{}/mcp", server.address);
    let transport = StreamableHttpClientTransport::from_uri(url);
    (Listener(heard).serve_with_lifecycle(transport, lifecycle).await.unwrap(), hearing)
}

async fn over_stdio(
    front: &Arc<Front>,
    lifecycle: ClientLifecycleMode,
) -> (Client, mpsc::Receiver<String>) {
    let (heard, hearing) = mpsc::channel(16);
    let (client, server) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(server);
    let front = Arc::clone(front);
    tokio::spawn(async move { stdio::serve(&front, reader, writer).await });
    let transport = tokio::io::split(client);
    (Listener(heard).serve_with_lifecycle(transport, lifecycle).await.unwrap(), hearing)
}

async fn hear(hearing: &mut mpsc::Receiver<String>) -> String {
    tokio::time::timeout(DEADLINE, hearing.recv()).await.expect("it is told in time").unwrap()
}

#[allow(deprecated, reason = "the legacy era has no other way")]
async fn check_legacy(front: &Front, client: Client, mut hearing: mpsc::Receiver<String>) {
    client.subscribe(SubscribeRequestParams::new(PLAIN)).await.unwrap();
    front.put("plain", "changed");
    assert_eq!(hear(&mut hearing).await, PLAIN);
    front.put("new", "created");
    assert_eq!(hear(&mut hearing).await, "list_changed");
    client.unsubscribe(UnsubscribeRequestParams::new(PLAIN)).await.unwrap();
    front.put("plain", "unheard");
    front.delete("new");
    assert_eq!(hear(&mut hearing).await, "list_changed");
    client.cancel().await.unwrap();
}

async fn check_modern(front: &Front, client: Client) {
    let mut filter = SubscriptionFilter::new();
    filter.resource_subscriptions = Some(vec![PLAIN.to_owned()]);
    filter.resources_list_changed = Some(true);
    filter.tools_list_changed = Some(true);
    let mut first = client.listen(filter.clone()).await.unwrap();
    assert_eq!(first.acknowledged().tools_list_changed, None);
    let mut second = client.listen(filter).await.unwrap();
    front.put("plain", "changed");
    for subscription in [&mut first, &mut second] {
        match subscription.next().await.unwrap() {
            Some(ServerNotification::ResourceUpdatedNotification(updated)) => {
                assert_eq!(updated.params.uri, PLAIN);
            }
            other => panic!("an update expected: {other:?}"),
        }
    }
    first.cancel().await.unwrap();
    front.put("new", "created");
    match second.next().await.unwrap() {
        Some(ServerNotification::ResourceListChangedNotification(_)) => {}
        other => panic!("a change of the list expected: {other:?}"),
    }
    front.http.shutdown.begin();
    while second.next().await.unwrap().is_some() {}
    assert!(
        matches!(second.end(), Some(SubscriptionEnd::Graceful(_) | SubscriptionEnd::Cancelled)),
        "{:?}",
        second.end()
    );
}

#[tokio::test]
async fn a_legacy_client_hears_over_http() {
    let server = HttpFront::start(Bounds::default()).await;
    let (client, hearing) = over_http(&server, ClientLifecycleMode::Initialize).await;
    // The stream is a request of its own, beside the messages.
    crate::common::until(|| server.front.http.metrics.streams.get() == 1).await;
    check_legacy(&server.front, client, hearing).await;
}

#[tokio::test]
async fn a_legacy_client_hears_over_stdio() {
    let front = Arc::new(Front::new(Bounds::default()));
    let (client, hearing) = over_stdio(&front, ClientLifecycleMode::Initialize).await;
    check_legacy(&front, client, hearing).await;
}

#[tokio::test]
async fn a_modern_client_hears_over_http() {
    let server = HttpFront::start(Bounds::default()).await;
    let (client, _hearing) = over_http(&server, modern()).await;
    check_modern(&server.front, client).await;
}

#[tokio::test]
async fn a_modern_client_hears_over_stdio() {
    let front = Arc::new(Front::new(Bounds::default()));
    let (client, _hearing) = over_stdio(&front, modern()).await;
    check_modern(&front, client).await;
}
