//! Stands in for the analysis of another branch until the two are merged: words are runs of letters and digits, in
//! lower case.

/// Changes whenever the same text gives other tokens: indexes made before are made anew.
pub(crate) const ANALYSIS_VERSION: u32 = 0;

/// What a token is of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A whole word.
    Word,
}

/// A piece of a text that can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) position: u32,
    /// Where it stands in the source text, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: TokenKind,
}

/// A language that words can be stemmed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Language;

/// Calls `each` with every token of a text.
pub(crate) fn analyse(text: &str, _language: Option<Language>, each: &mut dyn FnMut(Token<'_>)) {
    let mut position = 0;
    let mut start = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_empty() {
            let folded = word.to_lowercase();
            let end = start + word.len();
            each(Token { text: &folded, position, start, end, kind: TokenKind::Word });
            position += 1;
        }
        start += word.len();
        start += text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
}

/// Analyses texts one after the other with the same buffers.
#[derive(Clone, Default)]
pub(crate) struct Analyser;

impl Analyser {
    /// Hands each token of a text to `each`.
    pub(crate) fn analyse(
        &mut self,
        text: &str,
        language: Option<Language>,
        each: &mut dyn FnMut(Token<'_>),
    ) {
        analyse(text, language, each);
    }
}

/// A text folded as words are, without what stands between them.
pub(crate) fn fold_whole(text: &str) -> String {
    let mut folded = String::new();
    analyse(text, None, &mut |token| {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(token.text);
    });
    folded
}

/// The language of a text.
pub(crate) fn detect_language(_text: &str, _declared: Option<&str>) -> Option<Language> {
    None
}
