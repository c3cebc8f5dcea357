//! Snippets as people and models read them: one line, with marks around the matched words.

use pressmark_index::full_text::Snippet;

/// The snippet's text on one line, each matched piece between `open` and `close`.
pub(crate) fn highlighted(snippet: &Snippet, open: &str, close: &str) -> String {
    let Snippet { text, marks } = snippet;
    let mut out = String::with_capacity(text.len() + marks.len() * (open.len() + close.len()));
    let mut at = 0;
    for mark in marks {
        // Marks are in order and do not overlap; one that did would be passed over.
        let (Some(before), Some(marked)) = (text.get(at..mark.start), text.get(mark.clone()))
        else {
            continue;
        };
        push_line(before, &mut out);
        out.push_str(open);
        push_line(marked, &mut out);
        out.push_str(close);
        at = mark.end;
    }
    push_line(text.get(at..).unwrap_or_default(), &mut out);
    out.trim().to_owned()
}

/// Adds a piece with its white space collapsed, line ends included.
fn push_line(piece: &str, out: &mut String) {
    for character in piece.chars() {
        if !character.is_whitespace() {
            out.push(character);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_around_words() {
        for (text, marks, expected) in [
            ("a word\n  and  word", vec![2..6, 14..18], "a [word] and [word]"),
            ("認證和系統", vec![0..6, 9..15], "[認證]和[系統]"),
            ("none", vec![], "none"),
            ("out of order", vec![4..6, 0..3, 40..50], "out [of] order"),
            ("", vec![], ""),
        ] {
            let snippet = Snippet { text: text.to_owned(), marks };
            assert_eq!(highlighted(&snippet, "[", "]"), expected);
        }
    }
}
