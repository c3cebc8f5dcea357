//! What a file is taken for.

use expect_test::{Expect, expect};
use pressmark_index::resource::Body;

use super::{put, records, source};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0";

fn check(files: &[(&str, &[u8])], expect: &Expect) {
    let folder = tempfile::TempDir::new().unwrap();
    for (path, content) in files {
        put(folder.path(), path, content);
    }
    let mut lines = Vec::new();
    for (path, content) in files {
        let all = records(&source(folder.path()));
        let resource = &all[&crate::sources::uri_path::escape_path(path)];
        let (kind, bytes) = match &resource.contents[0].body {
            Body::Text(text) => ("text", text.as_bytes()),
            Body::Blob(bytes) => ("blob", bytes.as_slice()),
        };
        assert_eq!(bytes, *content, "{path}: the bytes read back as they are");
        lines.push(format!("{path}: {kind} {}", resource.mime_type.as_deref().unwrap()));
    }
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn text_by_extension() {
    check(
        &[
            ("a.md", b"x"),
            ("a.HTML", b"x"),
            ("a.ts", b"export const x = 1;"),
            ("a.tsx", b"x"),
            ("a.js", b"x"),
            ("a.css", b"x"),
            ("a.json", b"{}"),
            ("a.xml", b"<a/>"),
            ("a.csv", b"a,b"),
            ("a.yaml", b"a: 1"),
            ("a.toml", b"a = 1"),
            ("a.rs", b"fn main() {}"),
            ("a.py", b"x"),
            ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            ("a.txt", b"<!doctype html><title>T</title>"),
            ("a.unknown", b"x"),
            ("a.mp4", b"notes about a film"),
            ("Dockerfile", b"FROM scratch"),
            ("LICENSE", b"x"),
            (".gitignore", b"x"),
            ("empty.png", b""),
        ],
        &expect![[r#"
            a.md: text text/markdown
            a.HTML: text text/html
            a.ts: text text/x-typescript
            a.tsx: text text/x-typescript
            a.js: text text/javascript
            a.css: text text/css
            a.json: text application/json
            a.xml: text text/xml
            a.csv: text text/csv
            a.yaml: text application/yaml
            a.toml: text application/toml
            a.rs: text text/x-rust
            a.py: text text/x-python
            a.svg: text image/svg+xml
            a.txt: text text/plain
            a.unknown: text text/plain
            a.mp4: text text/plain
            Dockerfile: text text/x-dockerfile
            LICENSE: text text/plain
            .gitignore: text text/plain
            empty.png: text text/plain"#]],
    );
}

#[test]
fn text_without_a_telling_name() {
    check(
        &[
            ("page", b"\n<!DOCTYPE html><html></html>"),
            ("run", b"#!/usr/bin/env bash\necho"),
            ("tool", b"#!/usr/bin/python3\n"),
            ("drawing", b"<?xml version='1.0'?><svg></svg>"),
            ("words", "W\u{f6}rter".as_bytes()),
        ],
        &expect![[r#"
            page: text text/html
            run: text text/x-shellscript
            tool: text text/x-python
            drawing: text image/svg+xml
            words: text text/plain"#]],
    );
}

#[test]
fn text_is_utf8_without_binary_bytes() {
    check(
        &[
            ("bom.md", b"\xef\xbb\xbf# T"),
            ("ansi.log", b"\x1b[31mred\x1b[0m\tx\x0c\r\n"),
            ("nul.txt", b"a\0b"),
            ("utf16.txt", b"\xff\xfea\0b\0"),
            ("latin1.txt", b"caf\xe9"),
            ("latin1.html", b"<p>caf\xe9"),
            ("truncated.md", b"caf\xc3"),
            ("surrogate.txt", b"\xed\xa0\x80"),
        ],
        &expect![[r#"
            bom.md: text text/markdown
            ansi.log: text text/plain
            nul.txt: blob application/octet-stream
            utf16.txt: blob text/plain
            latin1.txt: blob text/plain
            latin1.html: blob text/html
            truncated.md: blob text/markdown
            surrogate.txt: blob text/plain"#]],
    );
}

#[test]
fn blobs_by_content_first() {
    check(
        &[
            ("lie.txt", PNG),
            ("a.png", PNG),
            ("a", b"\xff\xd8\xff\xe0\0\x10JFIF"),
            ("ascii.txt", b"%PDF-1.4\n% all ASCII"),
            ("a.zip", ZIP),
            ("a.odt", ZIP),
            ("a.docx", ZIP),
            ("lie.png", ZIP),
            ("film.ts", b"G\x40\0\x10\0\0\xff\xff"),
            ("unknown.bin", b"\0\x01\x02"),
            ("unknown.md", b"\0\x01\x02"),
            ("unknown", b"\0\x01\x02"),
        ],
        &expect![[r#"
            lie.txt: blob image/png
            a.png: blob image/png
            a: blob image/jpeg
            ascii.txt: blob application/pdf
            a.zip: blob application/zip
            a.odt: blob application/vnd.oasis.opendocument.text
            a.docx: blob application/vnd.openxmlformats-officedocument.wordprocessingml.document
            lie.png: blob application/zip
            film.ts: blob video/vnd.dlna.mpeg-tts
            unknown.bin: blob application/octet-stream
            unknown.md: blob application/octet-stream
            unknown: blob application/octet-stream"#]],
    );
}
