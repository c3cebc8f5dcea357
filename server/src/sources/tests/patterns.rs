//! What a pattern that cannot be used says.

use expect_test::{Expect, expect};

use crate::sources::check_pattern;

fn check(pattern: &str, expect: &Expect) {
    let text = match check_pattern(pattern) {
        Ok(()) => "fine".to_owned(),
        Err(error) => error.to_string(),
    };
    expect.assert_eq(&text);
}

#[test]
fn patterns() {
    check("**/*.md", &expect!["fine"]);
    check("\\!important/", &expect!["fine"]);
    check(
        "",
        &expect![[r#"pattern "": is empty; write ** for every file"#]],
    );
    check(
        "!a",
        &expect![[
            r#"pattern "!a": begins with !; move it to the other list, or write \! for a name that begins so"#
        ]],
    );
    check(
        "# x",
        &expect![[r##"pattern "# x": begins with #; write \# for a name that begins so"##]],
    );
    check(
        "a[b",
        &expect![[
            r#"pattern "a[b": error parsing glob 'a[b': unclosed character class; missing ']'"#
        ]],
    );
    check(
        "{a",
        &expect![[
            r#"pattern "{a": error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"#
        ]],
    );
}
