//! An object of JSON in which no name stands twice.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// What serde reads into a map of its own keeps the last value of a name and loses the others without a word.
pub(super) struct UniqueNames<V>(pub(super) BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for UniqueNames<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Names(PhantomData))
    }
}

struct Names<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Names<V> {
    type Value = UniqueNames<V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut names = BTreeMap::new();
        while let Some((name, value)) = members.next_entry::<String, V>()? {
            if names.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{name}` stands twice")));
            }
            names.insert(name, value);
        }
        Ok(UniqueNames(names))
    }
}
