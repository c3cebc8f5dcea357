//! `pressmark search`: what the model's tool finds, from the shell.

use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, ValueEnum};
use pressmark_index::full_text::Snippet;
use pressmark_proto::v1;
use serde::Serialize;

use super::Common;
use super::complete::{pairs, parse_chosen};
use super::inspect::time_text;
use super::list::{no_such_space, space_name};
use super::numbers::grouped;
use super::open::{FAILING_MAX, INDEX_POLL};
use super::output::{Failure, Out};
use super::target::Target;
use crate::highlight::highlighted;
use crate::terminal::{self, one_line};

/// Bytes of a snippet: two lines of a terminal.
const SNIPPET_BYTES: u32 = 200;
/// Results of a page.
const LIMIT_MAX: u32 = 50;

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Words, "phrases", -word, field:value, prefix*
    #[arg(required = true, value_name = "WORD")]
    query: Vec<String>,
    /// Only in this space
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
    /// Only where a variable of the template has this value; repeatable
    #[arg(long, value_name = "VARIABLE=VALUE", value_parser = parse_chosen)]
    variable: Vec<(String, String)>,
    /// Only of this MIME type, such as `text/*`
    #[arg(long, value_name = "TYPE")]
    mime_type: Option<String>,
    /// How many results
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = parse_limit)]
    limit: u32,
    /// Order of the results
    #[arg(long, value_enum, default_value_t = Sort::Relevance)]
    sort: Sort,
    /// The page that begins here, as the page before says
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sort {
    Relevance,
    Recent,
}

/// How a terminal shows text; empty where it is none.
struct Paint {
    title: &'static str,
    mark: &'static str,
    dim: &'static str,
    end: &'static str,
}

const PLAIN: Paint = Paint { title: "", mark: "", dim: "", end: "" };
const COLOURS: Paint =
    Paint { title: "\u{1b}[1m", mark: "\u{1b}[1;33m", dim: "\u{1b}[2m", end: "\u{1b}[0m" };

/// Prints the results in order, and on stderr how many there are and what else is to be known.
pub(super) fn run(common: &Common, arguments: &SearchArgs) -> Result<ExitCode, Failure> {
    let target = Target::find_to_search(common, "search")?;
    let stats = usable(&target)?;
    let order = match arguments.sort {
        Sort::Relevance => v1::SearchOrder::Relevance,
        Sort::Recent => v1::SearchOrder::Recent,
    };
    let request = v1::SearchResourcesRequest {
        query: arguments.query.join(" "),
        space: arguments.space.clone().unwrap_or_default(),
        variables: pairs(&arguments.variable),
        mime_type: arguments.mime_type.clone().unwrap_or_default(),
        order: order.into(),
        limit: arguments.limit,
        cursor: arguments.cursor.clone().unwrap_or_default(),
        snippet_bytes: SNIPPET_BYTES,
        // The shell can wait, and what was loaded a moment ago is what is looked for.
        after_sequence: Some(stats.newest_sequence),
    };
    let page = target.wait(target.reading().search_resources(request))?;
    let mut out = Out::new();
    if common.json {
        out.json(&Document::of(&page))?;
        out.end()?;
        return Ok(ExitCode::SUCCESS);
    }
    let paint = if common.has_colours() { COLOURS } else { PLAIN };
    for hit in &page.hits {
        out.bytes(shown(hit, &paint).as_bytes())?;
    }
    out.end()?;
    for line in epilogue(&page) {
        common.remark(&line);
    }
    if let Some(line) = unknown_spaces(&target, &arguments.query)? {
        common.remark(&line);
    }
    Ok(ExitCode::SUCCESS)
}

/// The figures of a store whose full-text index can be used. A fault that passes is waited for.
fn usable(target: &Target) -> Result<v1::GetStatsResponse, Failure> {
    let begun = Instant::now();
    loop {
        let stats = target.wait(target.operations().get_stats(v1::GetStatsRequest {}))?;
        let failure = stats.full_text.as_ref().map_or("", |state| state.failure.as_str());
        if failure.is_empty() {
            return Ok(stats);
        }
        if begun.elapsed() > FAILING_MAX {
            return Err(format!("the full-text index stands still: {failure}").into());
        }
        std::thread::sleep(INDEX_POLL);
    }
}

fn parse_limit(text: &str) -> Result<u32, String> {
    let limit = text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
    limit.ok_or_else(|| {
        format!("write a number from 1 to {LIMIT_MAX}; --cursor goes on with the next page")
    })
}

/// Names that `space:NAME` asks for and that are none, with those that there are.
fn unknown_spaces(target: &Target, query: &[String]) -> Result<Option<String>, Failure> {
    let words = query.iter().flat_map(|words| words.split_whitespace());
    let asked = words.filter_map(|word| word.trim_start_matches('-').strip_prefix("space:"));
    let asked: Vec<_> = asked
        .map(|name| name.trim_matches('"'))
        .filter(|name| !name.is_empty() && !name.ends_with('*'))
        .collect();
    if asked.is_empty() {
        return Ok(None);
    }
    let spaces = target.wait(target.spaces().list_spaces(v1::ListSpacesRequest {}))?.spaces;
    let is_unknown = |name: &&&str| !spaces.iter().any(|entry| space_name(entry) == **name);
    Ok(asked.iter().find(is_unknown).map(|name| no_such_space(name, &spaces)))
}

