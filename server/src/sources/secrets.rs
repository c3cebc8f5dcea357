//! Files that hold secrets: told by their names, or by what is in them.

use std::path::Path;
use std::sync::LazyLock;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use memchr::memmem;

use super::backup_name::plain_names;

/// Names of files that usually hold secrets, in the syntax of `.gitignore`. Case does not matter, and copies of such a file
/// count as well (see [`plain_names`]).
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
    "*.pkcs12",
    "*.agekey",
    "*.ovpn",
    "*.kirbi",
    "krb5cc_*",
    "*.keyring",
    "*.keychain",
    "*.keychain-db",
    "**/share/keyrings/*",
    "*.kwl",
    "key3.db",
    "key4.db",
    "logins.json",
    "signons.sqlite",
    "cookies.sqlite",
    "wallet.dat",
    "**/.ssh/*",
    "**/.aws/*",
    "**/.aws/sso/cache/*",
    "**/.aws/cli/cache/*",
    "**/.azure/**",
    "**/.oci/config",
    "**/.databrickscfg",
    "**/.snowsql/config",
    "**/.config/op/**",
    "**/.config/sops/age/*",
    "**/.config/doctl/config.yaml",
    "**/huggingface/token",
    "**/wireguard/*.conf",
    "**/.vnc/passwd",
    "**/.subversion/auth/**",
    "**/etc/shadow",
    "**/etc/gshadow",
    "**/etc/master.passwd",
    "kaggle.json",
    "*.tfvars",
    "*.tfvars.json",
    ".authinfo",
    ".authinfo.gpg",
    ".netrc.gpg",
    ".pg_service.conf",
    ".msmtprc",
    ".fetchmailrc",
    ".passwd-s3fs",
    ".htdigest",
    ".vault_pass*",
    ".vault-pass*",
    ".ansible_vault*",
    ".dev.vars",
    ".dev.vars.*",
    ".flaskenv",
    ".secret",
    ".secrets",
    ".secrets.*",
    ".sentryclirc",
    ".dockerconfigjson",
    ".ftpconfig",
    "sftp-config.json",
    "sitemanager.xml",
    "recentservers.xml",
    "wp-config.php",
    "client_secret_*.json",
    "client_secrets.json",
    "service_account*.json",
    "service-account*.json",
    "*-adminsdk-*.json",
    "local.settings.json",
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
    (".terraformrc", &["token"]),
    ("terraform.rc", &["token"]),
    (".wgetrc", &["password"]),
    (".curlrc", &["user", "proxy-user", "oauth2-bearer"]),
    (".gitconfig", &["token", "password"]),
    ("ngrok.yml", &["authtoken"]),
    ("token.json", &["\"refresh_token\"", "\"access_token\""]),
    (
        "auth.json",
        &[
            "\"password\"",
            "\"refresh_token\"",
            "\"access_token\"",
            "\"github.com\"",
            "\"OPENAI_API_KEY\"",
        ],
    ),
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

/// The rule by which the file at `place`, or the file that it is a copy of, usually holds secrets. A few rules name the
/// folder as well, so the place begins above the root of the source.
pub(super) fn secret_rule(place: &str) -> Option<&'static str> {
    let (folder, name) = place.rsplit_once('/').unwrap_or(("", place));
    plain_names(name).iter().find_map(|name| {
        match RULE_SET.matched(Path::new(folder).join(name), false) {
            ignore::Match::Ignore(rule) => {
                RULES.iter().find(|known| **known == rule.original()).copied()
            }
            ignore::Match::Whitelist(_) | ignore::Match::None => None,
        }
    })
}

/// Why these bytes, the content of the file `name`, are a secret.
pub(super) fn secret_content(name: &str, bytes: &[u8]) -> Option<&'static str> {
    if holds_private_key(bytes) {
        return Some("holds a private key");
    }
    let names = plain_names(name);
    if is_kubeconfig(&names, bytes) {
        return Some("is a kubeconfig with credentials");
    }
    let is = |file: &str| names.iter().any(|name| name == file);
    let keys = SETTINGS.iter().find(|(file, _)| is(file)).map(|(_, keys)| *keys);
    let keys = keys.or_else(|| {
        let (_, _, keys) = SETTINGS_WITH
            .iter()
            .find(|(file, with, _)| is(file) && memmem::find(bytes, with.as_bytes()).is_some())?;
        Some(*keys)
    })?;
    sets_any(bytes, keys).then_some("holds a token or password")
}

fn sets_any(bytes: &[u8], keys: &[&str]) -> bool {
    bytes.split(|&byte| byte == b'\n').any(|line| keys.iter().any(|key| sets(line, key.as_bytes())))
}

/// Whether the file, whatever its name, is what `kubectl` takes as its configuration, with something that logs in. Pages
/// that show one are documentation.
fn is_kubeconfig(names: &[String], bytes: &[u8]) -> bool {
    const PAGES: [&str; 6] = [".md", ".markdown", ".rst", ".adoc", ".html", ".htm"];
    const KEYS: [&str; 5] = ["token", "password", "client-key-data", "id-token", "refresh-token"];
    let is_page = names.iter().any(|name| PAGES.iter().any(|page| name.ends_with(page)));
    let lines = || bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let has = |yaml: &str, json: &str| {
        lines().any(|line| line.starts_with(yaml.as_bytes()))
            || memmem::find(bytes, json.as_bytes()).is_some()
    };
    let is_config =
        lines().any(|line| line == b"kind: Config") || memmem::find(bytes, b"\"Config\"").is_some();
    !is_page
        && is_config
        && has("clusters:", "\"clusters\"")
        && has("users:", "\"users\"")
        && has("contexts:", "\"contexts\"")
        && KEYS
            .iter()
            .any(|key| sets_any(bytes, &[key]) || sets_any(bytes, &[&format!("\"{key}\"")]))
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
    !value.is_empty() && !matches!(value.first(), Some(b'$' | b'"' | b'{' | b'<'))
}

/// Whether a private key stands in these bytes: in PEM (RFC 7468 section 10 and its older relatives), in the armour of
/// OpenPGP (RFC 9580 section 6.2), in PuTTY's form, or in base64 in a file for Kubernetes.
fn holds_private_key(bytes: &[u8]) -> bool {
    let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    content.starts_with(b"PuTTY-User-Key-File-")
        || memmem::find_iter(bytes, b"AGE-SECRET-KEY-1").any(|start| {
            let line = bytes.get(start..).unwrap_or_default();
            let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
            line.split(|byte| *byte == b'-').any(has_key_line)
        })
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
