//! Completion from a fixed list, for what no space stands behind.

use super::fold::{fold, fold_char};
use super::request::{Completion, TYPED_BYTES_MAX, VALUES_MAX};
use super::values::CompletionValues;

/// The values that begin with what is typed: those that begin exactly so, then those that do but for case, accents and
/// width; each in the order of the list.
pub fn complete_from_list(values: &[String], typed: &str) -> Completion {
    // As a question to a space: so long a text begins nothing, and folding it would take long.
    if typed.len() > TYPED_BYTES_MAX {
        return Completion { total: Some(0), ..Completion::default() };
    }
    let folded = fold(typed);
    let exact = values.iter().filter(|value| value.starts_with(typed));
    let alike =
        values.iter().filter(|value| !value.starts_with(typed) && begins_alike(value, &folded));
    let mut found = exact.chain(alike);
    let values: CompletionValues = found.by_ref().take(VALUES_MAX).collect();
    let total = values.len() + found.count();
    Completion { has_more: total > values.len(), total: u64::try_from(total).ok(), values }
}

/// Whether a value's folded form begins with this; folds no more of the value than it has to.
fn begins_alike(value: &str, folded: &str) -> bool {
    let mut rest = folded;
    let mut piece = String::new();
    for character in value.chars() {
        if rest.is_empty() {
            return true;
        }
        piece.clear();
        fold_char(character, &mut piece);
        match rest.strip_prefix(piece.as_str()) {
            Some(after) => rest = after,
            // One character may fold to several.
            None => return piece.starts_with(rest),
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, wanted: &[&str]) {
        let values = ["Émile", "emil", "Emma", "e", "zoë"].map(str::to_owned);
        let found = complete_from_list(&values, typed);
        assert_eq!(found.values, wanted.iter().collect(), "{typed}");
        assert_eq!((found.total, found.has_more), (u64::try_from(wanted.len()).ok(), false));
    }

    #[test]
    fn what_is_spelled_so_comes_first() {
        check("", &["Émile", "emil", "Emma", "e", "zoë"]);
        check("e", &["emil", "e", "Émile", "Emma"]);
        check("EM", &["Émile", "emil", "Emma"]);
        check("Em", &["Emma", "Émile", "emil"]);
        check("zoe", &["zoë"]);
        check("ZOË!", &[]);
        check("x", &[]);
    }

    #[test]
    fn a_hundred_at_most_and_the_true_total() {
        let values: Vec<String> = (0..250).map(|number| format!("v{number}")).collect();
        let found = complete_from_list(&values, "v");
        assert_eq!((found.values.len(), found.total, found.has_more), (100, Some(250), true));
    }
}
