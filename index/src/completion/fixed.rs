//! Completion from a fixed list, for what no space stands behind.

use super::fold::fold;
use super::request::{Completion, TYPED_BYTES_MAX, VALUES_MAX};

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
        values.iter().filter(|value| !value.starts_with(typed) && fold(value).starts_with(&folded));
    let mut found: Vec<String> = exact.chain(alike).cloned().collect();
    let total = found.len();
    found.truncate(VALUES_MAX);
    Completion { has_more: total > found.len(), total: u64::try_from(total).ok(), values: found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, wanted: &[&str]) {
        let values = ["Émile", "emil", "Emma", "e", "zoë"].map(str::to_owned);
        let found = complete_from_list(&values, typed);
        assert_eq!(found.values, wanted, "{typed}");
        assert_eq!((found.total, found.has_more), (u64::try_from(wanted.len()).ok(), false));
    }

    #[test]
    fn what_is_spelled_so_comes_first() {
        check("", &["Émile", "emil", "Emma", "e", "zoë"]);
        check("e", &["emil", "e", "Émile", "Emma"]);
        check("EM", &["Émile", "emil", "Emma"]);
        check("Em", &["Emma", "Émile", "emil"]);
        check("zoe", &["zoë"]);
        check("x", &[]);
    }

    #[test]
    fn a_hundred_at_most_and_the_true_total() {
        let values: Vec<String> = (0..250).map(|number| format!("v{number}")).collect();
        let found = complete_from_list(&values, "v");
        assert_eq!((found.values.len(), found.total, found.has_more), (100, Some(250), true));
    }
}
