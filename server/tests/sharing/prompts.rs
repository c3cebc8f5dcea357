//! The prompts of the configuration in every window, and in the one that takes the store over.

use std::fs;

use serde_json::json;

use crate::window::{Desk, Window, request, uri};

const CONFIG: &str = r#"
[[source]]
space = "docs"
path = "docs"

[[prompt]]
name = "review"

[[prompt.argument]]
name = "page"
required = true
variable = { space = "docs", variable = "path" }

[[prompt.message]]
embedded_resource = "docs://docs/{+page}"
"#;

async fn check(window: &mut Window, id: u64) {
    let listed = window.ask(request(id, "prompts/list", json!({}))).await;
    assert_eq!(listed["result"]["prompts"][0]["name"], "review", "{listed}");
    let params = json!({"name": "review", "arguments": {"page": "a.md"}});
    let got = window.ask(request(id + 1, "prompts/get", params)).await;
    let resource = &got["result"]["messages"][0]["content"]["resource"];
    assert_eq!(
        resource,
        &json!({"uri": uri("a.md"), "mimeType": "text/markdown", "text": "# One\n"})
    );
    let params = json!({
        "ref": {"type": "ref/prompt", "name": "review"},
        "argument": {"name": "page", "value": "a"},
    });
    let completed = window.ask(request(id + 2, "completion/complete", params)).await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["a.md"]), "{completed}");
}

#[tokio::test]
async fn every_window_has_the_prompts_of_the_configuration() {
    let desk = Desk::new(&[("a.md", "# One\n")]);
    fs::write(desk.path("pressmark.toml"), CONFIG).unwrap();
    let window = || Window::start(desk.command(&["stdio", "--config", "pressmark.toml"]));
    let mut owner = window();
    owner.said("data in").await;
    owner.initialize().await;
    check(&mut owner, 1).await;
    let mut follower = window();
    follower.said("sharing the store").await;
    follower.initialize().await;
    check(&mut follower, 1).await;
    owner.kill().await;
    check(&mut follower, 11).await;
}
