//! The analysis as tantivy wants it.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::analysis::{Analyser, Language};

/// Under which name the index knows the tokenizer.
pub(super) const NAME: &str = "pressmark";

/// A text as it is handed to the tokenizer, with its language.
pub(super) fn tagged(_language: Option<Language>, text: &str) -> String {
    text.to_owned()
}

/// Analyses a text; its buffers are used again for the next one.
#[derive(Clone, Default)]
pub(super) struct TextTokenizer {
    analyser: Analyser,
    texts: String,
    tokens: Vec<(usize, u32)>,
}

/// Gives the tokens of one text, one after the other.
pub(super) struct TextTokens<'t> {
    tokenizer: &'t TextTokenizer,
    next: usize,
    begin: usize,
    token: Token,
}

impl Tokenizer for TextTokenizer {
    type TokenStream<'a> = TextTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TextTokens<'a> {
        self.texts.clear();
        self.tokens.clear();
        let (texts, tokens) = (&mut self.texts, &mut self.tokens);
        self.analyser.analyse(text, None, &mut |token| {
            texts.push_str(token.text);
            tokens.push((texts.len(), token.position));
        });
        TextTokens { tokenizer: self, next: 0, begin: 0, token: Token::default() }
    }
}

impl TokenStream for TextTokens<'_> {
    fn advance(&mut self) -> bool {
        let Some((end, position)) = self.tokenizer.tokens.get(self.next).copied() else {
            return false;
        };
        self.token.text.clear();
        self.token.text.push_str(self.tokenizer.texts.get(self.begin..end).unwrap_or_default());
        self.token.position = usize::try_from(position).unwrap_or(usize::MAX);
        self.begin = end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
