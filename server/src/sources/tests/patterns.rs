//! What a pattern that cannot be used says.

use expect_test::expect;

use crate::sources::check_pattern;

#[test]
fn patterns_that_cannot_be_used_say_why() {
    let patterns = ["**/*.md", "\\!important/", "", "!a", "# x", "a[b", "{a"];
    let answers: Vec<String> = patterns
        .iter()
        .map(|pattern| match check_pattern(pattern) {
            Ok(()) => format!("pattern {pattern:?}: fine"),
            Err(error) => error.to_string(),
        })
        .collect();
    expect![[r##"
        pattern "**/*.md": fine
        pattern "\\!important/": fine
        pattern "": is empty; write ** for every file
        pattern "!a": begins with !; move it to the other list, or write \! for a name that begins so
        pattern "# x": begins with #; write \# for a name that begins so
        pattern "a[b": error parsing glob 'a[b': unclosed character class; missing ']'
        pattern "{a": error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"##]].assert_eq(&answers.join("\n"));
}