/// Title, URI and snippet, and an empty line.
fn shown(hit: &v1::SearchHit, paint: &Paint) -> String {
    let Paint { title, mark, dim, end } = paint;
    let mut lines =
        format!("{title}{}{end}\n  {dim}{}{end}\n", one_line(&hit.title), one_line(&hit.uri));
    let snippet = highlighted(&quiet(&snippet(hit)), mark, end);
    if !snippet.is_empty() {
        lines.push_str(&format!("  {snippet}\n"));
    }
    lines.push('\n');
    lines
}

fn snippet(hit: &v1::SearchHit) -> Snippet {
    let place = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
    let marks = hit.marks.iter().map(|mark| place(mark.start)..place(mark.end)).collect();
    Snippet { text: hit.snippet.clone(), marks }
}

/// The snippet without control characters. Spaces take as many bytes as they did, so that the marks stay where they are.
fn quiet(snippet: &Snippet) -> Snippet {
    let mut text = String::with_capacity(snippet.text.len());
    for character in snippet.text.chars() {
        if terminal::acts(character) {
            text.extend(std::iter::repeat_n(' ', character.len_utf8()));
        } else {
            text.push(character);
        }
    }
    Snippet { text, marks: snippet.marks.clone() }
}

/// A page of results, as `--json` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    results: Vec<Found<'a>>,
    total: u64,
    total_is_exact: bool,
    notes: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    next_cursor: &'a str,
}

/// A result; fields that the resource does not have are left out.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found<'a> {
    uri: &'a str,
    title: &'a str,
    snippet: String,
    score: f32,
    space: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    mime_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

impl<'a> Document<'a> {
    fn of(page: &'a v1::SearchResourcesResponse) -> Self {
        let found = |hit: &'a v1::SearchHit| Found {
            uri: &hit.uri,
            title: &hit.title,
            snippet: highlighted(&snippet(hit), "**", "**"),
            score: hit.score,
            space: &hit.space,
            mime_type: &hit.mime_type,
            last_modified: hit.last_modified.as_ref().and_then(time_text),
        };
        Self {
            results: page.hits.iter().map(found).collect(),
            total: page.total,
            total_is_exact: page.total_is_exact,
            notes: &page.notes,
            next_cursor: &page.next_cursor,
        }
    }
}

/// How many there are, what else is to be known, and how to go on.
fn epilogue(page: &v1::SearchResourcesResponse) -> Vec<String> {
    let at_least = if page.total_is_exact { "" } else { "at least " };
    let mut lines = vec![format!("{} of {at_least}{}", page.hits.len(), grouped(page.total))];
    lines.extend(page.notes.iter().cloned());
    if !page.next_cursor.is_empty() {
        lines.push(format!("more: --cursor {}", page.next_cursor));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hit of which the first bytes are marked.
    fn hit(title: &str, text: &str, marked: u32) -> v1::SearchHit {
        let mark = v1::ByteRange { start: 0, end: marked };
        v1::SearchHit {
            uri: "x://y".to_owned(),
            title: title.to_owned(),
            snippet: text.to_owned(),
            marks: Some(mark).filter(|mark| mark.end > 0).into_iter().collect(),
            ..v1::SearchHit::default()
        }
    }

    #[test]
    fn results_are_plain_or_painted() {
        let found = hit("A\ntitle", "find me\nhere", 4);
        assert_eq!(shown(&found, &PLAIN), "A title\n  x://y\n  find me here\n\n");
        let painted = shown(&found, &COLOURS);
        assert!(painted.contains("  \u{1b}[1;33mfind\u{1b}[0m me here\n"), "{painted:?}");
        assert_eq!(shown(&hit("T", "", 0), &PLAIN), "T\n  x://y\n\n");
    }

    #[test]
    fn no_document_writes_to_the_terminal() {
        let found = hit("\u{1b}]0;t\u{7}", "\u{1b}[2J x\u{9b}", 0);
        assert_eq!(shown(&found, &PLAIN), "\u{fffd}]0;t\u{fffd}\n  x://y\n  [2J x\n\n");
    }

    #[test]
    fn json_has_what_is_to_be_known() {
        let page = v1::SearchResourcesResponse {
            hits: vec![hit("T", "find \"me\"", 4)],
            total: 3,
            next_cursor: "abc".to_owned(),
            ..v1::SearchResourcesResponse::default()
        };
        let document = serde_json::to_value(Document::of(&page)).unwrap();
        assert_eq!(document["results"][0]["snippet"], "**find** \"me\"");
        assert_eq!((&document["total"], &document["nextCursor"]), (&3.into(), &"abc".into()));
    }

    #[test]
    fn what_else_is_to_be_known_is_said() {
        let page = v1::SearchResourcesResponse {
            total: 1_234,
            notes: vec!["words with a typing error match as well".to_owned()],
            next_cursor: "abc".to_owned(),
            ..v1::SearchResourcesResponse::default()
        };
        assert_eq!(
            epilogue(&page),
            [
                "0 of at least 1,234",
                "words with a typing error match as well",
                "more: --cursor abc"
            ]
        );
    }
}
