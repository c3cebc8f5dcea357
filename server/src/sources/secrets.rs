//! Files that hold secrets: told by their names, or by what is in them.

use std::path::Path;
use std::sync::LazyLock;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use memchr::memmem;

/// Names of files that usually hold secrets, in the syntax of `.gitignore`; the case does not matter.
const RULES: &[&str] = &[
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "*.pem",
    "*.key",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.keytab",
    "*.kdb",
    "*.kdbx",
    "secring.gpg",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    ".dockercfg",
    ".git-credentials",
    ".vault-token",
    ".boto",
    ".s3cfg",
    "rclone.conf",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "credentials.tfrc.json",
    "client_secret.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yml",
    "secrets.yaml",
    "*.tfstate",
    "*.tfstate.*",
    "kubeconfig",
    "kubeconfig.y*ml",
    "*.kubeconfig",
    "**/.kube/config",
    "application_default_credentials.json",
    "**/gcloud/*credentials*",
    "**/gcloud/access_tokens.db",
    ".*_history",
    ".*_history-*.tmp",
    ".zhistory",
    ".histfile",
    "fish_history",
    "ConsoleHost_history.txt",
];

/// Settings files that hold secrets only when one of these keys has a value.
const SETTINGS: &[(&str, &[&str])] = &[
    (".npmrc", &["_authToken", "_auth", "_password"]),
    (".yarnrc", &["_authToken", "_auth", "_password"]),
    (".yarnrc.yml", &["npmAuthToken", "npmAuthIdent"]),
    (".pypirc", &["password"]),
    ("hosts.yml", &["oauth_token"]),
    ("hosts.yaml", &["oauth_token"]),
];

/// The same for settings files of an everyday name, when this stands in them as well.
const SETTINGS_WITH: &[(&str, &str, &[&str])] =
    &[("config.json", "\"auths\"", &["\"auth\"", "\"identitytoken\"", "\"registrytoken\""])];

/// Characters of base64 on one line that make it a key rather than an example with dots.
const KEY_LINE_CHARACTERS_MIN: usize = 40;

static RULE_SET: LazyLock<Gitignore> = LazyLock::new(|| {
    let mut builder = GitignoreBuilder::new("");
    // A test holds the set to one entry for each rule.
    let _ = builder.case_insensitive(true);
    for rule in RULES {
        let _ = builder.add_line(None, rule);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
});

/// The rule by which the file at `place` usually holds secrets. A few rules name the folder as well, so the place begins
/// above the root of the source.
pub(super) fn secret_rule(place: &str) -> Option<&'static str> {
    match RULE_SET.matched(Path::new(place), false) {
        ignore::Match::Ignore(rule) => Some(rule.original()),
        ignore::Match::Whitelist(_) | ignore::Match::None => None,
    }
}

/// Why these bytes, the content of the file `name`, are a secret.
pub(super) fn secret_content(name: &str, bytes: &[u8]) -> Option<&'static str> {
    if holds_private_key(bytes) {
        return Some("holds a private key");
    }
    let keys = SETTINGS.iter().find(|(file, _)| *file == name).map(|(_, keys)| *keys);
    let keys = keys.or_else(|| {
        let (_, _, keys) = SETTINGS_WITH.iter().find(|(file, with, _)| {
            *file == name && memmem::find(bytes, with.as_bytes()).is_some()
        })?;
        Some(*keys)
    })?;
    let sets_secret = bytes
        .split(|&byte| byte == b'\n')
        .any(|line| keys.iter().any(|key| sets(line, key.as_bytes())));
    sets_secret.then_some("holds a token or password")
}

/// Whether a line gives `key` a value of its own; one that names an environment variable is none.
fn sets(line: &[u8], key: &[u8]) -> bool {
    memmem::find_iter(line, key).any(|start| {
        let before = line.get(..start).unwrap_or_default();
        let rest = line.get(start + key.len()..).unwrap_or_default();
        let is_comment = before.iter().any(|byte| matches!(byte, b'#' | b';'));
        !is_comment && has_value(rest)
    })
}

/// Whether what follows a key is a value: after `=` or `:`, or, when the key is in quotes, after a space (`.yarnrc`).
fn has_value(rest: &[u8]) -> bool {
    let quoted = rest.strip_prefix(b"\"");
    let rest = quoted.unwrap_or(rest).trim_ascii_start();
    let value = match rest.split_first() {
        Some((b'=' | b':', value)) => value.trim_ascii(),
        Some((b'"', _)) if quoted.is_some() => rest,
        Some(_) | None => return false,
    };
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    !value.is_empty() && !matches!(value.first(), Some(b'$' | b'"' | b'{'))
}

/// Whether a private key stands in these bytes: in PEM (RFC 7468 section 10 and its older relatives), in the armour of
/// OpenPGP (RFC 9580 section 6.2), in PuTTY's form, or in base64 in a file for Kubernetes.
fn holds_private_key(bytes: &[u8]) -> bool {
    let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    content.starts_with(b"PuTTY-User-Key-File-")
        || holds_armoured_key(bytes, content.len())
        || memmem::find_iter(bytes, b"client-key-data:").any(|start| {
            let line = bytes.get(start..).unwrap_or_default();
            let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
            has_key_line(line)
        })
}

/// A file that begins with the armour is a key. Elsewhere, as in JSON or a handbook's page, the armour counts only when
/// a line of a real key's length follows: documentation that shows the shape of a key is served.
fn holds_armoured_key(bytes: &[u8], content_bytes: usize) -> bool {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const LABEL_ENDS: [&[u8]; 2] = [b"PRIVATE KEY-----", b"PRIVATE KEY BLOCK-----"];
    const LABEL_BYTES_MAX: usize = 40;
    /// Headers such as `Proc-Type:` or `Version:` may stand before the first line of the key.
    const HEADER_BYTES_MAX: usize = 512;
    memmem::find_iter(bytes, BEGIN).any(|start| {
        let rest = bytes.get(start..).unwrap_or_default();
        let label = rest.get(BEGIN.len()..).unwrap_or_default();
        let head = label.get(..label.len().min(LABEL_BYTES_MAX)).unwrap_or_default();
        let Some(end) =
            LABEL_ENDS.iter().find_map(|end| Some(memmem::find(head, end)? + end.len()))
        else {
            return false;
        };
        let body = label.get(end..).unwrap_or_default();
        let body = body.get(..body.len().min(HEADER_BYTES_MAX)).unwrap_or_default();
        let armour_end = memmem::find(body, b"-----").unwrap_or(body.len());
        rest.len() == content_bytes || has_key_line(body.get(..armour_end).unwrap_or_default())
    })
}

/// Whether a run of base64 is as long as a key's lines are. JSON writes line ends as `\n`: that leaves an `n` in front,
/// which does not matter to the length.
fn has_key_line(text: &[u8]) -> bool {
    text.split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')))
        .any(|run| run.len() >= KEY_LINE_CHARACTERS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_in_the_set() {
        assert_eq!(RULE_SET.num_ignores(), u64::try_from(RULES.len()).unwrap());
    }
}
