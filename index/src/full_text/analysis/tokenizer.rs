//! The analysis as tantivy wants it.
//!
//! A tantivy tokenizer sees a text and nothing else, so the text's language stands before it as one character
//! ([`language_mark`]). The other way, handing over tokens that are made already, allocates a string for each token and
//! clones them all; this one hands each token over in the same buffer.

use tantivy::tokenizer::{Token as TantivyToken, TokenStream, Tokenizer};

use super::{Analyser, Language, Token};

/// Marks begin here, in a plane for private use: no language first, then each language's number.
const MARKS: u32 = 0xf_0000;

/// What stands before each text that is indexed, so that its words are stemmed.
pub fn language_mark(language: Option<Language>) -> char {
    let number = language.map_or(0, |language| 1 + u32::from(language.number()));
    char::from_u32(MARKS + number).unwrap_or('\u{f0000}')
}

/// A text's language and the text, its mark taken off.
fn unmarked(text: &str) -> (Option<Language>, &str) {
    let mark =
        text.chars().next().and_then(|first| Some((first, u32::from(first).checked_sub(MARKS)?)));
    match mark {
        Some((first, number)) if number <= u32::from(Language::COUNT) => {
            let language = number
                .checked_sub(1)
                .and_then(|number| u8::try_from(number).ok())
                .and_then(Language::of_number);
            (language, text.get(first.len_utf8()..).unwrap_or_default())
        }
        _ => (None, text),
    }
}

/// The tokenizer of all analysed fields. Offsets count from behind the mark.
#[derive(Clone, Default)]
pub struct TextTokenizer {
    analyser: Analyser,
}

impl Tokenizer for TextTokenizer {
    type TokenStream<'a> = TextTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TextTokens<'a> {
        let (language, text) = unmarked(text);
        TextTokens {
            analyser: &mut self.analyser,
            text,
            language,
            token: TantivyToken::default(),
            waiting: None,
        }
    }
}

/// The tokens of one text.
pub struct TextTokens<'a> {
    analyser: &'a mut Analyser,
    text: &'a str,
    language: Option<Language>,
    token: TantivyToken,
    /// All tokens, in reverse, once somebody asks for them one by one.
    waiting: Option<Vec<TantivyToken>>,
}

fn fill(filled: &mut TantivyToken, token: &Token<'_>) {
    filled.text.clear();
    filled.text.push_str(token.text);
    filled.offset_from = token.start;
    filled.offset_to = token.end;
    filled.position = usize::try_from(token.position).unwrap_or(usize::MAX);
    filled.position_length = 1;
}

impl TokenStream for TextTokens<'_> {
    fn advance(&mut self) -> bool {
        if self.waiting.is_none() {
            let mut tokens = Vec::new();
            self.analyser.analyse(self.text, self.language, &mut |token| {
                let mut filled = TantivyToken::default();
                fill(&mut filled, &token);
                tokens.push(filled);
            });
            tokens.reverse();
            self.waiting = Some(tokens);
        }
        match self.waiting.as_mut().and_then(Vec::pop) {
            Some(token) => {
                self.token = token;
                true
            }
            None => false,
        }
    }

    fn token(&self) -> &TantivyToken {
        &self.token
    }

    fn token_mut(&mut self) -> &mut TantivyToken {
        &mut self.token
    }

    /// How tantivy's indexing asks: no token is kept.
    fn process(&mut self, sink: &mut dyn FnMut(&TantivyToken)) {
        if self.waiting.is_some() {
            while self.advance() {
                sink(&self.token);
            }
            return;
        }
        let token = &mut self.token;
        self.analyser.analyse(self.text, self.language, &mut |next| {
            fill(token, &next);
            sink(token);
        });
        self.waiting = Some(Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_the_same_tokens() {
        let mut tokenizer = TextTokenizer::default();
        let marked = format!("{}Houses of camelCase 日本", language_mark(Language::of_tag("en")));
        let mut processed = Vec::new();
        tokenizer.token_stream(&marked).process(&mut |token| processed.push(token.clone()));
        let mut advanced = Vec::new();
        let mut stream = tokenizer.token_stream(&marked);
        while stream.advance() {
            advanced.push(stream.token().clone());
        }
        assert_eq!(processed, advanced);
        let texts: Vec<&str> = processed.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(
            texts,
            ["houses", "\u{1}hous", "of", "camelcase", "camel", "case", "日", "日本", "本"]
        );
        assert_eq!(
            processed.last().map(|token| (token.offset_from, token.position)),
            Some((23, 4))
        );
    }

    #[test]
    fn a_mark_names_the_language_and_nothing_else_does() {
        for number in 0..Language::COUNT {
            let language = Language::of_number(number);
            assert_eq!(unmarked(&format!("{}x", language_mark(language))), (language, "x"));
        }
        assert_eq!(unmarked(&format!("{}x", language_mark(None))), (None, "x"));
        assert_eq!(unmarked("x"), (None, "x"));
        assert_eq!(unmarked(""), (None, ""));
        assert_eq!(unmarked("\u{10ffff}x"), (None, "\u{10ffff}x"));
    }
}
