//! `instructions`: what a model is told about the spaces before it asks anything.
//!
//! Built for each `initialize` and `server/discover`: a hundred spaces take some microseconds, and
//! a cache would have to know when the number of resources changes.

use std::fmt::Write;

use pressmark_index::{access::Access, catalog::SpaceCatalog};

/// The most bytes of instructions: hosts put them into every conversation.
const INSTRUCTIONS_BYTES_MAX: usize = 8 * 1024;

/// The most characters of a space's title and of its description.
const TEXT_CHARS_MAX: usize = 300;

const HOW_TO: &str = "This server holds documents as resources, each with a URI. ";

const HOW_TO_FIND: &str = "Find them by their words with the tool `search`: plain words first, then \"phrases\", -word, \
prefix* and title:word to narrow it down. ";

const HOW_TO_READ: &str = "Read one with \
`resources/read`, or with the tool `fetch` and its URI as `id`. Parts of a long text are read by a \
fragment that counts from zero and excludes the end: `#line=0,200` or `#char=0,4096`. The spaces, \
each with the URI template of its resources:\n";

/// The instructions for a caller with `access`; `searchable`: there is the tool `search`; `settled`: no folder is being
/// indexed.
pub fn of(catalog: &SpaceCatalog, access: &Access, searchable: bool, settled: bool) -> String {
    let mut text = String::from(HOW_TO);
    if searchable {
        text.push_str(HOW_TO_FIND);
    }
    text.push_str(HOW_TO_READ);
    let visible = catalog.spaces.iter().filter(|space| access.sees_space(&space.settings.name));
    let mut left_out = 0_usize;
    for space in visible {
        let settings = &space.settings;
        let mut line = format!("- {}: `{}`", settings.name, settings.uri_template);
        for part in [&settings.title, &settings.description].into_iter().flatten() {
            let _ = write!(line, "; {}", one_line(part));
        }
        // The number would tell everybody how many resources are hidden, and when one comes; while folders are still
        // being indexed it is wrong as soon as it is read.
        if settled && !space.has_restricted() {
            let _ = write!(line, "; {} resources", space.resource_count());
        }
        line.push('\n');
        if text.len() + line.len() > INSTRUCTIONS_BYTES_MAX {
            left_out += 1;
        } else {
            text.push_str(&line);
        }
    }
    if left_out > 0 {
        let _ = writeln!(text, "{left_out} more spaces: see `resources/templates/list`.");
    }
    text
}

fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(TEXT_CHARS_MAX).collect()
}
