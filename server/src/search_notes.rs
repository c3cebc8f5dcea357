//! What a page of results does not tell by its hits: one text for the tool, the admin plane and the shell.

use std::time::Duration;

use pressmark_index::full_text::SearchNote;

/// A note as a model, or whoever is at the shell, reads it; the search had `time_max`.
pub(crate) fn told(note: &SearchNote, time_max: Duration) -> String {
    match note {
        SearchNote::TimeCut => format!(
            "the search ended after {time_max:?}: there may be better and more results; more words or a filter help"
        ),
        SearchNote::QueryCut { bytes: 0, words } => {
            format!("the query is too long: {words} of its words were not looked for")
        }
        SearchNote::QueryCut { bytes, .. } => {
            format!("the query is too long: its last {bytes} bytes were left out")
        }
        SearchNote::NoWords => "the query has no words: nothing can match it".to_owned(),
        SearchNote::PrefixCut => {
            "a prefix stands for too many words: not all were looked for; write more of it"
                .to_owned()
        }
        SearchNote::FewerWords { wanted, words } => format!(
            "few resources have all {words} words: those with at least {wanted} of them come after"
        ),
        SearchNote::TyposTolerated => {
            "little was found for the words as they are: words with a typing error match as well"
                .to_owned()
        }
        SearchNote::IndexIncomplete { share } => format!(
            "the index is being made: {:.0} % of the resources can be found so far; search again later",
            (share * 100.0).floor()
        ),
        SearchNote::StillBehind => "the newest changes cannot be found yet".to_owned(),
        SearchNote::Backlog => {
            "very many changes wait to be indexed: the last of them cannot be found yet".to_owned()
        }
        SearchNote::IndexFailing => {
            "the index cannot be read or written for now: what is found may be old or incomplete; the operator finds the reason at /readyz"
                .to_owned()
        }
    }
}
