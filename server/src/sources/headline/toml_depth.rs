//! How deep TOML nests, found without parsing it.
//!
//! The parser calls itself for each level of tables and arrays, and so does what frees its result. It bounds the parts of
//! one key and the nesting of values, each by 80, but not their product, which is deeper than a thread's stack.

/// Levels of tables and arrays in front matter that is read. Generators of sites use four.
const DEPTH_MAX: usize = 32;

/// Whether parts of keys and open brackets together are never more than [`DEPTH_MAX`].
pub(super) fn is_shallow(toml: &str) -> bool {
    let mut rest = toml.as_bytes();
    // For each open bracket the dots that were counted before it.
    let mut open: Vec<usize> = Vec::new();
    let mut dots = 0;
    let mut depth = 0;
    while let [byte, after @ ..] = rest {
        rest = match byte {
            b'"' | b'\'' => after_string(*byte, rest),
            b'#' => after_line(after),
            _ => after,
        };
        match byte {
            b'.' => {
                dots += 1;
                depth += 1;
            }
            b'[' | b'{' => {
                open.push(dots);
                dots = 0;
                depth += 1;
            }
            b']' | b'}' => {
                if let Some(before) = open.pop() {
                    depth -= dots + 1;
                    dots = before;
                }
            }
            b',' => {
                depth -= dots;
                dots = 0;
            }
            // Between brackets a line's end separates nothing; in a comment there is one too.
            b'\n' | b'#' if open.is_empty() => {
                depth -= dots;
                dots = 0;
            }
            _ => {}
        }
        if depth > DEPTH_MAX {
            return false;
        }
    }
    true
}

fn after_line(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
    rest.get(end..).unwrap_or_default()
}

/// What comes after the string that `rest` begins with: one of a line ends with the line at the latest.
fn after_string(quote: u8, rest: &[u8]) -> &[u8] {
    let fence = [quote; 3];
    let is_long = rest.starts_with(&fence);
    let close = if is_long { &fence[..] } else { &fence[..1] };
    let mut rest = rest.get(close.len()..).unwrap_or_default();
    while let [byte, after @ ..] = rest {
        if let Some(mut after) = rest.strip_prefix(close) {
            // Up to two quotation marks stand before the three that close.
            let more = if is_long { 2 } else { 0 };
            for _ in 0..more {
                after = after.strip_prefix(&[quote]).unwrap_or(after);
            }
            return after;
        }
        rest = match (byte, after) {
            (b'\n', _) if !is_long => return rest,
            (b'\\', [next, more @ ..]) if quote == b'"' && *next != b'\n' => more,
            _ => after,
        };
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: bool, toml: &str) {
        assert_eq!(is_shallow(toml), expected, "{toml}");
    }

    #[test]
    fn keys_and_brackets_count_together() {
        let dots = ".a".repeat(20);
        check(true, &format!("a{dots} = 1\na{dots} = 2"));
        check(true, &format!("[a{dots}]\na{dots} = [1, 2]"));
        check(true, &format!("a = [{}]", "1.5, ".repeat(100)));
        check(true, &format!("a = [\n{}]", "  { b = [1.5] },\n".repeat(100)));
        check(false, &format!("a{dots}{dots} = 1"));
        check(false, &format!("a{dots} = {{a{dots} = 1}}"));
        check(false, &format!("a{dots} = {{\n a{dots} = 1}}"));
        check(false, &format!("a = {}", "[".repeat(40)));
        check(false, &format!("a = {}", "{a=".repeat(40)));
    }

    #[test]
    fn what_stands_in_strings_and_comments_does_not_count() {
        let deep = "[.".repeat(40);
        check(true, &format!("a = \"{deep} \\\" {deep}\" # {deep}"));
        check(true, &format!("a = '{deep}\\'\nb = 1"));
        check(true, &format!("a = \"\"\"{deep}\n\"{deep}\\\"\"\"\"\"\nb = 1"));
        check(true, &format!("a = '''{deep}\n'{deep}'''''\nb = 1"));
        check(false, &format!("a = {{ b = \"\", c = {deep}"));
        check(false, &format!("a = {{ b = \"\\\\\", c = {deep}"));
        check(false, &format!("a = {{ b = '\\', c = {deep}"));
        check(false, &format!("a = {{ b = \"\"\"x\"\"\"\"\", c = {deep}"));
        check(false, &format!("a = \"never closed\nb = {deep}"));
        check(false, &format!("# \"\nb = {deep}"));
    }
}
