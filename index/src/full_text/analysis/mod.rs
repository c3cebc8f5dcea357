//! How texts and queries become tokens. Both sides use the same analysis: what is found is decided here.
//!
//! **Words** are runs of letters and digits, folded ([`fold`]). Each takes one position. A run with edges inside
//! (`camelCase`, `HTTPServer`, `utf8`, `don't`) is one word, and its **parts** are tokens too, at the word's position and
//! those that follow: so `"camelcase bar"` and `"camel case"` are both phrases of `camelCase bar`, whatever the case
//! was. The price is that `"camel bar"` is one as well.
//!
//! Words joined by one character (`usb-c`, `snake_case`, `O'Brien`, `1,000`, `U.S.A.`) take a position each; the
//! **whole**, its words put together (`usbc`), is a token at the first one's position. So `usb-c`, `USB C` (as a
//! phrase) and `usbc` find each other. `C++`, `C#` and `.NET` are wholes with their signs.
//!
//! Runs of **scripts without spaces** become every character and every pair of neighbours, each at its character's
//! position: a phrase of pairs is a substring.
//!
//! A **stem** stands at its word's position, with [`STEM_MARK`] before it so that it never meets a whole word; a word
//! that is its own stem has none, so a query asks for the stem in both spellings.
//!
//! Tokens come in the order of their positions, as posting lists need them.

mod characters;
mod detect;
mod fold;
mod grams;
mod language;
mod parts;
mod scan;
mod stem;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod tokenizer;

pub use detect::detect_language;
pub use language::Language;

use characters::{Joiner, Role};
use stem::Stems;

/// Before the text of each stem. Folded text has no control characters, so no word begins with it.
pub(crate) const STEM_MARK: char = '\u{1}';

/// A token's text in bytes, at most; longer words are cut, on both sides alike.
pub(crate) const TOKEN_BYTES_MAX: usize = 96;

/// Raised whenever the same text becomes other tokens: an index made by another version is made anew.
pub(crate) const ANALYSIS_VERSION: u32 = 3;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A run of letters and digits.
    Word,
    /// Joined words put together, or a word with the sign that belongs to it.
    Whole,
    /// What stands between two edges inside a word.
    Part,
    /// A marked stem.
    Stem,
    /// One character, or two neighbours, of a script without spaces.
    Gram,
}

/// A token of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Folded, at most 96 bytes and a mark; never empty.
    pub text: &'a str,
    /// Never lower than that of the token before.
    pub position: u32,
    /// Where it stands in the text, bytes.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// What it is.
    pub kind: TokenKind,
}

/// Analyses texts one after the other with the same buffers. Cheap to make, but its memory of stems pays when it is kept.
#[derive(Clone, Default)]
pub struct Analyser {
    stems: Option<Box<Stems>>,
    buffers: scan::Buffers,
}

impl Analyser {
    /// Hands each token of a text to `each`. With a language, words have their stems.
    pub fn analyse(
        &mut self,
        text: &str,
        language: Option<Language>,
        each: &mut dyn FnMut(Token<'_>),
    ) {
        let stems = language.map(|language| {
            let stems = self.stems.get_or_insert_with(|| Box::new(Stems::new(language)));
            stems.speak(language);
            &mut **stems
        });
        scan::Pass::new(text, stems, &mut self.buffers, each).run();
    }

    /// A text folded as words are, without what stands between them: what a whole title is compared by.
    pub(crate) fn fold_whole(&mut self, text: &str) -> String {
        let mut folded = String::new();
        let mut last_word = 0;
        self.analyse(text, None, &mut |token| match token.kind {
            TokenKind::Word => {
                if !folded.is_empty() {
                    folded.push(' ');
                }
                last_word = folded.len();
                folded.push_str(token.text);
            }
            TokenKind::Whole if signed(token.text) => {
                folded.truncate(last_word);
                folded.push_str(token.text);
            }
            TokenKind::Gram if token.text.chars().nth(1).is_none() => folded.push_str(token.text),
            TokenKind::Gram | TokenKind::Whole | TokenKind::Part | TokenKind::Stem => {}
        });
        folded
    }
}

/// Analyses one text. Whoever has several keeps an [`Analyser`].
pub(crate) fn analyse(text: &str, language: Option<Language>, each: &mut dyn FnMut(Token<'_>)) {
    Analyser::default().analyse(text, language, each);
}

/// The marked stems that a word can have in the given languages, without duplicates, each in both of its spellings:
/// marked, and bare for texts in which the stem is the word.
pub(crate) fn stems(word: &str, languages: &[Language]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    if !stem::stemmed(word) {
        return found;
    }
    let mut folded = String::new();
    fold::fold_word(word, &mut folded);
    for language in languages {
        let mut stems = Stems::once(*language);
        // A word that is its own stem is the stem of other words.
        let marked =
            stems.stem(word, "").map_or_else(|| format!("{STEM_MARK}{folded}"), str::to_owned);
        let bare = marked.trim_start_matches(STEM_MARK).to_owned();
        for spelling in [marked, bare] {
            if spelling != folded && !found.contains(&spelling) {
                found.push(spelling);
            }
        }
    }
    found
}

/// See [`Analyser::fold_whole`].
pub(crate) fn fold_whole(text: &str) -> String {
    Analyser::default().fold_whole(text)
}

/// Whether a whole is one word with a sign: `c++`, `c#`, `.net`.
pub(crate) fn signed(whole: &str) -> bool {
    whole.starts_with('.') || whole.ends_with(['+', '#'])
}

/// What stands between two words that follow each other in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Nothing that a reader sees.
    None,
    /// An apostrophe.
    Apostrophe,
    /// Another character that holds a compound, a number or an address together: `-`, `_`, `.`, `@`, `,`.
    Joiner,
    /// Anything else: they are two words.
    Wide,
}

/// Whether a character is found as it stands, without being a letter or digit.
pub(crate) fn symbol(character: char) -> bool {
    characters::role(character) == Role::Symbol
}

/// What stands between two words.
pub(crate) fn gap(between: &str) -> Gap {
    let unseen =
        |character: char| matches!(characters::role(character), Role::Mark | Role::Invisible);
    let mut seen = between.chars().filter(|character| !unseen(*character));
    match (seen.next(), seen.next()) {
        (None, _) => Gap::None,
        (Some('@'), None) => Gap::Joiner,
        (Some(character), None) => match characters::joiner(character) {
            Some(Joiner::Apostrophe) => Gap::Apostrophe,
            Some(Joiner::Hyphen | Joiner::Comma | Joiner::Point) => Gap::Joiner,
            None => Gap::Wide,
        },
        _ => Gap::Wide,
    }
}

/// At most so many bytes of a text, up to the end of a character.
pub(crate) fn beginning(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}
