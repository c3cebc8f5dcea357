//! Texts and their tokens, in a short notation: `position:text`, with the kind's sign.

use proptest::prelude::*;

use super::*;

fn tokens(text: &str, language: Option<&str>) -> String {
    let mut said = Vec::new();
    analyse(text, language.and_then(Language::of_tag), &mut |token| {
        let sign = match token.kind {
            TokenKind::Word | TokenKind::Gram => "",
            TokenKind::Whole => "+",
            TokenKind::Part => ".",
            TokenKind::Stem => "~",
        };
        said.push(format!("{}:{sign}{}", token.position, token.text.trim_start_matches(STEM_MARK)));
    });
    said.join(" ")
}

fn check(text: &str, wanted: &str) {
    assert_eq!(tokens(text, None), wanted, "{text:?}");
}

#[test]
fn words_and_what_is_inside_them() {
    for (text, wanted) in [
        ("", ""),
        ("Hello, World!", "0:hello 1:world"),
        ("camelCase bar", "0:camelcase 0:.camel 1:.case 1:bar"),
        ("fooBarBaz baz", "0:foobarbaz 0:.foo 1:.bar 1:baz 2:.baz"),
        ("HTTPServer", "0:httpserver 0:.http 1:.server"),
        ("E0308", "0:e0308 0:.e 1:.0308"),
        ("snake_case x", "0:+snakecase 0:snake 1:case 2:x"),
        ("usb-c", "0:+usbc 0:usb 1:c"),
        ("state-of-the-art", "0:+stateoftheart 0:state 1:of 2:the 3:art"),
        ("don't", "0:dont 0:.don 1:.t"),
        ("l\u{2019}homme est", "0:+lhomme 0:l 1:homme 2:est"),
        ("O'Brien's", "0:+obriens 0:o 1:briens 1:.brien 2:.s"),
        ("3.14 1,000,000 2024-01-15", "0:3 1:14 2:+1000000 2:1 3:000 4:000 5:2024 6:01 7:15"),
        ("U.S.A. e.g. main.rs", "0:+usa 0:u 1:s 2:a 3:+eg 3:e 4:g 5:main 6:rs"),
        (
            "C++, C# F# .NET ASP.NET c++17",
            "0:c 0:+c++ 1:c 1:+c# 2:f 2:+f# 3:net 3:+.net 4:asp 5:net 6:c 6:+c++ 7:17",
        ),
        ("a.b(c).d() x#y ###", "0:+ab 0:a 1:b 2:c 3:d 4:x 5:y"),
        ("https://me@website.org/a?b=c", "0:https 1:me 2:website 3:org 4:a 5:b 6:c"),
        ("550e8400-e29b", "0:+550e8400e29b 0:550e8400 0:.550 1:.e 1:e29b 1:.e 2:.8400 2:.29 3:.b"),
        ("__init__ foo--bar", "0:init 1:foo 2:bar"),
        ("😀 👨\u{200d}👩 🇩🇪 ❤\u{fe0f} 👍🏽 €5", "0:😀 1:👨 2:👩 3:🇩🇪 4:❤ 5:👍 6:€ 7:5"),
        ("so\u{ad}ft Café CAFE\u{301} naïve", "0:soft 1:cafe 2:cafe 3:naive"),
        ("हिन्दी भाषा", "0:हिनदी 1:भाषा"),
        ("محمـــد", "0:محمد"),
        ("צה״ל", "0:צהל 0:.צה 1:.ל"),
    ] {
        check(text, wanted);
    }
}

#[test]
fn scripts_without_spaces_are_pairs() {
    for (text, wanted) in [
        ("認證系", "0:認 0:認證 1:證 1:證系 2:系"),
        ("使用JWT令牌", "0:使 0:使用 1:用 2:jwt 3:令 3:令牌 4:牌"),
        ("ｶﾞﾗ", "0:ガ 0:ガラ 1:ラ"),
        ("한국", "0:한 0:한국 1:국"),
        ("ที่นี่", "0:ท 0:ที 1:ี 1:ีน 2:น 2:นี 3:ี"),
        ("一、二", "0:一 1:二"),
        ("第3章", "0:第 1:3 2:章"),
    ] {
        check(text, wanted);
    }
}

