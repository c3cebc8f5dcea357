//! Sorts shelf marks as they stand on the shelves: by press, then shelf, then title.

use std::fmt;

/// `K 4 gul`: press K, shelf 4, titles that begin with "gul".
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShelfMark {
    press: String,
    shelf: u8,
    title: String,
}

impl ShelfMark {
    /// Reads a label. Prefixes such as `LP` say where the press stands and do not change the order.
    pub fn parse(label: &str) -> Option<Self> {
        let mut parts = label.split_whitespace().peekable();
        if matches!(parts.peek(), Some(&("LP" | "REF"))) {
            parts.next();
        }
        let (press, shelf, title) = (parts.next()?, parts.next()?, parts.next()?);
        let shelf = shelf.parse().ok()?;
        Some(Self { press: press.to_owned(), shelf, title: title.to_lowercase() })
    }
}

impl fmt::Display for ShelfMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.press, self.shelf, self.title)
    }
}

fn main() {
    let mut marks: Vec<_> = std::env::args().skip(1).filter_map(|label| ShelfMark::parse(&label)).collect();
    marks.sort();
    for mark in marks {
        println!("{mark}");
    }
}
