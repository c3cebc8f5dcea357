//! Examples that the help of a command ends with.

pub(super) const EXAMPLES: &str = "Examples:
  pressmark serve ~/handbook ~/notes            serve two folders at http://127.0.0.1:7411/mcp
  pressmark stdio ~/handbook                    the same for a host that starts its servers itself
  pressmark search overdue fees                 asks the server that runs
  pressmark read docs://handbook/README.md --data DIR
  pressmark load pypi packages.ndjson --config pressmark.toml
  pressmark dump tickets --data DIR > tickets.ndjson

Without --data, --config or --admin, commands that only read ask the running server: that of $PRESSMARK_DATA, else
$PRESSMARK_ADMIN, else 127.0.0.1:7412.

Exit codes: 0 all was done, 1 some of it (a record was refused, a check found a fault), 2 nothing was done.";

pub(super) const LOAD_EXAMPLES: &str = "Examples:
  pressmark load pypi packages.ndjson more.tsv.zst     with the columns of [space.columns] in pressmark.toml
  export | pressmark load tickets - --format csv       from another program
  pressmark load pypi *.csv.gz --errors refused.ndjson keep what was refused, with file, line and reason
  pressmark load pypi packages.ndjson --admin auto     into the server that has the store of the configuration

Exit codes: 0 all records are in, 1 some of them (others were refused, a file failed, the server went away), 2 none.";

pub(super) const COMPLETE_EXAMPLES: &str = "Examples:
  pressmark complete pypi name req --data DIR
  pressmark complete papers name \"\" --context team=core --context year=2025 --data DIR";

pub(super) const PROMPT_EXAMPLES: &str = "Examples:
  pressmark prompt add review.toml --admin 127.0.0.1:7412     hosts hear of it at once
  pressmark prompt list --data DIR";

pub(super) const BACKUP_EXAMPLES: &str = "Examples:
  pressmark backup /backups/monday --data DIR                     of a store that no server owns
  pressmark backup /backups/monday --admin 127.0.0.1:7412         by the server that owns it
  pressmark backup /backups/tuesday --previous /backups/monday --data DIR
  pressmark restore /backups/monday --data NEW_DIR && pressmark verify --data NEW_DIR";

pub(super) const SEARCH_EXAMPLES: &str = "Examples:
  pressmark search web framework                       of the server that runs
  pressmark search web framework --data DIR
  pressmark search '\"overdue fees\"' -draft            a phrase, without a word
  pressmark search 'title:flask -django async*' --space pypi --limit 20
  pressmark search numpy --json --data DIR | jq -r '.results[].uri'

All words are wanted; then most of them. \"phrases\" stand together, -word leaves out, prefix* begins words.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "Examples:
  pressmark completions bash > ~/.local/share/bash-completion/completions/pressmark
  pressmark completions zsh > ~/.zfunc/_pressmark
  pressmark completions fish > ~/.config/fish/completions/pressmark.fish";

pub(super) const LIST_EXAMPLES: &str = "Examples:
  pressmark list --data DIR                            what `resources/list` shows
  pressmark list --space pypi --all | wc -l            every resource of a space";

pub(super) const DUMP_EXAMPLES: &str = "Examples:
  pressmark dump pypi --data DIR > pypi.ndjson
  pressmark dump pypi | zstd > pypi.ndjson.zst          of the server that runs
  pressmark load pypi pypi.ndjson --data OTHER";

pub(super) const PUT_EXAMPLES: &str = "Examples:
  pressmark put note://today today.md --title Today --data DIR
  date | pressmark put note://today --admin 127.0.0.1:7412";

pub(super) const REINDEX_EXAMPLES: &str = "Examples:
  pressmark reindex --data DIR
  pressmark reindex --kind completion --space pypi --admin 127.0.0.1:7412";