#[test]
fn stems_stand_at_their_words() {
    let english = tokens("Parsers parsing getUsers dog's don't utf8", Some("en"));
    assert_eq!(
        english,
        "0:parsers 0:~parser 1:parsing 1:~pars 2:getusers 2:.get 3:.users 3:~user 3:dogs 3:~dog 3:.dog 4:.s 4:dont 4:.don \
         5:.t 5:utf8 5:.utf 6:.8"
    );
    assert_eq!(tokens("Häuser", Some("de")), "0:hauser 0:~haus");
    assert_eq!(tokens("книгами", Some("ru")), "0:книгами 0:~книг");
}

#[test]
fn long_words_are_cut_alike() {
    let long = "x".repeat(1_000_000);
    check(&long, &format!("0:{}", "x".repeat(TOKEN_BYTES_MAX)));
    let long = "é".repeat(1_000);
    check(&long, &format!("0:{}", "e".repeat(TOKEN_BYTES_MAX)));
}

#[test]
fn numbers_that_are_folded_to_ideographs_are_parted_as_these() {
    for text in ["㆒Σ", "㊀Σ", "一Σ"] {
        check(text, "0:一 1:σ");
    }
}

#[test]
fn what_any_character_is_folded_to_is_parted_as_it_was() {
    let mut wrong = Vec::new();
    for character in ('\u{80}'..=char::MAX).filter(|character| character.is_alphanumeric()) {
        // Beside a letter, and before a mark that is kept.
        for text in
            [format!("{character}Σ"), format!("Σ{character}"), format!("{character}\u{d81}")]
        {
            let mut words = Vec::new();
            analyse(&text, None, &mut |token| {
                if token.kind == TokenKind::Word {
                    words.push(token.text.to_owned());
                }
            });
            for word in words {
                let again = tokens(&word, None);
                if !again
                    .split(' ')
                    .any(|token| token.split_once(':').is_some_and(|(_, text)| text == word))
                {
                    wrong.push(format!(
                        "{character} {:x}: {word:?} becomes {again:?}",
                        u32::from(character)
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} {:#?}", wrong.len(), wrong.get(..wrong.len().min(40)));
}

#[test]
fn whole_titles_are_compared_folded() {
    for (text, wanted) in [
        ("The  Rust—Book!", "the rust book"),
        ("serde_json", "serde json"),
        ("認證 系統", "認證系統"),
        ("C++", "c++"),
        ("The C# guide", "the c# guide"),
        ("...", ""),
    ] {
        assert_eq!(fold_whole(text), wanted, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn tokens_are_in_order_in_bounds_and_folded(
        text in "([a-zA-Z0-9_.'-]{0,9}|[\\PC\u{0}\\s]{0,6}|[一-七か-ごｦ-ﾟ가-갛ก-๛क-ॿ]{0,6}|\u{301}|\u{3099}|\u{200d}){0,30}",
        number in 0..=Language::COUNT,
    ) {
        let mut before = 0;
        let mut faults = Vec::new();
        let mut words = Vec::new();
        analyse(&text, Language::of_number(number), &mut |token| {
            let bare = token.text.trim_start_matches(STEM_MARK);
            let sound = !bare.is_empty()
                && bare.len() <= TOKEN_BYTES_MAX
                && (token.kind == TokenKind::Stem) == token.text.starts_with(STEM_MARK)
                && token.position >= before
                && token.start < token.end
                && text.get(token.start..token.end).is_some();
            if !sound {
                faults.push(format!("{token:?}"));
            }
            before = token.position;
            if token.kind == TokenKind::Word {
                words.push(token.text.to_owned());
            }
        });
        prop_assert!(faults.is_empty(), "{faults:?} in {text:?}");
        for word in words {
            let again = tokens(&word, None);
            let mut kept = again.split(' ').map(|token| token.split_once(':').map_or("", |(_, text)| text));
            prop_assert!(kept.any(|token| token == word), "{word:?} becomes {again:?}");
        }
    }
}
