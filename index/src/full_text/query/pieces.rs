//! A query's pieces: what stands between quotes, and what stands between spaces, with their operators.

use std::ops::Range;

use super::Field;
use crate::full_text::analysis::symbol;

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) excluded: bool,
    pub(super) field: Field,
    pub(super) body: Body,
}

/// What a piece says, as a range of the query's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    Quoted(Range<usize>),
    Bare(Range<usize>),
}

/// The kinds of quotes; within a kind, what closes what opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    /// `"`, and the curled and low ones of all languages, which open and close in each other's place.
    Double,
    Guillemet,
    Corner,
    WhiteCorner,
}

const QUOTE_KINDS: usize = 4;

fn quote(character: char) -> Option<Quote> {
    Some(match character {
        '"' | '“' | '”' | '„' | '‟' | '＂' | '〝' | '〞' | '〟' => Quote::Double,
        '«' | '»' => Quote::Guillemet,
        '「' | '」' | '｢' | '｣' => Quote::Corner,
        '『' | '』' => Quote::WhiteCorner,
        _ => return None,
    })
}

/// Whether a quote can open in the middle of a word: those that show which side they are on.
fn opens_anywhere(character: char) -> bool {
    matches!(character, '“' | '„' | '‟' | '«' | '「' | '｢' | '『' | '〝')
}

fn parts_words(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// The pieces of a query.
pub(super) fn pieces(text: &str, variables: &[String]) -> Vec<Piece> {
    let mut reader = Reader { text, variables, at: 0, unclosed: [false; QUOTE_KINDS] };
    let mut pieces = Vec::new();
    while reader.at < text.len() {
        pieces.extend(reader.piece());
    }
    pieces
}

struct Reader<'a> {
    text: &'a str,
    variables: &'a [String],
    at: usize,
    /// The kinds of quotes of which no closing one follows any more: each kind is looked for in vain once only.
    unclosed: [bool; QUOTE_KINDS],
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, character: char) {
        self.at += character.len_utf8();
    }

    /// The next piece; `None` where only a separator was passed.
    fn piece(&mut self) -> Option<Piece> {
        let first = self.peek()?;
        if parts_words(first) {
            self.skip(first);
            return None;
        }
        let excluded = self.excludes();
        if excluded {
            self.skip(first);
        }
        let field = self.field();
        let body = self.body()?;
        Some(Piece { excluded, field, body })
    }

    /// A dash before a word or a quote; two dashes, and a dash alone, are punctuation.
    fn excludes(&self) -> bool {
        let mut characters = self.rest().chars();
        let dash = matches!(characters.next(), Some('-' | '－'));
        let word = |next: char| next.is_alphanumeric() || quote(next).is_some() || symbol(next);
        dash && characters.next().is_some_and(|next| word(next) || next == '.')
    }

    /// The known field that stands here with a value behind it; passes it.
    fn field(&mut self) -> Field {
        let found = self.known_field();
        match found {
            Some((field, length)) => {
                self.at += length;
                field
            }
            None => Field::Any,
        }
    }

    fn known_field(&self) -> Option<(Field, usize)> {
        let rest = self.rest();
        let ends =
            |next: char| matches!(next, ':' | '：') || parts_words(next) || quote(next).is_some();
        let colon = rest.find(ends)?;
        let name = rest.get(..colon)?;
        let colon_length =
            rest.get(colon..)?.chars().next().filter(|next| matches!(next, ':' | '：'))?.len_utf8();
        let value = rest.get(colon + colon_length..)?;
        let first = value
            .chars()
            .next()
            .filter(|first| !parts_words(*first) && !matches!(first, ':' | '：'))?;
        let field = self.named(name)?;
        // `https://website.org` is an address also where a variable is called `https`.
        let address = value.starts_with("//") && field != Field::Uri;
        let bare = value.chars().take_while(|next| !parts_words(*next)).any(char::is_alphanumeric);
        let quoted = quote(first)
            .is_some_and(|kind| value.chars().skip(1).any(|next| quote(next) == Some(kind)));
        (!address && (bare || quoted)).then_some((field, colon + colon_length))
    }

    fn named(&self, name: &str) -> Option<Field> {
        match name.to_ascii_lowercase().as_str() {
            "title" => Some(Field::Title),
            "uri" => Some(Field::Uri),
            "space" => Some(Field::Space),
            "mime" => Some(Field::MimeType),
            _ => self
                .variables
                .iter()
                .find(|variable| *variable == name)
                .cloned()
                .map(Field::Variable),
        }
    }

    /// A phrase when a quote opens here and closes later, else what reaches to the next space or quote.
    fn body(&mut self) -> Option<Body> {
        if let Some(open) = self.peek().filter(|next| quote(*next).is_some()) {
            let within = self.quoted(open);
            self.skip(open);
            if let Some((range, close)) = within {
                self.at = range.end + close.len_utf8();
                return Some(Body::Quoted(range));
            }
        }
        let start = self.at;
        let ends = |character: char| parts_words(character) || quote(character).is_some();
        let length = self.rest().find(ends).unwrap_or(self.text.len() - start);
        self.at += length;
        Some(Body::Bare(start..self.at)).filter(|_| length > 0)
    }

    /// What stands between the quote at this place and the one that closes it.
    fn quoted(&mut self, open: char) -> Option<(Range<usize>, char)> {
        let kind = quote(open)?;
        let before = self.text.get(..self.at).and_then(|before| before.chars().next_back());
        if !opens_anywhere(open) && before.is_some_and(char::is_alphanumeric) {
            return None; // inches, or a quote that closes what did not open
        }
        let slot = self.unclosed.get_mut(kind as usize)?;
        if *slot {
            return None;
        }
        let start = self.at + open.len_utf8();
        let closing =
            self.text.get(start..)?.char_indices().find(|(_, next)| quote(*next) == Some(kind));
        *slot = closing.is_none();
        closing.map(|(length, close)| (start..start + length, close))
    }
}
