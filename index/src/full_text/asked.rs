//! What a query asks for, in terms of the index: tokens, runs of tokens, beginnings of tokens, and values.

use super::analysis::fold_whole;
use super::query::{Clause, Field, Form, Matcher, Occur, Query, Value, Word as ParsedWord};
use super::schema::Place;

/// How much a stem counts beside the word itself.
const STEM_WEIGHT: f32 = 0.7;
/// How much parts of a word count, or the words of a compound.
const RUN_WEIGHT: f32 = 0.9;
/// Words that are looked for one by one.
const WORDS_MAX: usize = 64;

/// A query, understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// All of them are wanted, most of them will do.
    pub(super) words: Vec<Word>,
    /// These must be there.
    pub(super) required: Vec<Expression>,
    /// These must not.
    pub(super) excluded: Vec<Expression>,
    /// These decide only what comes first; see [`Asked::one_by_one`].
    pub(super) preferred: Vec<Expression>,
    /// One of those of each field must be there.
    pub(super) values: Vec<ValueRule>,
    pub(super) excluded_values: Vec<ValueRule>,
    /// The whole query, where it may be what a resource is called.
    pub(super) whole: Option<Whole>,
}

/// All words of a query as one, folded as names are: see `exact`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whole {
    /// A title, a value or a segment.
    Name(String),
    /// It was asked for in titles.
    Title(String),
}

impl Whole {
    fn of(typed: &str, query: &Query) -> Option<Whole> {
        let is_word = |clause: &Clause| !matches!(clause.matcher, Matcher::Value(_));
        let wanted = || query.clauses.iter().filter(|clause| clause.occur == Occur::Wanted);
        let whole = |typed: &str| Some(fold_whole(typed)).filter(|whole| !whole.is_empty());
        // As it was typed, where there are words only: a word that stands there twice is one clause.
        if query.clauses.iter().all(|clause| {
            clause.field == Field::Any && clause.occur == Occur::Wanted && is_word(clause)
        }) {
            return whole(typed).map(Whole::Name);
        }
        // Values and what is excluded are no part of a name.
        let words: Vec<&Clause> = wanted().filter(|clause| is_word(clause)).collect();
        let joined = words.iter().map(|clause| clause.typed.as_str()).collect::<Vec<_>>().join(" ");
        if words.iter().all(|clause| clause.field == Field::Any) {
            whole(&joined).map(Whole::Name)
        } else if words.iter().all(|clause| clause.field == Field::Title) {
            whole(&joined).map(Whole::Title)
        } else {
            None
        }
    }
}

/// A field that has a value, or one that begins so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueRule {
    pub(super) field: Field,
    pub(super) value: Value,
}

/// A word.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) expression: Expression,
    /// As it was typed, folded, where words that are spelled much like it may stand for it.
    pub(super) typed: Option<String>,
    /// The number of its clause in the query.
    pub(super) clause: usize,
}

/// Alternatives of which one must be there.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) alternatives: Vec<Alternative>,
    /// Where.
    pub(super) places: Vec<Place>,
}

/// One way in which something can be there.
#[derive(Debug, Clone)]
pub(super) enum Alternative {
    Token {
        text: String,
        weight: f32,
    },
    /// Tokens with their positions.
    Run {
        tokens: Vec<(u32, String)>,
        weight: f32,
    },
    /// All tokens that begin so.
    Beginning {
        text: String,
    },
}

impl Word {
    /// Whether it can be found as a run only.
    fn is_run(&self) -> bool {
        matches!(self.expression.alternatives.as_slice(), [Alternative::Run { .. }])
    }
}

impl Asked {
    pub(super) fn new(typed: &str, query: &Query) -> Asked {
        let mut asked = Asked { whole: Whole::of(typed, query), ..Asked::default() };
        for (number, clause) in query.clauses.iter().enumerate() {
            asked.add(number, clause);
        }
        asked
    }

    fn add(&mut self, number: usize, clause: &Clause) {
        let places = match &clause.field {
            Field::Title => vec![Place::Title],
            Field::Uri => vec![Place::UriWords],
            Field::Any | Field::Space | Field::MimeType | Field::Variable(_) => Place::ALL.to_vec(),
        };
        let alternatives = match &clause.matcher {
            Matcher::Value(value) => {
                let rule = ValueRule { field: clause.field.clone(), value: value.clone() };
                match clause.occur {
                    Occur::Wanted => self.values.push(rule),
                    Occur::Excluded => self.excluded_values.push(rule),
                }
                return;
            }
            Matcher::Word(word) => word.forms.iter().map(alternative).collect(),
            Matcher::Phrase(sequence) => {
                vec![Alternative::Run { tokens: sequence.terms.clone(), weight: 1.0 }]
            }
            Matcher::Prefix(text) => vec![
                Alternative::Token { text: text.clone(), weight: 1.0 },
                Alternative::Beginning { text: text.clone() },
            ],
        };
        let expression = Expression { alternatives, places };
        let is_word = clause.field == Field::Any && !matches!(clause.matcher, Matcher::Phrase(_));
        match clause.occur {
            Occur::Excluded => self.excluded.push(expression),
            Occur::Wanted if is_word => {
                let typed = match &clause.matcher {
                    Matcher::Word(word) => first_term(word),
                    Matcher::Phrase(_) | Matcher::Prefix(_) | Matcher::Value(_) => None,
                };
                self.words.push(Word { expression, typed, clause: number });
            }
            Occur::Wanted => self.required.push(expression),
        }
    }

    /// Whether there is something to do without: a second word, or a part of the only one.
    pub(super) fn has_parts(&self) -> bool {
        self.words.len() > 1 || self.words.iter().any(Word::is_run)
    }

    /// The same with the words of compounds, and the pairs of scripts without spaces, one by one: where hardly any text
    /// has them next to each other, most of them will do. `None`: there is nothing to take apart.
    pub(super) fn one_by_one(&self) -> Option<Asked> {
        let mut words = Vec::new();
        let mut is_changed = false;
        for word in &self.words {
            let [Alternative::Run { tokens, .. }] = word.expression.alternatives.as_slice() else {
                words.push(word.clone());
                continue;
            };
            is_changed = true;
            words.extend(tokens.iter().map(|(_, text)| Word {
                expression: Expression {
                    alternatives: vec![Alternative::Token { text: text.clone(), weight: 1.0 }],
                    places: word.expression.places.clone(),
                },
                typed: None,
                clause: word.clause,
            }));
        }
        words.truncate(WORDS_MAX.max(self.words.len()));
        let preferred = self.words.iter().map(|word| word.expression.clone()).collect();
        is_changed.then(|| Asked { words, preferred, ..self.clone() })
    }
}

fn alternative(form: &Form) -> Alternative {
    match form {
        Form::Term(text) => Alternative::Token { text: text.clone(), weight: 1.0 },
        Form::Stem(text) => Alternative::Token { text: text.clone(), weight: STEM_WEIGHT },
        Form::Sequence(sequence) => {
            Alternative::Run { tokens: sequence.terms.clone(), weight: RUN_WEIGHT }
        }
    }
}

fn first_term(word: &ParsedWord) -> Option<String> {
    word.forms.iter().find_map(|form| match form {
        Form::Term(text) => Some(text.clone()),
        Form::Stem(_) | Form::Sequence(_) => None,
    })
}
