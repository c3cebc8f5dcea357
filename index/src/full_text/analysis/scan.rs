//! One pass over a text. ASCII words without edges take the short way: one table look-up a byte, no allocation.

use smallvec::SmallVec;

use super::characters::{Ascii, Joiner, Role, class, joiner, regional_indicator, role};
use super::grams::{self, Unit};
use super::parts::{PARTS_MAX, Parts, parts};
use super::stem::Stems;
use super::{TOKEN_BYTES_MAX, Token, TokenKind, beginning, fold};

/// Joined words, at most; longer rows are words without a whole.
const JOINED_MAX: usize = 8;
/// What follows the apostrophe of a contraction (`don't`, `we'll`), characters.
const CONTRACTED_MAX: usize = 2;

/// Buffers that outlive a pass.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffers {
    folded: String,
    whole: String,
    part: String,
}

/// A run of letters and digits, bytes of the text.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    /// Only ASCII letters or only ASCII digits, without an edge.
    plain: bool,
    digits: bool,
    contracted: bool,
}

/// A part whose position the words have not reached yet.
#[derive(Debug, Clone, Copy)]
struct Pending {
    position: u32,
    start: usize,
    end: usize,
}

/// One pass over one text.
pub(super) struct Pass<'t, 'b> {
    text: &'t str,
    stems: Option<&'b mut Stems>,
    buffers: &'b mut Buffers,
    each: &'b mut dyn FnMut(Token<'_>),
    position: u32,
    pending: SmallVec<[Pending; PARTS_MAX]>,
}

