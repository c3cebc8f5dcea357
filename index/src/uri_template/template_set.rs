//! Many templates at once: which of them match a URI, in order of precedence.

use std::cmp::Reverse;
use std::sync::Arc;

use super::TemplateMatcher;
use crate::resource::Binding;
use crate::space::SpaceId;

/// The templates of all spaces; immutable once built.
///
/// Only templates whose literal prefix begins the URI are matched. They are found by one binary search: the distinct
/// prefixes are sorted, and each knows the longest other one that begins it, so the prefixes of a URI are a chain.
#[derive(Debug, Clone, Default)]
pub struct TemplateSet {
    /// In order of precedence.
    templates: Vec<(SpaceId, Arc<TemplateMatcher>)>,
    /// Sorted by text.
    prefixes: Vec<Prefix>,
}

#[derive(Debug, Clone)]
struct Prefix {
    text: String,
    /// The longest other prefix that begins this one.
    parent: Option<usize>,
    /// Positions in `templates`, ascending.
    templates: Vec<usize>,
}

impl TemplateSet {
    /// A set of these templates. The order of the space numbers is their age, smaller is older.
    pub fn new(templates: impl IntoIterator<Item = (SpaceId, Arc<TemplateMatcher>)>) -> Self {
        let mut templates: Vec<_> = templates.into_iter().collect();
        templates.sort_by_key(|(space, matcher)| {
            (Reverse(matcher.literal_characters), matcher.variable_count, *space)
        });
        let mut by_prefix: Vec<(&str, usize)> = templates
            .iter()
            .enumerate()
            .map(|(rank, (_, matcher))| (matcher.literal_prefix(), rank))
            .collect();
        by_prefix.sort_unstable();
        let mut prefixes: Vec<Prefix> = Vec::new();
        for (text, rank) in by_prefix {
            match prefixes.last_mut() {
                Some(last) if last.text == text => last.templates.push(rank),
                _ => {
                    let mut parent = prefixes.len().checked_sub(1);
                    while let Some(candidate) = parent.and_then(|at| prefixes.get(at)) {
                        if text.starts_with(&candidate.text) {
                            break;
                        }
                        parent = candidate.parent;
                    }
                    prefixes.push(Prefix { text: text.to_owned(), parent, templates: vec![rank] });
                }
            }
        }
        Self { templates, prefixes }
    }

    /// The spaces whose templates match the URI, which is in normal form, with what they bind: more literal
    /// characters first, then fewer variables, then the older space.
    pub fn matches<'a>(
        &'a self,
        normalised_uri: &'a str,
    ) -> impl Iterator<Item = (SpaceId, Vec<Binding>)> + 'a {
        self.candidates(normalised_uri).into_iter().filter_map(move |rank| {
            let (space, matcher) = self.templates.get(rank)?;
            Some((*space, matcher.match_uri(normalised_uri)?))
        })
    }

    /// The lengths of the literal prefixes that begin the URI, the longest first.
    pub fn prefix_bytes<'a>(&'a self, uri: &'a str) -> impl Iterator<Item = usize> + 'a {
        let last =
            self.prefixes.partition_point(|prefix| prefix.text.as_str() <= uri).checked_sub(1);
        std::iter::successors(last, |at| self.prefixes.get(*at)?.parent)
            .filter_map(|at| self.prefixes.get(at))
            .filter(move |prefix| uri.starts_with(&prefix.text))
            .map(|prefix| prefix.text.len())
    }

    /// The templates whose literal prefix begins the URI, in order of precedence.
    fn candidates(&self, uri: &str) -> Vec<usize> {
        let mut ranks = Vec::new();
        let mut at =
            self.prefixes.partition_point(|prefix| prefix.text.as_str() <= uri).checked_sub(1);
        while let Some(prefix) = at.and_then(|at| self.prefixes.get(at)) {
            if uri.starts_with(&prefix.text) {
                ranks.extend_from_slice(&prefix.templates);
            }
            at = prefix.parent;
        }
        ranks.sort_unstable();
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uri_template::UriTemplate;
    use proptest::prelude::*;

    fn set(templates: &[&str]) -> TemplateSet {
        TemplateSet::new((0..).zip(templates).map(|(number, template)| {
            (SpaceId(number), Arc::new(UriTemplate::parse(template).unwrap().matcher().unwrap()))
        }))
    }

    fn spaces(set: &TemplateSet, uri: &str) -> Vec<u32> {
        set.matches(uri).map(|(space, _)| space.0).collect()
    }

    #[test]
    fn more_literal_text_then_fewer_variables_then_age_come_first() {
        let set = set(&[
            "{+any}",
            "d://a/{+p}",
            "d://a/{x}",
            "d://a/{x}/{y}",
            "d://a/b{x}",
            "d://é/{x}",
            "d://ab/{+x}",
            "d://a/{x}{?q}",
        ]);
        let check = |uri, expected: &[u32]| assert_eq!(spaces(&set, uri), expected, "{uri}");
        check("d://a/bc", &[4, 1, 2, 7, 0]);
        check("d://a/c/d", &[3, 1, 0]);
        check("d://%C3%A9/c", &[5, 0]);
        check("d://ab/c", &[6, 0]);
        check("e://a", &[0]);
        check("", &[0]);
    }

    #[test]
    fn thousands_of_templates_are_not_tried_one_by_one() {
        let templates: Vec<String> = (0..5_000).map(|n| format!("d://space-{n}/{{x}}")).collect();
        let templates: Vec<&str> = templates.iter().map(String::as_str).collect();
        let set = set(&templates);
        assert_eq!(set.candidates("d://space-4321/x").len(), 1);
        assert_eq!(spaces(&set, "d://space-4321/x"), [4321]);
    }

    proptest! {
        #[test]
        fn the_prefixes_are_those_that_begin_the_uri(
            prefixes in prop::collection::vec("d://[ab]{0,5}", 1..20),
            uri in "d://[ab]{0,7}",
        ) {
            let templates: Vec<String> = prefixes.iter().map(|prefix| format!("{prefix}{{+x}}")).collect();
            let templates: Vec<&str> = templates.iter().map(String::as_str).collect();
            let mut found = spaces(&set(&templates), &uri);
            found.sort_unstable();
            let expected: Vec<u32> = (0..).zip(&prefixes).filter(|(_, p)| uri.starts_with(*p)).map(|(n, _)| n).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
