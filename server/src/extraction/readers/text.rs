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
    /// What comes at the end of the line: readings, notes and remarks within it.
    aside: String,
    is_aside: bool,
}

// === impl TextBuilder ===

impl TextBuilder {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            text: String::new(),
            gap: Gap::None,
            bytes_max,
            is_full: false,
            aside: String::new(),
            is_aside: false,
        }
    }

    /// Adds running text: any white space in it becomes one space.
    pub(super) fn push(&mut self, piece: &str) {
        if self.is_aside {
            return self.push_aside(piece);
        }
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
        if self.is_aside {
            self.push_aside(piece);
        } else if !piece.is_empty() {
            self.append(piece);
        }
    }

    /// What comes next is another word.
    pub(super) fn space(&mut self) {
        if self.is_aside {
            return self.push_aside(" ");
        }
        self.gap = self.gap.max(Gap::Space);
    }

    /// What comes next is another line.
    pub(super) fn line(&mut self) {
        if self.is_aside {
            return self.push_aside(" ");
        }
        self.add_aside();
        self.gap = Gap::Line;
    }

    /// What comes next stands apart from the words around it: it comes at the end of the line.
    pub(super) fn begin_aside(&mut self) {
        self.is_aside = true;
        self.push_aside(" ");
    }

    /// What comes next belongs to the line again.
    pub(super) fn end_aside(&mut self) {
        self.is_aside = false;
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
        self.aside.clear();
        self.line();
    }

    /// The text, without white space at its end.
    pub(super) fn finish(mut self) -> String {
        self.add_aside();
        self.text.truncate(self.text.trim_end().len());
        self.text
    }

    fn push_aside(&mut self, piece: &str) {
        let room = self.bytes_max.saturating_sub(self.text.len() + self.aside.len());
        self.aside.push_str(piece.get(..piece.floor_char_boundary(room)).unwrap_or_default());
    }

    fn add_aside(&mut self) {
        let aside = std::mem::take(&mut self.aside);
        self.is_aside = false;
        if !aside.trim().is_empty() {
            self.space();
            self.push(&aside);
        }
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
    fn asides_come_at_the_end_of_the_line() {
        let mut text = TextBuilder::new(100);
        text.push("bud");
        text.begin_aside();
        text.push("a  note");
        text.line();
        text.push_verbatim("of two lines");
        text.end_aside();
        text.push("get");
        text.line();
        text.push("next");
        text.begin_aside();
        text.push("last");
        assert_eq!(text.finish(), "budget a note of two lines\nnext last");
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
