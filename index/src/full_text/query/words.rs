//! What words, compounds and phrases of a query are looked for by.

use super::{Form, Matcher, SEQUENCE_TERMS_MAX, Sequence, Word};
use crate::full_text::analysis::{Gap, Language, TokenKind, analyse, gap, signed, stems};

/// What stands before the apostrophe of an elision (`l'homme`, `qu'il`), characters.
const ELIDED_MAX: usize = 2;

/// A clause's matcher, what was typed for it, and how many of its words were left out.
pub(super) struct Found {
    pub(super) matcher: Matcher,
    pub(super) typed: String,
    pub(super) left_out: usize,
}

/// A word of the query, or a character of a script without spaces.
struct Leaf {
    text: String,
    position: u32,
    start: usize,
    end: usize,
    gram: bool,
    /// Whether the next leaf is a character of the same run.
    adjoins: bool,
    /// The word with its sign: `c++`, `.net`.
    signed: Option<String>,
    parts: Vec<String>,
}

/// Joined words put together, and where the row of them begins and ends.
struct Whole {
    text: String,
    start: usize,
    end: usize,
}

#[derive(Default)]
struct Leaves {
    leaves: Vec<Leaf>,
    wholes: Vec<Whole>,
}

fn leaves(text: &str) -> Leaves {
    let mut found = Leaves::default();
    analyse(text, None, &mut |token| {
        let (start, end) = (token.start, token.end);
        match token.kind {
            TokenKind::Word => {
                found.leaves.push(Leaf::new(token.text, token.position, start, end, false));
            }
            TokenKind::Gram if token.text.chars().nth(1).is_none() => {
                found.leaves.push(Leaf::new(token.text, token.position, start, end, true));
            }
            TokenKind::Part => {
                let within =
                    |leaf: &&mut Leaf| !leaf.gram && leaf.start <= start && end <= leaf.end;
                if let Some(leaf) = found.leaves.iter_mut().rev().find(within) {
                    leaf.parts.push(token.text.to_owned());
                }
            }
            TokenKind::Whole => match found.leaves.last_mut() {
                // Of `.c++`, which has two, the sign behind says more.
                Some(leaf) if signed(token.text) => leaf.signed = Some(token.text.to_owned()),
                _ => found.wholes.push(Whole { text: token.text.to_owned(), start, end }),
            },
            TokenKind::Gram | TokenKind::Stem => {}
        }
    });
    let starts: Vec<(usize, bool)> =
        found.leaves.iter().skip(1).map(|leaf| (leaf.start, leaf.gram)).collect();
    for (leaf, (start, gram)) in found.leaves.iter_mut().zip(starts) {
        leaf.adjoins =
            leaf.gram && gram && gap(text.get(leaf.end..start).unwrap_or_default()) == Gap::None;
    }
    found
}

impl Leaf {
    fn new(text: &str, position: u32, start: usize, end: usize, gram: bool) -> Self {
        Self {
            text: text.to_owned(),
            position,
            start,
            end,
            gram,
            adjoins: false,
            signed: None,
            parts: Vec::new(),
        }
    }

    /// How the word stands in a phrase. A leading point is left out: `.NET` is the end of `ASP.NET` too.
    fn in_phrase(&self) -> &str {
        self.signed.as_deref().filter(|signed| !signed.starts_with('.')).unwrap_or(&self.text)
    }
}

/// Whether two leaves belong to one word as it was typed.
fn together(text: &str, first: &Leaf, second: &Leaf) -> bool {
    if first.adjoins {
        return true;
    }
    let between = text.get(first.end..second.start).unwrap_or_default();
    let digits = |leaf: &Leaf| leaf.text.bytes().all(|byte| byte.is_ascii_digit());
    match (gap(between), first.gram, second.gram) {
        (Gap::Joiner, false, false) => !between.contains(',') || (digits(first) && digits(second)),
        (Gap::Apostrophe, false, false) => true,
        _ => false,
    }
}

/// Leaves in rows: a row is a word, or the words of a compound, or a run of a script without spaces.
fn rows<'l>(text: &str, leaves: &'l [Leaf]) -> Vec<&'l [Leaf]> {
    leaves.chunk_by(|first, second| together(text, first, second)).collect()
}

/// The clauses of what was typed without quotes and spaces. A star at the end makes the last word a beginning.
pub(super) fn words(text: &str, languages: &[Language]) -> Vec<Found> {
    let bare = text.trim_end_matches(['*', '＊']);
    let starred = bare.len() < text.len();
    let Leaves { leaves, wholes } = leaves(bare);
    let mut found = Vec::new();
    let rows = rows(bare, &leaves);
    let last = rows.len();
    for (row, place) in rows.into_iter().zip(1..) {
        let (Some(first), Some(end)) = (row.first(), row.last()) else { continue };
        let typed = bare.get(first.start..end.end).unwrap_or_default();
        let prefix = starred && place == last && end.end == bare.len();
        let whole = wholes.iter().find(|whole| (whole.start, whole.end) == (first.start, end.end));
        match prefix.then(|| beginning_of(row, whole)).flatten() {
            Some(prefix) => {
                found.push(Found {
                    matcher: Matcher::Prefix(prefix),
                    typed: format!("{typed}*"),
                    left_out: 0,
                });
                if row.len() > 1 && whole.is_none() {
                    let before = row.get(..row.len() - 1).unwrap_or_default();
                    let typed = bare
                        .get(first.start..before.last().map_or(first.end, |leaf| leaf.end))
                        .unwrap_or_default();
                    found.insert(found.len() - 1, row_found(bare, before, None, typed, languages));
                }
            }
            None => found.push(row_found(bare, row, whole, typed, languages)),
        }
    }
    found
}

