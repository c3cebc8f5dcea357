//! Text that is put together from pieces: white space collapsed, lines where blocks end, and a bound.

/// What stands between what was pushed and what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

/// A text in the making. What is pushed beyond its bound is dropped.
#[derive(Debug)]
pub(super) struct TextBuilder {
    text: String,
    gap: Gap,
    bytes_max: usize,
    is_full: bool,
}

// === impl TextBuilder ===

impl TextBuilder {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { text: String::new(), gap: Gap::None, bytes_max, is_full: false }
    }

    /// Adds running text: any white space in it becomes one space.
    pub(super) fn push(&mut self, piece: &str) {
        let mut rest = piece;
        loop {
            let trimmed = rest.trim_start();
            if trimmed.len() < rest.len() {
                self.space();
            }
            if trimmed.is_empty() || self.is_full {
                return;
            }
            let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
            let (word, after) = trimmed.split_at_checked(end).unwrap_or((trimmed, ""));
            self.append(word);
            rest = after;
        }
    }

    /// Adds text whose white space means something, such as code.
    pub(super) fn push_verbatim(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.append(piece);
        }
    }

    /// What comes next is another word.
    pub(super) fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// What comes next is another line.
    pub(super) fn line(&mut self) {
        self.gap = Gap::Line;
    }

    /// Whether the bound is reached, so that nothing more is taken.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The bytes so far; a place for [`TextBuilder::truncate`].
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Drops what was added since the text had this length.
    pub(super) fn truncate(&mut self, len: usize) {
        if len < self.text.len() {
            self.text.truncate(self.text.floor_char_boundary(len));
            self.is_full = false;
        }
        self.line();
    }

    /// The text, without white space at its end.
    pub(super) fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }

    fn append(&mut self, piece: &str) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            match gap {
                Gap::None => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
        }
        let room = self.bytes_max.saturating_sub(self.text.len());
        if piece.len() <= room {
            self.text.push_str(piece);
        } else {
            self.text.push_str(piece.get(..piece.floor_char_boundary(room)).unwrap_or_default());
            self.is_full = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_collapse_and_lines_win() {
        let mut text = TextBuilder::new(100);
        text.line();
        text.push("  one \u{a0}\n two");
        text.push("three ");
        text.line();
        text.space();
        text.push(" four");
        text.line();
        text.push_verbatim("  let x;\n");
        text.push("five\n");
        assert_eq!(text.finish(), "one twothree\nfour\n  let x;\nfive");
    }

    #[test]
    fn the_bound_cuts_between_characters() {
        let mut text = TextBuilder::new(6);
        text.push("ab 日本 c");
        assert!(text.is_full());
        assert_eq!(text.len(), 6);
        assert_eq!(text.finish(), "ab 日");
    }

    #[test]
    fn what_is_taken_back_makes_room() {
        let mut text = TextBuilder::new(8);
        text.push("kept");
        let place = text.len();
        text.push(" dropped");
        text.truncate(place);
        text.push("new");
        assert_eq!(text.finish(), "kept\nnew");
    }
}
