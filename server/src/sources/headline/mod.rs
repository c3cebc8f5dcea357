//! A title and one descriptive line for a text, as hosts show them in pickers and folder listings.

mod front_matter;
mod html;
mod inline;
mod markdown;
mod toml_depth;

pub(crate) use front_matter::block as front_matter_block;
pub(crate) use inline::joins_words;

/// Titles and descriptions are taken from the beginning of a text only.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Characters of a description, and of a title.
const LINE_CHARACTERS_MAX: usize = 200;

/// What a text says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Headline {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
}

/// Title and description of a text of this type; other types than Markdown, HTML and plain text have none.
pub(crate) fn headline(mime_type: &str, text: &str) -> Headline {
    let head = head(text.strip_prefix('\u{feff}').unwrap_or(text));
    let found = match mime_type {
        "text/markdown" | "text/mdx" => {
            let (front, body) = front_matter::split(head);
            let front = front.unwrap_or_default();
            let body = markdown::headline(body);
            Headline {
                title: front.title.and_then(|title| line(&title)).or(body.title),
                description: front.description.or(body.description),
            }
        }
        "text/html" | "application/xhtml+xml" => html::headline(head),
        "text/plain" => Headline { title: None, description: plain_paragraph(head) },
        _ => Headline::default(),
    };
    Headline {
        title: found.title.and_then(|title| line(&title)),
        description: found.description.and_then(|text| line(first_sentence(&text))),
    }
}

/// The first `HEAD_BYTES_MAX` bytes, without cutting a character.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(HEAD_BYTES_MAX)).unwrap_or(text)
}

/// The first lines up to an empty one.
fn plain_paragraph(text: &str) -> Option<String> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}

/// The first sentence: up to a mark that white space or the end follows. Scripts that set no space have marks of
/// their own.
fn first_sentence(text: &str) -> &str {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let end = at + character.len_utf8();
        let space_follows = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = match character {
            '。' | '！' | '？' => true,
            '!' | '?' => space_follows,
            '.' => space_follows && !is_abbreviation(text.get(..at).unwrap_or_default()),
            _ => false,
        };
        if ends {
            return text.get(..end).unwrap_or(text);
        }
    }
    text
}

/// Whether a full stop after these words belongs to an abbreviation: `e.g.`, `No.`, an initial, a list's number.
fn is_abbreviation(before: &str) -> bool {
    const KNOWN: [&str; 9] = ["no", "vs", "cf", "etc", "mr", "mrs", "ms", "dr", "st"];
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or(before);
    let lower = word.to_lowercase();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    let number_first = word == before && word.chars().all(|c| c.is_ascii_digit());
    initial
        || number_first
        || (word.contains('.') && word.len() <= 4)
        || KNOWN.contains(&lower.as_str())
}

/// One line of at most `LINE_CHARACTERS_MAX` characters: white space collapsed, cut between words.
fn line(text: &str) -> Option<String> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let word: String = word.chars().filter(|character| !character.is_control()).collect();
        if !line.is_empty() && !word.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
        // No need to look at the rest of a paragraph that is too long already.
        if line.len() > LINE_CHARACTERS_MAX * 4 {
            break;
        }
    }
    if line.chars().count() > LINE_CHARACTERS_MAX {
        let kept: String = line.chars().take(LINE_CHARACTERS_MAX - 1).collect();
        // A script without spaces is cut where it must be.
        let cut = kept.rfind(' ').filter(|cut| *cut > kept.len() / 2).unwrap_or(kept.len());
        line = format!("{}…", kept.get(..cut).unwrap_or(&kept).trim_end());
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests;
