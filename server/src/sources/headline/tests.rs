//! Titles and descriptions, as tables.

use expect_test::{Expect, expect};

use super::headline;

fn check(mime_type: &str, texts: &[&str], expect: &Expect) {
    let lines: Vec<String> = texts
        .iter()
        .map(|text| {
            let found = headline(mime_type, text);
            let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            format!("{} | {}", or_dash(found.title), or_dash(found.description))
        })
        .collect();
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn front_matter() {
    check(
        "text/markdown",
        &[
            "---\ntitle: Plain title # comment\n---\n# Heading\n\nText.",
            "---\nlayout: x\ntitle: \"Quoted \\\"title\\\" \\u00e9\"\n---\n",
            "---\ntitle: 'It''s'\nsummary: What it is. More.\n...\nOther text",
            "---\ntitle: >-\n  folded\n  title\nother: x\n---\n",
            "---\ntitle:\nother: [x]\n---\n# Heading",
            "---\nnested:\n  title: not this\nsubtitle: nor this\n---\n# Heading",
            "---\ntitle: [a, b]\n---\n# Heading",
            "---\r\ntitle: Windows\r\n---\r\nText",
            "+++\ntitle = \"TOML title\"\ndescription = 'D'\n+++\n# Heading",
            "+++\nnot toml\n+++\n# Heading",
            "---\ntitle: never closed\n\n# Heading",
            "\u{feff}---\ntitle: after a mark\n---\n",
        ],
        &expect![[r#"
            Plain title | Text.
            Quoted "title" é | -
            It's | What it is.
            folded title | -
            Heading | -
            Heading | -
            Heading | -
            Windows | Text
            TOML title | D
            Heading | +++ not toml +++
            Heading | title: never closed
            after a mark | -"#]],
    );
}

#[test]
fn markdown_headings_and_paragraphs() {
    check(
        "text/markdown",
        &[
            "# Title #\n\nFirst sentence. Second one.",
            "Intro before.\n\n## Second level",
            "Set\nheading\n===\n\nText",
            "Set\n---\nText",
            "---\n\n# After a break",
            "```\n# not this\n```\n~~~sh\n# nor this\n```\n~~~\n# This",
            "    # indented code\n\n# This",
            "<!-- # not\nthis -->\n# This\n",
            "#hashtag\n\n# This",
            "#\n\n# This\n\n- list\n- list\n\n> quote\n\nParagraph",
            "# `code_name` and __bold__ *em* snake_case a\\*b &amp; [link](http://x/(y)) ![img](z) <b>x</b>",
            "[![badge](x)](y)\n\n# T\n\n[![badge](x)](y) ![b](z)\n\nReal text, e.g. this. Not this.",
            "# 手册\n\n第一句。第二句。",
            "<p align=\"center\">\n<img src=x>\n</p>\n<h1>The\n <i>name</i></h1>\n\n<b>Words</b> <https://x.example>",
            "# T\n\n<table>\n<tr><td>cell</td></tr>\n</table>\n\n<https://x.example> is it.",
            "no heading\nbut two lines! Then more",
            "# quarter<br/>budget Donau<wbr>dampf\n\none<BR>two",
            "<div>\n<h1>quarter<br>budget</h1>\n</div>",
            "",
        ],
        &expect![[r#"
            Title | First sentence.
            Second level | Intro before.
            Set heading | Text
            Set | Text
            After a break | -
            This | -
            This | -
            This | -
            This | #hashtag
            This | Paragraph
            code_name and bold em snake_case a*b & link x | -
            T | Real text, e.g. this.
            手册 | 第一句。
            The name | Words https://x.example
            T | https://x.example is it.
            - | no heading but two lines!
            quarter budget Donaudampf | one two
            quarter budget | -
            - | -"#]],
    );
}

#[test]
fn html() {
    check(
        "text/html",
        &[
            "<html><head><title>A &amp; B&nbsp;&#8212; &eacute;</title></head><body><p>First <b>one</b>. Second.</p>",
            "<TITLE lang=en>\n  two\n lines </TITLE>",
            "<!-- <title>not</title> --><script>'<title>not</title>'</script><title>this</title>",
            "<svg><title>icon</title></svg><h1>Heading <em>one</em></h1>",
            "<title></title><h1>Heading</h1>",
            "<meta content='From meta. More' name=description><title>T</title><p>Not this",
            "<p></p><p>a < b</p><h1>T</h1>",
            "<h1>quarter<br/>budget <div>of</div><div>all</div></h1><p>Donau<wbr>dampf<br>schiff</p>",
            "<h1><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京</ruby></h1>",
            "plain",
        ],
        &expect![[r#"
            A & B — é | First one.
            two lines | -
            this | -
            Heading one | -
            Heading | -
            T | From meta.
            T | a < b
            quarter budget of all | Donaudampf schiff
            東京 | -
            - | -"#]],
    );
}

#[test]
fn other_types() {
    check(
        "text/plain",
        &["\n\nFirst line\nsecond line. More.\n\nNext", "1. First point. x", "\x1b"],
        &expect![[r#"
            - | First line second line.
            - | 1. First point.
            - | -"#]],
    );
    check("text/x-rust", &["# not a title\n\nText"], &expect!["- | -"]);
}

#[test]
fn lines_are_bounded() {
    let words = "word ".repeat(100);
    let solid = "字".repeat(300);
    for text in [&words, &solid] {
        let found = headline("text/markdown", &format!("# {text}\n\n{text}"));
        for line in [found.title.unwrap(), found.description.unwrap()] {
            assert!(line.chars().count() <= 200 && line.ends_with('…'), "{line}");
        }
    }
}

/// What could recurse or be looked through again and again is bounded.
#[test]
fn hostile_markup_is_read_in_passing() {
    for unit in
        ["[", "[[a](", "`", "<a \"", "<p>", "<p", "![", "<!--", "*_", "\\", "&", "# \n", "<script>"]
    {
        let text = unit.repeat(20_000 / unit.len());
        headline("text/markdown", &text);
        headline("text/html", &text);
    }
}

/// The parser bounds the parts of one key and the nesting of values, but not both together.
#[test]
fn deep_front_matter_takes_a_small_stack() {
    let parts = vec!["a"; 79].join(".");
    let path = |times: usize| vec!["a"; times].join(".");
    for inside in [
        format!("{} = 1", path(30_000)),
        format!("[{}]", path(30_000)),
        format!("a = {}", "[".repeat(60_000)),
        format!("a = {}", "{a=".repeat(20_000)),
        format!("a = {}{}", "[".repeat(79), "]".repeat(79)),
        format!("[{parts}]\n{}1{}", format!("{parts} = {{").repeat(78), "}".repeat(78)),
        format!("{}{parts} = 1{}", format!("{parts} = {{").repeat(78), "}".repeat(78)),
        format!("[{parts}]\n{}{parts} = 1{}", format!("{parts} = {{").repeat(78), "}".repeat(78)),
    ] {
        let text = format!("+++\n{inside}\n+++\n# Heading");
        let thread = std::thread::Builder::new().stack_size(256 * 1024);
        let found = thread.spawn(move || headline("text/markdown", &text)).unwrap().join().unwrap();
        assert_eq!(found.title.as_deref(), Some("Heading"));
    }
}