impl<'t, 'b> Pass<'t, 'b> {
    pub(super) fn new(
        text: &'t str,
        stems: Option<&'b mut Stems>,
        buffers: &'b mut Buffers,
        each: &'b mut dyn FnMut(Token<'_>),
    ) -> Self {
        Self { text, stems, buffers, each, position: 0, pending: SmallVec::new() }
    }

    pub(super) fn run(mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at = match class(*byte) {
                Ascii::Between => at + 1,
                Ascii::Lower | Ascii::Upper | Ascii::Digit => self.words(at),
                Ascii::Beyond => self.beyond_ascii(at),
            };
        }
        self.reach(u32::MAX);
    }

    fn char_at(&self, at: usize) -> Option<char> {
        let byte = *self.text.as_bytes().get(at)?;
        if byte.is_ascii() { Some(char::from(byte)) } else { self.text.get(at..)?.chars().next() }
    }

    /// What begins with a character beyond ASCII; returns where to go on.
    fn beyond_ascii(&mut self, at: usize) -> usize {
        let Some(character) = self.char_at(at) else { return self.text.len() };
        let behind = at + character.len_utf8();
        match role(character) {
            Role::Word => self.words(at),
            Role::Gram => self.grams(at),
            Role::Symbol => self.symbol(at, character),
            Role::Mark | Role::Invisible | Role::Between => behind,
        }
    }

    /// The run of letters and digits that begins at `start`.
    fn run_at(&self, start: usize) -> Run {
        let bytes = self.text.as_bytes();
        let first = bytes.get(start).map_or(Ascii::Between, |byte| class(*byte));
        let (mut lower, mut upper, mut digit) = (false, false, false);
        let mut at = start;
        while let Some(byte) = bytes.get(at) {
            match class(*byte) {
                Ascii::Lower => lower = true,
                Ascii::Upper => upper |= at > start,
                Ascii::Digit => digit = true,
                Ascii::Between => break,
                Ascii::Beyond => match self.run_beyond_ascii(at) {
                    Some(end) => {
                        return Run { start, end, plain: false, digits: false, contracted: false };
                    }
                    None => break,
                },
            }
            at += 1;
        }
        let letters = lower || upper || first == Ascii::Upper;
        let edges = (lower && upper) || (digit && letters);
        Run { start, end: at, plain: !edges, digits: digit && !letters, contracted: false }
    }

    /// Where the run ends that goes on with the character at `at`; `None` when it does not go on.
    fn run_beyond_ascii(&self, at: usize) -> Option<usize> {
        let mut end = None;
        for (offset, character) in self.text.get(at..)?.char_indices() {
            match role(character) {
                Role::Word | Role::Mark => end = Some(at + offset + character.len_utf8()),
                Role::Invisible => {}
                Role::Gram | Role::Symbol | Role::Between => break,
            }
        }
        end
    }

    /// The joiner at `at`, when a word follows it, and where that begins.
    fn joined(&self, at: usize) -> Option<(Joiner, usize)> {
        let character = self.char_at(at)?;
        let joiner = joiner(character)?;
        let next = at + character.len_utf8();
        (role(self.char_at(next)?) == Role::Word).then_some((joiner, next))
    }

    /// The word at `start`, its contraction taken in: `don't` is one run with an edge.
    fn word_at(&self, start: usize) -> Run {
        let run = self.run_at(start);
        let Some((Joiner::Apostrophe, next)) = self.joined(run.end) else { return run };
        let tail = self.run_at(next);
        let letters = self.text.get(next..tail.end).unwrap_or_default();
        let short = letters.chars().nth(CONTRACTED_MAX).is_none()
            && letters.chars().all(char::is_alphabetic);
        if short && !run.digits && self.joined(tail.end).is_none() {
            return Run { start, end: tail.end, plain: false, digits: false, contracted: true };
        }
        run
    }

    /// One word, or several that are joined; returns where to go on.
    fn words(&mut self, start: usize) -> usize {
        let first = self.run_at(start);
        if first.plain && self.alone(first) {
            self.leaf(first);
            return first.end;
        }
        let first = self.word_at(start);
        let mut runs: SmallVec<[Run; JOINED_MAX]> = SmallVec::new();
        runs.push(first);
        let mut joins = true;
        while let Some((joiner, next)) = runs.last().and_then(|run| self.joined(run.end)) {
            let Some(last) = runs.last() else { break };
            let run = self.word_at(next);
            let together = match joiner {
                Joiner::Hyphen | Joiner::Apostrophe => true,
                Joiner::Comma => last.digits && run.digits && run.end - run.start == 3,
                Joiner::Point => self.single(*last) && self.single(run),
            };
            if !together {
                break;
            }
            if runs.len() == JOINED_MAX {
                joins = false;
                break;
            }
            // Dates and telephone numbers are not numbers; those with commas are.
            joins &= joiner == Joiner::Comma || !(last.digits && run.digits);
            runs.push(run);
        }
        if joins && runs.len() > 1 {
            self.whole(&runs);
        }
        let mut end = first.end;
        for run in runs {
            end = run.end;
            self.leaf(run);
        }
        end
    }

    /// Whether nothing around a word can belong to it: what most words show at the first look.
    fn alone(&self, run: Run) -> bool {
        let bytes = self.text.as_bytes();
        let before = run.start.checked_sub(1).and_then(|at| bytes.get(at));
        let behind = bytes.get(run.end);
        let next = bytes.get(run.end + 1);
        before != Some(&b'.')
            && behind.is_none_or(|byte| match byte {
                b'-' | b'_' | b'\'' | b',' | b'.' => {
                    next.is_none_or(|next| class(*next) == Ascii::Between)
                }
                b'+' | b'#' => false,
                byte => byte.is_ascii(),
            })
    }

    fn single(&self, run: Run) -> bool {
        let mut characters = self.text.get(run.start..run.end).unwrap_or_default().chars();
        characters.next().is_some_and(char::is_alphabetic) && characters.next().is_none()
    }

    /// The joined words put together.
    fn whole(&mut self, runs: &[Run]) {
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return };
        let mut whole = std::mem::take(&mut self.buffers.whole);
        whole.clear();
        for run in runs {
            fold::fold_word(self.text.get(run.start..run.end).unwrap_or_default(), &mut whole);
        }
        if whole.len() <= TOKEN_BYTES_MAX {
            self.emit(&whole, first.start, last.end, TokenKind::Whole);
        }
        self.buffers.whole = whole;
    }

    /// One word with its stem, its parts and the sign that belongs to it; the position goes on.
    fn leaf(&mut self, run: Run) {
        let Some(word) = self.text.get(run.start..run.end) else { return };
        let parts = if run.plain { Parts::new() } else { parts(word, run.start) };
        let mut folded = std::mem::take(&mut self.buffers.folded);
        folded.clear();
        if run.plain {
            let cut = beginning(word, TOKEN_BYTES_MAX);
            folded.push_str(cut);
            folded.make_ascii_lowercase();
        } else {
            fold::fold_word(beginning(word, 4 * TOKEN_BYTES_MAX), &mut folded);
            folded.truncate(folded.floor_char_boundary(TOKEN_BYTES_MAX));
        }
        if !folded.is_empty() {
            self.emit(&folded, run.start, run.end, TokenKind::Word);
            if !run.digits && (parts.is_empty() || run.contracted) {
                self.emit_stem(word, &folded, run);
            }
            if !run.plain || !self.alone(run) {
                self.sign(&mut folded, run);
            }
            for (part, place) in parts.into_iter().zip(0..) {
                self.part(Pending {
                    position: self.position.saturating_add(place),
                    start: part.start,
                    end: part.end,
                });
            }
            self.position = self.position.saturating_add(1);
        }
        self.buffers.folded = folded;
    }

    /// `C++`, `C#`, `.NET`.
    fn sign(&mut self, folded: &mut String, run: Run) {
        let before = run.start.checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
        if before == Some(&b'.') && self.opens(run.start.saturating_sub(1)) && !run.digits {
            folded.insert(0, '.');
            self.emit(folded, run.start - 1, run.end, TokenKind::Whole);
            folded.remove(0);
        }
        let plus = |character| matches!(character, '+' | '＋');
        let Some(sign) = self.char_at(run.end) else { return };
        let behind = run.end + sign.len_utf8();
        let next = self.char_at(behind);
        if plus(sign) && next.is_some_and(plus) {
            let length = folded.len();
            folded.push_str("++");
            self.emit(folded, run.start, behind + next.map_or(0, char::len_utf8), TokenKind::Whole);
            folded.truncate(length);
        } else if matches!(sign, '#' | '＃')
            && !next.is_some_and(|next| next == '#' || role(next) == Role::Word)
        {
            let length = folded.len();
            folded.push('#');
            self.emit(folded, run.start, behind, TokenKind::Whole);
            folded.truncate(length);
        }
    }

    /// Whether a point at `at` begins a name (`.NET`, `*.rs`, `src/.env`) and ends nothing.
    fn opens(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before)).is_none_or(|before| {
            before.is_ascii_whitespace()
                || matches!(before, b'(' | b'"' | b'\'' | b'`' | b'*' | b'/' | b',' | b':' | b'[')
        })
    }

    /// A run of a script without spaces; returns where to go on.
    fn grams(&mut self, start: usize) -> usize {
        let text = self.text;
        let mut folded = std::mem::take(&mut self.buffers.folded);
        let mut before: Option<Unit> = None;
        let end = grams::units(text, start, &mut folded, &mut |unit| {
            if let Some(before) = before {
                self.gram(before, Some(unit));
            }
            before = Some(unit);
        });
        if let Some(last) = before {
            self.gram(last, None);
        }
        self.buffers.folded = folded;
        // A character that folds to nothing begins no run.
        if end > start { end } else { start + self.char_at(start).map_or(1, char::len_utf8) }
    }

    /// A character, and the pair it begins.
    fn gram(&mut self, unit: Unit, next: Option<Unit>) {
        let mut bytes = [0; 8];
        let length = unit.character.encode_utf8(&mut bytes).len();
        self.emit_gram(&bytes, length, unit.start, unit.end);
        if let (Some(next), Some(rest)) = (next, bytes.get_mut(length..)) {
            let pair_length = length + next.character.encode_utf8(rest).len();
            self.emit_gram(&bytes, pair_length, unit.start, next.end);
        }
        self.position = self.position.saturating_add(1);
    }

    fn emit_gram(&mut self, bytes: &[u8; 8], length: usize, start: usize, end: usize) {
        if let Some(Ok(text)) = bytes.get(..length).map(std::str::from_utf8) {
            self.emit(text, start, end, TokenKind::Gram);
        }
    }

    /// An emoji or another sign that is found as it stands; two halves of a flag are one. Returns where to go on.
    fn symbol(&mut self, start: usize, character: char) -> usize {
        let mut end = start + character.len_utf8();
        if regional_indicator(character)
            && let Some(second) = self.char_at(end).filter(|second| regional_indicator(*second))
        {
            end += second.len_utf8();
        }
        let text = self.text.get(start..end).unwrap_or_default();
        self.emit(text, start, end, TokenKind::Word);
        self.position = self.position.saturating_add(1);
        end
    }

    /// Emits a token at the position that is reached.
    fn emit(&mut self, text: &str, start: usize, end: usize, kind: TokenKind) {
        if !self.pending.is_empty() {
            self.reach(self.position);
        }
        (self.each)(Token { text, position: self.position, start, end, kind });
    }

    fn emit_stem(&mut self, word: &str, folded: &str, run: Run) {
        let Some(stems) = self.stems.as_deref_mut() else { return };
        let word = if run.plain && !stems.dotless() { folded } else { word };
        if let Some(text) = stems.stem(word, folded) {
            (self.each)(Token {
                text,
                position: self.position,
                start: run.start,
                end: run.end,
                kind: TokenKind::Stem,
            });
        }
    }

    /// A part comes when its position is reached, so that positions never fall.
    fn part(&mut self, part: Pending) {
        let place = self.pending.partition_point(|other| other.position <= part.position);
        self.pending.insert(place, part);
    }

    /// Emits the parts whose position is reached.
    fn reach(&mut self, position: u32) {
        let reached = self.pending.partition_point(|part| part.position <= position);
        let mut folded = std::mem::take(&mut self.buffers.part);
        let parts: SmallVec<[Pending; PARTS_MAX]> = self.pending.drain(..reached).collect();
        for part in parts {
            let word = self.text.get(part.start..part.end).unwrap_or_default();
            folded.clear();
            fold::fold_word(beginning(word, 4 * TOKEN_BYTES_MAX), &mut folded);
            folded.truncate(folded.floor_char_boundary(TOKEN_BYTES_MAX));
            if folded.is_empty() {
                continue;
            }
            let token = Token {
                text: &folded,
                position: part.position,
                start: part.start,
                end: part.end,
                kind: TokenKind::Part,
            };
            (self.each)(token);
            let Some(stems) = self.stems.as_deref_mut() else { continue };
            let word = if word.is_ascii() && !stems.dotless() { &folded } else { word };
            if let Some(stem) = stems.stem(word, &folded) {
                (self.each)(Token { text: stem, kind: TokenKind::Stem, ..token });
            }
        }
        self.buffers.part = folded;
    }
}
