//! The literals of a template in normal form, so that they match raw and encoded spellings alike.

use super::Operator;
use super::encode::{PATH, QUERY};
use super::normal_form::{
    Purpose, UriFault, file_authority, normal_authority, push_normal, scheme_end,
};

/// Where in a URI a literal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Authority,
    Path,
    Query,
    Fragment,
}

/// Normalises the literals of a template one after the other.
pub(super) struct Literals {
    place: Place,
}

impl Literals {
    pub(super) fn new() -> Self {
        Self { place: Place::Start }
    }

    /// The normal form of the next literal; `next` is the operator of the expression behind it, if any.
    pub(super) fn normalise(
        &mut self,
        text: &str,
        next: Option<Operator>,
    ) -> Result<String, UriFault> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        if self.place == Place::Start {
            self.place = Place::Path;
            if let Some((scheme, after)) =
                scheme_end(text).and_then(|colon| text.split_at_checked(colon + 1))
            {
                out.push_str(&scheme.to_ascii_lowercase());
                rest = after;
                if let Some(after) = after.strip_prefix("//") {
                    out.push_str("//");
                    rest = after;
                    self.place = Place::Authority;
                }
            }
        }
        if self.place == Place::Authority {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (authority, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            let authority = normal_authority(authority, 0, Purpose::Store)?;
            let open = after.is_empty() && next.is_some_and(|next| !ends_authority(next));
            if open {
                out.push_str(&authority);
            } else {
                let authority = file_authority(&out, &authority).to_owned();
                out.push_str(&authority);
                self.place = Place::Path;
            }
            rest = after;
        }
        while !rest.is_empty() && self.place != Place::Authority {
            let (marks, raw): (&[char], _) = match self.place {
                Place::Path | Place::Start | Place::Authority => (&['?', '#'], PATH),
                Place::Query => (&['#'], QUERY),
                Place::Fragment => (&[], QUERY),
            };
            let end = rest.find(marks).unwrap_or(rest.len());
            let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            push_normal(&mut out, part, 0, raw, Purpose::Store)?;
            let mut after = after.chars();
            if let Some(mark) = after.next() {
                out.push(mark);
                self.place = if mark == '?' { Place::Query } else { Place::Fragment };
            }
            rest = after.as_str();
        }
        Ok(out)
    }

    /// Goes past an expression.
    pub(super) fn pass(&mut self, operator: Operator) {
        self.place = match (operator, self.place) {
            (Operator::Fragment, _) | (_, Place::Fragment) => Place::Fragment,
            (Operator::Query | Operator::QueryContinuation, _) | (_, Place::Query) => Place::Query,
            (Operator::PathSegment | Operator::Reserved, _) | (_, Place::Start) => Place::Path,
            (_, place) => place,
        };
    }
}

fn ends_authority(operator: Operator) -> bool {
    matches!(operator, Operator::PathSegment | Operator::Query | Operator::Fragment)
}
