//! What a file was called before somebody kept a copy of it: `.env` for `.env~`, `.env.bak.2` and `Copy of .env`.

/// Endings that editors, packagers and people give to copies, behind a dot, a dash, an underscore or a space.
const SUFFIXES: &[&str] = &[
    // The longer ones first.
    "dpkg-old",
    "dpkg-dist",
    "dpkg-new",
    "dpkg-bak",
    "ucf-old",
    "ucf-dist",
    "rpmsave",
    "rpmorig",
    "rpmnew",
    "pacsave",
    "pacnew",
    "bak",
    "backup",
    "bck",
    "bkp",
    "bk",
    "old",
    "orig",
    "original",
    "save",
    "saved",
    "swp",
    "swo",
    "swn",
    "tmp",
    "temp",
    "copy",
    "kopie",
    "copie",
    "copia",
    "prev",
    "previous",
    "last",
    "rej",
    "disabled",
    "gz",
    "bz2",
    "xz",
    "zst",
    "zip",
];

/// The same in front.
const PREFIXES: &[&str] = &[
    "copy of ",
    "backup of ",
    "kopie von ",
    "old-",
    "old_",
    "backup-",
    "backup_",
    "bak-",
    "bak_",
    "copy-",
    "copy_",
];

/// Decorations on decorations; nobody keeps more.
const NAMES_MAX: usize = 24;

/// The name in lower case, and what is left of it without one decoration or several.
pub(super) fn plain_names(name: &str) -> Vec<String> {
    let mut names = vec![name.to_lowercase()];
    let mut at = 0;
    while let Some(name) = names.get(at).cloned() {
        for plain in undecorated(&name) {
            if names.len() < NAMES_MAX && !names.contains(&plain) {
                names.push(plain);
            }
        }
        at += 1;
    }
    names
}

/// The name without one decoration, which may stand before the extension: `secrets.old.yaml`, `secrets (1).yaml`.
fn undecorated(name: &str) -> Vec<String> {
    let mut found: Vec<String> = without_suffix(name).map(str::to_owned).into_iter().collect();
    if let Some((stem, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
        && let Some(plain) = without_suffix(stem)
    {
        found.push(format!("{plain}.{extension}"));
    }
    let without_prefix = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    let autosaved = name.strip_prefix('#').and_then(|name| name.strip_suffix('#'));
    found.extend(without_prefix.into_iter().chain(autosaved).map(str::to_owned));
    found.retain(|name| !name.trim_matches('.').is_empty());
    found
}

fn without_suffix(name: &str) -> Option<&str> {
    if let Some(plain) = name.strip_suffix(['~', '-']) {
        return Some(plain);
    }
    let in_brackets = name.strip_suffix(')').and_then(|name| name.rsplit_once('('));
    if let Some((plain, inner)) = in_brackets
        && (SUFFIXES.contains(&inner) || is_number_or_date(inner))
    {
        return Some(plain.trim_end());
    }
    for suffix in SUFFIXES {
        let Some(plain) = name.strip_suffix(suffix) else { continue };
        if let Some(plain) = plain.strip_suffix(" - ").or_else(|| plain.strip_suffix(is_separator))
        {
            return Some(plain);
        }
    }
    // A number, a date or a time of day, whose own separators may be those of names.
    let before = name.trim_end_matches(is_of_number);
    let tail = name.get(before.len()..)?;
    if is_number_or_date(tail)
        && let Some(plain) = before.strip_suffix(is_separator)
    {
        return Some(plain);
    }
    let (at, _) = tail.char_indices().find(|(_, c)| is_separator(*c))?;
    let number = tail.get(at..)?.trim_start_matches(is_separator);
    is_number_or_date(number).then(|| name.get(..before.len() + at)).flatten()
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | '-' | '_' | ' ')
}

fn is_number_or_date(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_of_number)
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | ':' | 't' | 'z')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decorations_are_seen_through() {
        for (name, plain) in [
            (".env~", ".env"),
            (".ENV", ".env"),
            (".env.bak", ".env"),
            (".env.bak.2", ".env"),
            (".env.1", ".env"),
            (".env-2024-01-31", ".env"),
            (".env.20240131T235959Z", ".env"),
            (".env_backup", ".env"),
            (".env copy", ".env"),
            (".env copy 2", ".env"),
            (".env (1)", ".env"),
            (".env - Copy", ".env"),
            ("Copy of .env", ".env"),
            ("#.env#", ".env"),
            ("credentials (1).json", "credentials.json"),
            ("credentials.old.json", "credentials.json"),
            ("credentials-2024.json.gz", "credentials.json"),
            ("old_credentials.json", "credentials.json"),
            (".npmrc.dpkg-old", ".npmrc"),
            ("id_rsa.tmp.orig~", "id_rsa"),
        ] {
            let names = plain_names(name);
            assert!(names.iter().any(|found| found == plain), "{name}: {names:?}");
        }
    }

    #[test]
    fn names_without_decorations_stay_as_they_are() {
        for name in [
            "a",
            ".env",
            "1.2.3",
            "2024-01-31.md",
            "readme.md",
            "~",
            ".bak",
            "id_rsa.pub",
            "über.txt",
        ] {
            let names = plain_names(name);
            assert!(names.iter().all(|found| !found.is_empty()), "{names:?}");
            assert_eq!(names[0], name.to_lowercase());
        }
        assert_eq!(plain_names("readme.md"), ["readme.md"]);
        assert_eq!(plain_names("id_rsa.pub"), ["id_rsa.pub"]);
        assert!(plain_names(&".bak".repeat(1_000)).len() <= NAMES_MAX);
    }
}
