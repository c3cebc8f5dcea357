//! The tool `search`: the resources that hold the words asked for, the best first.

mod asked;
mod budget;
mod found;

#[cfg(test)]
mod tests;

use pressmark_index::{error::ErrorKind, full_text::SearchNote};

use super::{
    Context,
    tools::{Link, Tool, error_result, structured_result},
};
use crate::error::{Code, Fault, quoted};
use asked::ARGUMENTS;
use budget::Ask;
use found::{Found, Hit};

pub(crate) use asked::SearchArguments;

/// For a model that finds nothing or little while the folders of the configuration are read for the first time.
const FOLDERS_UNREAD: &str =
    "folders are still being read: not all of their documents can be found yet; search again later";

/// How often a page is asked for again until it fits: for shorter snippets, then for fewer hits.
const TRIES_MAX: usize = 4;

pub(super) const TOOL: Tool = Tool {
    name: "search",
    title: "Search resources",
    description: "Finds resources by the words in their titles, URIs and texts; the best first, each with a snippet in \
which **matched words** are marked. Read one with `fetch`, its `id` as argument. Write plain words, in any language: \
resources with all of them come first, then those with most. \"Quoted words\" stand next to each other; -word leaves \
out; prefix* finds beginnings of words; title:word, uri:word, space:name, mime:type and name:value of a space's \
template variables look in one field. Nothing is an error: what is none of these is words. Identifiers are found \
whole and by their parts, and when little is found, words with a typing error are too. All arguments but `query` may be \
left out, null or empty.",
    arguments: &ARGUMENTS,
    output_schema: r#"{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string","description":"The URI, for `fetch`."},"uri":{"type":"string"},"title":{"type":"string"},"url":{"type":"string","description":"The URI again, for citations."},"snippet":{"type":"string","description":"A piece of the text; matched words stand in ** marks."},"score":{"type":"number","description":"Higher is better; compare within one query only. Absent where resources may be hidden."},"mimeType":{"type":"string"},"space":{"type":"string"},"lastModified":{"type":"string"}},"required":["id","uri","title","url","snippet","space"],"additionalProperties":false}},"total":{"type":"integer","description":"How many resources match, on all pages."},"nextCursor":{"type":"string","description":"The next page's `cursor`; absent at the end."},"notes":{"type":"array","items":{"type":"string"},"description":"What else there is to know about the results."}},"required":["results","total"],"additionalProperties":false}"#,
};

/// Searches and frames what was found for the request's revision.
pub(super) fn search(context: &Context<'_>, arguments: &SearchArguments) -> Result<Vec<u8>, Fault> {
    let mut ask = Ask::first(arguments);
    let mut tries = 0;
    let time_max = context.mcp.config.search_time_max;
    loop {
        tries += 1;
        let begun = std::time::Instant::now();
        let page = match context.mcp.engine.search(&arguments.request(context, &ask)) {
            Ok(page) => page,
            // A space or a variable; the text says which there are.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let fault = format!("{}: {}", quoted(error.subject()), error.detail());
                return Ok(error_result(context, &fault));
            }
            Err(error) => {
                let fault = context.fault(&error);
                return match fault.code {
                    Code::InvalidParams => Ok(error_result(context, &fault.message)),
                    _ => Err(fault),
                };
            }
        };
        let is_cut = page.notes.contains(&SearchNote::TimeCut);
        context.mcp.metrics.search.searched(begun.elapsed(), is_cut);
        let mut found = Found::of(&page, time_max);
        if !context.mcp.is_settled() {
            found.notes.push(FOLDERS_UNREAD.to_owned());
        }
        let smaller = ask.smaller(&found.brief(), arguments.max_bytes);
        if let Some(smaller) = smaller.filter(|_| tries < TRIES_MAX) {
            ask = smaller;
            continue;
        }
        found.notes.extend(ask.note(arguments));
        let links: Vec<Link<'_>> = found.results.iter().map(Hit::link).collect();
        return structured_result(context, &found.brief(), &found, &links);
    }
}
