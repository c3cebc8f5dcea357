//! From the arguments of the process to what they mean.

use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{ArgMatches, ColorChoice, Command, CommandFactory as _, Error, FromArgMatches as _};

use super::Cli;
use crate::extraction::child;

/// Options that name a store or a server.
const STORE_OPTIONS: [&str; 4] = ["config", "data", "admin", "admin_token_file"];
/// Those of them that name a server.
const SERVER_OPTIONS: [&str; 2] = ["admin", "admin_token_file"];
/// The others that every command takes.
const OTHER_OPTIONS: [&str; 5] = ["json", "quiet", "color", "log", "log_format"];

/// The definition of the command line: each command shows the options that act there.
pub(super) fn command() -> Command {
    let command = Cli::command();
    let options: Vec<_> = command.get_arguments().cloned().collect();
    let names: Vec<_> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        let idle = idle_options(&name);
        let hidden = options.iter().filter(|option| idle.contains(&option.get_id().as_str()));
        let hidden: Vec<_> = hidden.map(|option| option.clone().hide(true)).collect();
        // A command's own definition stands before the global one.
        command.mut_subcommand(name, |sub| sub.args(hidden))
    })
}

/// Options that do nothing with a command.
fn idle_options(command: &str) -> Vec<&'static str> {
    match command {
        "serve" | "stdio" | "restore" => SERVER_OPTIONS.to_vec(),
        "completions" | "man" | child::SUBCOMMAND => [&STORE_OPTIONS[..], &OTHER_OPTIONS].concat(),
        _ => Vec::new(),
    }
}

/// What the process was started with, and an option in it that does nothing.
pub(super) struct Parsed {
    pub(super) cli: Cli,
    pub(super) idle_option: Option<String>,
}

pub(super) fn parse() -> Result<Parsed, Error> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let mut command = command().color(colours_of_messages(&arguments));
    let arguments = with_words_last(arguments, &command);
    let matches = command.try_get_matches_from_mut(arguments)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok(Parsed { cli, idle_option: idle_option(&matches) })
}

/// Whether faults of a command line that cannot be read are to be JSON.
pub(super) fn wants_json_errors() -> bool {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let is_form = |pair: &[OsString]| matches!(pair, [option, form] if option == "--log-format" && form == "json");
    arguments.iter().any(|argument| argument == "--json" || argument == "--log-format=json")
        || arguments.windows(2).any(is_form)
}

/// A store or server that was named for a command that has no use for it.
fn idle_option(matches: &ArgMatches) -> Option<String> {
    let command = matches.subcommand_name()?;
    let is_said = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let idle = idle_options(command).into_iter().filter(|id| STORE_OPTIONS.contains(id));
    let id = idle.into_iter().find(is_said)?;
    let does_not = if SERVER_OPTIONS.contains(&id) { "ask a server" } else { "open a store" };
    let option = id.replace('_', "-");
    Some(format!("--{option}: `pressmark {command}` does not {does_not}; leave it out"))
}

/// Colours of what is said of the command line, which must be known before it is read.
fn colours_of_messages(arguments: &[OsString]) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    for (at, argument) in arguments.iter().enumerate() {
        let value = match argument.to_str() {
            Some("--color") => arguments.get(at + 1).and_then(|next| next.to_str()),
            Some(text) => text.strip_prefix("--color="),
            None => None,
        };
        match value {
            Some("always") => choice = ColorChoice::Always,
            Some("never") => choice = ColorChoice::Never,
            _ => {}
        }
    }
    choice
}

/// The arguments of `search` with the words of the query behind `--`: a word may begin with a dash (`-django`), and
/// options may stand among the words.
fn with_words_last(arguments: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let Some(search) = command.find_subcommand("search") else { return arguments };
    let mut rest = arguments.iter().cloned();
    let mut ordered: Vec<OsString> = rest.by_ref().take(1).collect();
    while let Some(argument) = rest.next() {
        let has_value = takes_next(&argument, &[command]);
        let is_option = argument.as_encoded_bytes().starts_with(b"-");
        let is_search = argument == "search";
        ordered.push(argument);
        if has_value {
            ordered.extend(rest.next());
        } else if is_search {
            break;
        } else if !is_option {
            return arguments;
        }
    }
    let mut words = Vec::new();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            words.extend(rest.by_ref());
        } else if takes_next(&argument, &[search, command]) {
            ordered.push(argument);
            ordered.extend(rest.next());
        } else if is_flag(&argument, &[search, command]) {
            ordered.push(argument);
        } else {
            words.push(argument);
        }
    }
    if !words.is_empty() {
        ordered.push("--".into());
        ordered.extend(words);
    }
    ordered
}

/// Whether the argument is an option whose value is the next argument.
fn takes_next(argument: &OsStr, commands: &[&Command]) -> bool {
    let Some(name) = argument.to_str().and_then(|text| text.strip_prefix("--")) else {
        return false;
    };
    let mut options = commands.iter().flat_map(|command| command.get_arguments());
    options.any(|option| option.get_long() == Some(name) && option.get_action().takes_values())
}

/// Whether the argument is an option by itself: a long one, or a short one that there is.
fn is_flag(argument: &OsStr, commands: &[&Command]) -> bool {
    let Some(text) = argument.to_str() else { return false };
    if text.starts_with("--") {
        return true;
    }
    let Some(letter) = text.strip_prefix('-').filter(|rest| rest.len() == 1) else { return false };
    let mut options = commands.iter().flat_map(|command| command.get_arguments());
    matches!(letter, "h" | "V")
        || options.any(|option| option.get_short().is_some_and(|short| letter == short.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reordered(arguments: &str) -> String {
        let arguments = arguments.split(' ').map(OsString::from).collect();
        let arguments = with_words_last(arguments, &command());
        let arguments: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
        arguments.join(" ")
    }

    #[test]
    fn words_of_a_query_may_stand_between_options() {
        for (given, wanted) in [
            ("p search web framework", "p search -- web framework"),
            ("p search a --limit 5 -b --json c", "p search --limit 5 --json -- a -b c"),
            ("p --data d search -b", "p --data d search -- -b"),
            ("p search -q a", "p search -q -- a"),
            ("p search --space=s a -- --b", "p search --space=s -- a --b"),
            ("p search --help", "p search --help"),
            ("p read search -x", "p read search -x"),
            ("p --log search list -x", "p --log search list -x"),
        ] {
            assert_eq!(reordered(given), wanted);
        }
    }

    #[test]
    fn options_are_shown_where_they_act() {
        let help = |name: &str| {
            let mut command = command();
            command.build();
            command.find_subcommand(name).unwrap().clone().render_long_help().to_string()
        };
        for (name, shown, hidden) in [
            (
                "serve",
                &["--data", "--log", "--quiet"][..],
                &["--admin <", "--admin-token-file"][..],
            ),
            ("search", &["--data", "--admin <", "--color"], &[]),
            ("completions", &[], &["--data", "--admin", "--log", "--json", "--color", "--quiet"]),
        ] {
            let help = help(name);
            for option in shown {
                assert!(help.contains(option), "{name} {option}: {help}");
            }
            for option in hidden {
                assert!(!help.contains(option), "{name} {option}: {help}");
            }
        }
        assert!(help("serve").contains("\nGlobal options:\n"), "{}", help("serve"));
    }
}
