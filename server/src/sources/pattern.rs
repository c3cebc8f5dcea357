//! Include and exclude patterns: the syntax of `.gitignore`, relative to the folder.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::SourceError;

/// One parsed pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    glob: Gitignore,
    segments: Vec<Segment>,
    /// Whether the first segment stands directly beneath the folder.
    anchored: bool,
}

#[derive(Debug)]
enum Segment {
    /// Without wildcards, escapes undone.
    Literal(String),
    /// With wildcards, as written.
    Wildcard(String),
}

/// Whether a pattern of `include` or `exclude` can be parsed.
///
/// # Errors
///
/// [`SourceError::Pattern`] with what is wrong.
pub fn check_pattern(pattern: &str) -> Result<(), SourceError> {
    Pattern::parse(pattern).map(|_| ())
}

impl Pattern {
    pub(super) fn parse(pattern: &str) -> Result<Self, SourceError> {
        let refused = |detail: String| SourceError::Pattern { pattern: pattern.to_owned(), detail };
        if pattern.trim().is_empty() {
            return Err(refused("is empty; write ** for every file".to_owned()));
        }
        if pattern.starts_with('!') {
            return Err(refused(
                "begins with !; move it to the other list, or write \\! for a name that begins so"
                    .to_owned(),
            ));
        }
        if pattern.starts_with('#') {
            return Err(refused("begins with #; write \\# for a name that begins so".to_owned()));
        }
        let mut builder = GitignoreBuilder::new("");
        builder.allow_unclosed_class(false);
        builder.add_line(None, pattern).map_err(|error| refused(error.to_string()))?;
        let glob = builder.build().map_err(|error| refused(error.to_string()))?;
        let body = pattern.strip_prefix('/').unwrap_or(pattern);
        let segments: Vec<Segment> =
            body.split('/').filter(|segment| !segment.is_empty()).map(Segment::parse).collect();
        // An alternation may hold slashes, so its segments say nothing about where it stands.
        let anchored = (pattern.starts_with('/') || segments.len() > 1) && !pattern.contains('{');
        Ok(Self { glob, segments, anchored })
    }

    pub(super) fn parse_all(patterns: &[String]) -> Result<Vec<Self>, SourceError> {
        patterns.iter().map(|pattern| Self::parse(pattern)).collect()
    }

    /// Whether it matches this very path.
    pub(super) fn matches_entry(&self, relative: &str, folder: bool) -> bool {
        self.glob.matched(Path::new(relative), folder).is_ignore()
    }

    /// Whether it matches the file or a folder that the file is in.
    pub(super) fn matches_file(&self, relative: &str) -> bool {
        if self.matches_entry(relative, false) {
            return true;
        }
        relative.match_indices('/').any(|(end, _)| {
            relative.get(..end).is_some_and(|folder| self.matches_entry(folder, true))
        })
    }

    /// Whether a segment is `name`, without wildcards.
    pub(super) fn spells_out(&self, name: &str) -> bool {
        self.segments
            .iter()
            .any(|segment| matches!(segment, Segment::Literal(text) if text == name))
    }

    /// Whether the last segment is `name` without wildcards, or is `rule` as written.
    pub(super) fn ends_in(&self, name: &str, rule: Option<&str>) -> bool {
        match self.segments.last() {
            Some(Segment::Literal(text)) => text == name || Some(text.as_str()) == rule,
            Some(Segment::Wildcard(text)) => Some(text.as_str()) == rule,
            None => false,
        }
    }

    /// Whether something beneath the folder `relative` could match; spares walking where nothing can.
    pub(super) fn may_match_beneath(&self, relative: &str) -> bool {
        if !self.anchored {
            return true;
        }
        for (segment, name) in self.segments.iter().zip(relative.split('/')) {
            match segment {
                Segment::Literal(text) if text == name => {}
                Segment::Literal(_) => return false,
                Segment::Wildcard(_) => return true,
            }
        }
        true
    }
}

impl Segment {
    fn parse(segment: &str) -> Self {
        let mut literal = String::with_capacity(segment.len());
        let mut characters = segment.chars();
        while let Some(character) = characters.next() {
            match character {
                '*' | '?' | '[' | ']' | '{' | '}' => return Self::Wildcard(segment.to_owned()),
                '\\' => literal.extend(characters.next()),
                _ => literal.push(character),
            }
        }
        Self::Literal(literal)
    }
}

/// A pattern that matches only the entry `name` directly beneath the folder.
pub(super) fn literal_pattern(name: &str) -> String {
    let mut pattern = String::from("/");
    for character in name.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | '#' | ' ') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
