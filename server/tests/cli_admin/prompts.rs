//! `pressmark prompt`.

use serde_json::{Value, json};

use crate::Desk;

const PROMPTS: &str = r#"
[[prompt]]
name = "hello"
title = "A greeting"
[[prompt.argument]]
name = "who"
required = true
[[prompt.message]]
text = "Say hello to {who}."

[[prompt]]
name = "bye"
[[prompt.message]]
image = { mime_type = "image/png", file = "dot.png" }
"#;

#[test]
fn prompts_of_a_file_are_added_listed_and_removed_on_either_side() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("dot.png"), b"\x89PNG").unwrap();
    std::fs::write(desk.path().join("prompts.toml"), PROMPTS).unwrap();
    let faulty = PROMPTS.replace("Say hello to {who}.", "Say hello to {whom}.");
    std::fs::write(desk.path().join("faulty.toml"), faulty).unwrap();
    assert_eq!(
        desk.run(&["space", "add", "s", "s://{x}", "--data", "store"]).status.code(),
        Some(0)
    );
    let server = desk.serve("served");
    for side in [&["--data", "store"][..], &["--admin", &server.admin]] {
        let run = |arguments: &[&str], exit: i32| -> String {
            let output = desk.run(&[arguments, side].concat());
            assert_eq!(output.status.code(), Some(exit), "{arguments:?} {side:?}: {output:?}");
            String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
        };
        let refused = run(&["prompt", "add", "faulty.toml"], 2);
        assert!(refused.contains("faulty.toml:9: prompt.message.text"), "{refused}");
        assert_eq!(run(&["prompt", "list"], 0), "", "one that is faulty keeps all others out");

        run(&["prompt", "add", "prompts.toml"], 0);
        assert_eq!(run(&["prompt", "list"], 0), "bye\t\t\nhello\tA greeting\twho\n");
        let again = run(&["prompt", "add", "prompts.toml", "--json"], 0);
        let replaced =
            "{\"name\":\"hello\",\"replaced\":true}\n{\"name\":\"bye\",\"replaced\":true}\n";
        assert_eq!(again, replaced);
        run(&["prompt", "remove", "bye"], 0);
        let list: Value = serde_json::from_str(&run(&["prompt", "list", "--json"], 0)).unwrap();
        let hello = json!({
            "name": "hello", "title": "A greeting",
            "arguments": [{"name": "who", "required": true}], "messageCount": 1,
        });
        assert_eq!(list, hello);
        let none = run(&["prompt", "remove", "bye", "--json"], 2);
        assert!(none.contains("NOT_FOUND") && none.contains("`bye`"), "{none}");
    }
    server.end();
}
