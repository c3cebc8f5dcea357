//! The members of an object, each once.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The most members of an object that is read here: each is hashed and kept, on a thread that answers other requests too.
pub(crate) const MEMBERS_MAX: usize = 1_024;

/// The members of the object in `text`, in their order; `None` if it is not an object, has more than [`MEMBERS_MAX`]
/// members, or has a name twice: readers could differ about which one counts.
pub(crate) fn members(text: &str) -> Option<Vec<(Cow<'_, str>, &RawValue)>> {
    serde_json::from_str(text).ok().map(|Members(members)| members)
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object whose members have different names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        let mut names = HashSet::new();
        while let Some((Key(name), value)) = map.next_entry()? {
            if members.len() >= MEMBERS_MAX {
                return Err(A::Error::custom("there are too many members"));
            }
            if !names.insert(name.clone()) {
                return Err(A::Error::custom("a member is given twice"));
            }
            members.push((name, value));
        }
        Ok(members)
    }
}

/// A member's name, borrowed where it was spelled without escapes.
pub(crate) struct Key<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor).map(Key)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_bounded() {
        let object = |count: usize| {
            let members: Vec<_> = (0..count).map(|number| format!("\"m{number}\":0")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert_eq!(members(&object(MEMBERS_MAX)).map(|members| members.len()), Some(MEMBERS_MAX));
        assert!(members(&object(MEMBERS_MAX + 1)).is_none());
    }

    #[test]
    fn a_name_stands_once_however_it_is_spelled() {
        for (text, names) in [
            ("{}", Some("")),
            (r#"{"b":1,"a":{"a":2,"a":3}}"#, Some("b a")),
            (r#"{"a":1,"a":1}"#, None),
            (r#"{"a":1,"\u0061":2}"#, None),
            ("[]", None),
            ("{", None),
        ] {
            let found = members(text).map(|members| {
                members.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), names, "{text}");
        }
    }
}
