//! The analysis, for benches and for measurements beside tantivy as it comes. Not part of the engine's interface.

pub use super::analysis::tokenizer::{TextTokenizer, TextTokens, language_mark};
pub use super::analysis::{Analyser, Language, Token, TokenKind, detect_language};