/// The beginning that a row with a star asks for; `None` where every part of a word is found anyway.
fn beginning_of(row: &[Leaf], whole: Option<&Whole>) -> Option<String> {
    let last = row.last().filter(|leaf| !leaf.gram)?;
    Some(whole.map_or_else(|| last.text.clone(), |whole| whole.text.clone()))
}

fn row_found(
    text: &str,
    row: &[Leaf],
    whole: Option<&Whole>,
    typed: &str,
    languages: &[Language],
) -> Found {
    let mut left_out = 0;
    let mut forms = Vec::new();
    match row {
        [leaf] if !leaf.gram => forms = single(text, leaf, languages),
        row => {
            forms.extend(whole.map(|whole| Form::Term(whole.text.clone())));
            let (sequence, beyond) = sequence(row);
            left_out = beyond;
            forms.push(match sequence.terms.as_slice() {
                [(_, only)] => Form::Term(only.clone()),
                _ => Form::Sequence(sequence),
            });
            if let [article, noun] = row
                && gap(text.get(article.end..noun.start).unwrap_or_default()) == Gap::Apostrophe
                && article.text.chars().count() <= ELIDED_MAX
            {
                forms.extend(single(text, noun, languages));
            }
        }
    }
    Found { matcher: Matcher::Word(Word { forms }), typed: typed.to_owned(), left_out }
}

/// The forms of one word.
fn single(text: &str, leaf: &Leaf, languages: &[Language]) -> Vec<Form> {
    let mut forms = Vec::new();
    if let Some(signed) = &leaf.signed {
        forms.push(Form::Term(signed.clone()));
        if !signed.starts_with('.') {
            return forms; // `C++` is not every `C`
        }
    }
    forms.push(Form::Term(leaf.text.clone()));
    let typed = text.get(leaf.start..leaf.end).unwrap_or_default();
    let contracted = leaf.parts.iter().map(String::len).sum::<usize>() < typed.len()
        && typed.contains(['\'', '\u{2019}']);
    if leaf.parts.is_empty() || contracted {
        forms.extend(stems(typed, languages).into_iter().map(Form::Stem));
    }
    if leaf.parts.len() > 1 && !contracted {
        let terms =
            leaf.parts.iter().cloned().zip(0..).map(|(part, place)| (place, part)).collect();
        forms.push(Form::Sequence(Sequence { terms }));
    }
    forms
}

/// The terms of leaves that follow each other, positions from 0, and how many words were left out. Of a run of a script
/// without spaces, every other pair is enough: together they hold all its characters at their places.
fn sequence(leaves: &[Leaf]) -> (Sequence, usize) {
    let origin = leaves.first().map_or(0, |leaf| leaf.position);
    let mut terms: Vec<(u32, String)> = Vec::new();
    let mut at = 0;
    while let Some(leaf) = leaves.get(at) {
        if terms.len() == SEQUENCE_TERMS_MAX {
            return (Sequence { terms }, leaves.len() - at);
        }
        let adjoins = |at: usize| leaves.get(at).is_some_and(|leaf| leaf.adjoins);
        let offset = leaf.position - origin;
        match leaves.get(at + 1).filter(|_| leaf.adjoins) {
            Some(next) => {
                terms.push((offset, format!("{}{}", leaf.text, next.text)));
                // The last character of an odd run stands in the pair that ends with it.
                let odd = adjoins(at + 1) && !adjoins(at + 2);
                at += if odd { 1 } else { 2 };
            }
            None => {
                terms.push((offset, leaf.in_phrase().to_owned()));
                at += 1;
            }
        }
    }
    (Sequence { terms }, 0)
}

/// What stands in quotes; `None` where it holds no word.
pub(super) fn phrase(text: &str) -> Option<Found> {
    let Leaves { leaves, wholes } = leaves(text);
    let (first, last) = (leaves.first()?, leaves.last()?);
    let typed = text.get(first.start..last.end).unwrap_or_default().to_owned();
    let (sequence, left_out) = sequence(&leaves);
    let whole = wholes.iter().find(|whole| (whole.start, whole.end) == (first.start, last.end));
    let matcher = match (sequence.terms.as_slice(), whole) {
        ([(_, only)], _) => Matcher::Word(Word { forms: vec![Form::Term(only.clone())] }),
        (_, Some(whole)) => Matcher::Word(Word {
            forms: vec![Form::Term(whole.text.clone()), Form::Sequence(sequence)],
        }),
        _ => Matcher::Phrase(sequence),
    };
    Some(Found { matcher, typed, left_out })
}
