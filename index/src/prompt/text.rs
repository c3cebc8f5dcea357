//! Texts in which `{argument}` stands for a value, and `{{` and `}}` for braces.

/// A parsed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextTemplate {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Argument(String),
}

impl TextTemplate {
    /// Parses a text; the error says where it is wrong and what to write instead.
    pub(super) fn parse(text: &str) -> Result<TextTemplate, String> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = memchr::memchr2(b'{', b'}', rest.as_bytes()) {
            let (before, from) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else {
                let position = text.len() - from.len();
                let (name, after) = argument(from, position)?;
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Argument(name.to_owned()));
                rest = after;
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(TextTemplate { pieces })
    }

    /// The arguments that it names.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(_) => None,
            Piece::Argument(name) => Some(name.as_str()),
        })
    }

    /// The text with values in place of arguments; nothing stands for one without a value. `None`: it would take more than
    /// `bytes_max`.
    pub(super) fn fill<'v>(
        &'v self,
        value_of: impl Fn(&str) -> Option<&'v str>,
        bytes_max: usize,
    ) -> Option<String> {
        let filled: Vec<&str> = self
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Literal(text) => text,
                Piece::Argument(name) => value_of(name).unwrap_or_default(),
            })
            .collect();
        // Summed before anything is copied: a long value may stand in a thousand places.
        let bytes = filled.iter().fold(0_usize, |sum, text| sum.saturating_add(text.len()));
        (bytes <= bytes_max).then(|| filled.concat())
    }
}

/// The name in braces at the beginning of `text`, and what stands behind it.
fn argument(text: &str, position: usize) -> Result<(&str, &str), String> {
    let Some(inner) = text.strip_prefix('{') else {
        return Err(format!("a `}}` alone at byte {position}; write `}}}}` for a brace"));
    };
    match inner.split_once('}') {
        Some((name, after)) if !name.contains('{') => Ok((name, after)),
        _ => Err(format!("the `{{` at byte {position} is not closed; write `{{{{` for a brace")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(text: &str) -> Result<String, String> {
        let template = TextTemplate::parse(text)?;
        let value_of = |name: &str| match name {
            "a" => Some("{b}}{{"),
            "b" => Some("B"),
            _ => None,
        };
        Ok(template.fill(value_of, 1_000).unwrap())
    }

    #[test]
    fn values_stand_in_for_arguments_once() {
        for (text, wanted) in [
            ("", ""),
            ("plain", "plain"),
            ("{b}", "B"),
            ("x{a}y{b}{b}", "x{b}}{{yBB"),
            ("{absent}!", "!"),
            ("{{b}}", "{b}"),
            ("{{{b}}}", "{B}"),
            ("{{{{ }}}}", "{{ }}"),
            ("é{b}中", "éB中"),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn braces_that_stand_for_nothing_are_refused() {
        for (text, fault) in [
            ("a } b", "a `}` alone at byte 2; write `}}` for a brace"),
            ("}}}", "a `}` alone at byte 2; write `}}` for a brace"),
            ("{", "the `{` at byte 0 is not closed; write `{{` for a brace"),
            ("é{b", "the `{` at byte 2 is not closed; write `{{` for a brace"),
            ("{a{b}", "the `{` at byte 0 is not closed; write `{{` for a brace"),
        ] {
            assert_eq!(filled(text), Err(fault.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_text_over_its_bound_is_not_made() {
        let template = TextTemplate::parse(&"{a}".repeat(1_000)).unwrap();
        let value = "x".repeat(1_000);
        assert!(template.fill(|_| Some(&value), 999_999).is_none());
        assert_eq!(template.fill(|_| Some(&value), 1_000_000).unwrap().len(), 1_000_000);
    }

    proptest! {
        #[test]
        fn any_text_comes_back_when_its_braces_are_doubled(text: String) {
            let doubled = text.replace('{', "{{").replace('}', "}}");
            let template = TextTemplate::parse(&doubled).unwrap();
            prop_assert_eq!(template.arguments().count(), 0);
            prop_assert_eq!(template.fill(|_| None, usize::MAX), Some(text));
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "[{}ab]{0,12}") {
            let _ = TextTemplate::parse(&text);
        }
    }
}
