//! What `serve` says when it is ready: how to read a document and how to add the server to hosts.

use std::net::SocketAddr;

use pressmark_index::access::Access;
use pressmark_index::contents_fragment::WireFields;
use pressmark_index::engine::Engine;
use pressmark_index::list::PageBounds;

use super::Common;
use super::numbers::counted;
use crate::indexer::Summary;

/// Prints the lines, with a document that is really there.
pub(super) fn print(common: &Common, engine: &Engine, bound: SocketAddr, summary: Summary) {
    let say = |line: &str| common.remark(line);
    let url = format!("http://{bound}/mcp");
    let count: u64 = engine.spaces().spaces.iter().map(|space| space.resource_count()).sum();
    let are = if count == 1 { "is" } else { "are" };
    let count = counted(count, "resource", "resources");
    say(&format!("\n{count} {are} ready at {url}{}", what_failed(summary)));
    if common.hides_progress() {
        return;
    }
    if let Some(uri) = first_uri(engine) {
        say(&format!("\nRead one:\n  {}", curl_line(&url, &uri)));
    }
    say("\nAdd the server to a host:");
    say(&format!("  Claude Code  claude mcp add --transport http pressmark {url}"));
    say(&format!(
        "  VS Code      code --add-mcp '{{\"name\":\"pressmark\",\"type\":\"http\",\"url\":\"{url}\"}}'"
    ));
    say(&format!(
        "  Inspector    npx @modelcontextprotocol/inspector --cli {url} --transport http --method resources/list"
    ));
}

fn what_failed(summary: Summary) -> String {
    let sources = match summary.sources_failed {
        0 => String::new(),
        1 => ", 1 source could not be indexed".to_owned(),
        count => format!(", {count} sources could not be indexed"),
    };
    let paths = match summary.unreadable {
        0 => String::new(),
        1 => ", 1 file or folder could not be read".to_owned(),
        count => format!(", {count} files or folders could not be read"),
    };
    let hint = if sources.is_empty() && paths.is_empty() { "" } else { " (see above)" };
    format!("{sources}{paths}{hint}")
}

fn first_uri(engine: &Engine) -> Option<String> {
    let bounds = PageBounds { items_max: 1, bytes_max: 1 };
    let page = engine.list(None, &Access::anonymous(), bounds).ok()?;
    let fields = WireFields { title: false, icons: false, meta: false, last_modified: false };
    let mut json = Vec::new();
    page.items.first()?.write(fields, &mut json);
    let item: serde_json::Value = serde_json::from_slice(&json).ok()?;
    item.get("uri")?.as_str().map(str::to_owned)
}

fn curl_line(url: &str, uri: &str) -> String {
    let body = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}
    });
    let body = body.to_string().replace('\'', r"'\''");
    format!(
        "curl -s {url} -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '{body}'"
    )
}
