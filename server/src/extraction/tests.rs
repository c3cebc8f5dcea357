//! What each kind of contents comes to, and what hostile ones cost.

use std::borrow::Cow;
use std::time::Duration;

use pressmark_index::full_text::extract::Stop;

use super::{Contents, ExtractCommand, ExtractFault, Extractor, TEXT_BYTES_MAX};

fn ours() -> Extractor {
    Extractor::new([], None)
}

#[test]
fn texts_by_their_types() {
    for (mime_type, contents, title, expected) in [
        ("text/plain", "as  it\nis", None, "as  it\nis"),
        ("text/csv", "a,b\n", None, "a,b\n"),
        ("text/html; charset=utf-8", "<title>T</title><p>x", Some("T"), "x"),
        ("text/markdown", "# Head\n\n*x*", Some("Head"), "Head\nx"),
        ("application/json", "{\"a\": \"\\u0041\"}", None, "{\"a\": \"A\"}"),
        ("application/x-ipynb+json", "{\"cells\": [{\"source\": [\"x\"]}]}", None, "x"),
        ("application/x-ipynb+json", "broken", None, "broken"),
        ("image/svg+xml", "<svg><text>s</text></svg>", None, "s"),
        ("application/xml", "<a b='c'>&#233;</a>", None, "<a b='c'>é</a>"),
        ("application/pdf", "taken by others", None, "taken by others"),
        ("x-unknown/type", "text", None, "text"),
        ("", "text", None, "text"),
    ] {
        let found = ours().text_of(mime_type, Contents::Text(contents), &Stop::default()).unwrap();
        assert_eq!((found.title.as_deref(), &*found.text), (title, expected), "{mime_type}");
    }
}

#[test]
fn plain_text_is_not_copied() {
    for mime_type in ["text/plain", "text/x-rust", "application/json", "text/xml"] {
        let found =
            ours().text_of(mime_type, Contents::Text("fn main() {}"), &Stop::default()).unwrap();
        assert!(matches!(found.text, Cow::Borrowed(_)), "{mime_type}");
        assert_eq!(found.is_code, mime_type.contains("rust") || mime_type.contains("json"));
    }
}

#[test]
fn blobs_are_decoded_or_refused() {
    let extract = |mime_type: &str, bytes: &[u8]| {
        ours()
            .text_of(mime_type, Contents::Blob(bytes), &Stop::default())
            .map(|found| found.text.into_owned())
    };
    assert_eq!(extract("text/plain", b"caf\xe9 au lait"), Ok("café au lait".to_owned()));
    assert_eq!(extract("text/html", b"\xff\xfe<\0p\0>\0x\0"), Ok("x".to_owned()));
    assert_eq!(extract("image/png", b"\x89PNG"), Err(ExtractFault::Unknown));
    assert_eq!(extract("application/pdf", b"%PDF-"), Err(ExtractFault::Unknown));
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    assert!(matches!(extract(word, b"PK"), Err(ExtractFault::Damaged(_))));
}

fn command(words: &[&str]) -> Extractor {
    let command = ExtractCommand {
        program: words[0].into(),
        arguments: words[1..].iter().map(|word| (*word).to_owned()).collect(),
        timeout: Duration::from_secs(60),
        output_bytes_max: 1 << 20,
    };
    Extractor::new([("Application/X-Own".to_owned(), command)], None)
}

fn run(extractor: &Extractor, input: &[u8]) -> Result<String, ExtractFault> {
    let found =
        extractor.text_of("application/x-own; v=1", Contents::Blob(input), &Stop::default())?;
    Ok(found.text.into_owned())
}

#[test]
fn commands_turn_stdin_into_stdout() {
    let large = b"0123456789abcde\n".repeat(60_000);
    let text = String::from_utf8(large.clone()).unwrap();
    assert_eq!(run(&command(&["cat"]), &large), Ok(text));
    assert_eq!(run(&command(&["tr", "a-z", "A-Z"]), b"word"), Ok("WORD".to_owned()));
    assert_eq!(
        run(&command(&["sh", "-c", "exec <&-; echo done"]), &large),
        Ok("done\n".to_owned())
    );
    // What goes on holds the pipe, and is not waited for.
    assert_eq!(run(&command(&["sh", "-c", "sleep 600 & echo x"]), b""), Ok("x\n".to_owned()));
}

#[test]
fn commands_are_held_to_their_bounds() {
    let failed = |words: &[&str]| run(&command(words), b"x").unwrap_err();
    assert!(
        matches!(failed(&["sh", "-c", "echo x; exit 3"]), ExtractFault::Command(text) if text.contains('3'))
    );
    assert!(matches!(failed(&["./no such program"]), ExtractFault::Command(_)));
    assert_eq!(failed(&["yes"]), ExtractFault::CommandOutput(1 << 20));
    for words in [&["sleep", "600"][..], &["sh", "-c", "exec >&-; sleep 600"]] {
        let mut slow = command(words);
        let timeout = Duration::from_millis(50);
        slow.commands.values_mut().for_each(|command| command.timeout = timeout);
        assert_eq!(run(&slow, b"x"), Err(ExtractFault::CommandTimedOut(timeout)));
    }
}

/// What could recurse, or be looked through again and again, is read in passing: each of these would take minutes.
#[test]
fn hostile_texts_are_read_in_passing() {
    const BYTES: usize = 256 << 10;
    for unit in [
        "<div>",
        "<nav>",
        "<pre>",
        "<a \"",
        "<p",
        "</",
        "<!--",
        "<![CDATA[",
        "&",
        "&#",
        "<script>",
        "<",
        "[",
        "![",
        "[[a](",
        "`",
        "*_",
        "**a ",
        "> ",
        "- ",
        "\t",
        "  - a\n",
        "|",
        "|a\n|-\n",
        "```\n",
        "~",
        "# \n",
        "\\",
        "\"",
        "\"\\",
        "\\u",
        "{\"a\":",
        "[^a]: ",
        "<a>",
        "<x:",
        "<?",
        "<!DOCTYPE a [",
        "]]>",
        "\n\n",
        "---\n",
        "a\n===\n",
        "_a",
        "a_",
        "<b>*",
        "![a][",
        "(",
        "[a]: b\n",
        "**",
        "*a_",
    ] {
        let text = unit.repeat(BYTES / unit.len());
        for mime_type in [
            "text/html",
            "text/markdown",
            "application/json",
            "application/x-ipynb+json",
            "image/svg+xml",
            "text/xml",
        ] {
            let found = ours().text_of(mime_type, Contents::Text(&text), &Stop::default()).unwrap();
            assert!(found.text.len() <= TEXT_BYTES_MAX.max(text.len()), "{mime_type} {unit}");
        }
    }
}
