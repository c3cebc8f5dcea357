//! Runs of scripts without spaces: their folded characters, with where each stands.

use super::characters::{Role, role};
use super::fold;

/// A folded character of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) character: char,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Hands each folded character of the run that begins at `at` to `each`, and says where the run ends.
pub(super) fn units(
    text: &str,
    at: usize,
    folded: &mut String,
    each: &mut dyn FnMut(Unit),
) -> usize {
    let mut end = at;
    let mut waiting: Option<Unit> = None;
    for (start, character) in text.get(at..).unwrap_or_default().char_indices() {
        let start = at + start;
        match role(character) {
            Role::Gram => {}
            Role::Mark | Role::Invisible => continue,
            Role::Word | Role::Symbol | Role::Between => break,
        }
        end = start + character.len_utf8();
        folded.clear();
        fold::fold_char(character, folded);
        for character in folded.chars() {
            let unit = Unit { character, start, end };
            match waiting {
                Some(before) => match fold::composed(before.character, character) {
                    Some(character) => waiting = Some(Unit { character, start: before.start, end }),
                    None => {
                        each(before);
                        waiting = Some(unit);
                    }
                },
                None => waiting = Some(unit),
            }
        }
    }
    waiting.into_iter().for_each(each);
    end
}
