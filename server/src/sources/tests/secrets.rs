//! Files that usually hold secrets are not served, whatever copy of them it is; their neighbours are.

use super::{put, records, served, source};

/// Left out by their names.
const SECRETS: &[&str] = &[
    ".env",
    ".ENV",
    ".env~",
    ".env.bak",
    ".env.old",
    ".env.orig",
    ".env.save",
    ".env.swp",
    ".env.1",
    ".env.copy",
    ".env.tmp",
    ".env.2024-01-31",
    ".env_backup",
    ".env-old",
    ".env copy",
    ".env (1)",
    "Copy of .env",
    "#.env#",
    ".env.example",
    "prod.env",
    "prod.env~",
    "Prod.ENV.bak",
    ".envrc",
    ".envrc.bak",
    ".flaskenv",
    ".dev.vars",
    "id_rsa",
    "id_rsa.bak",
    "id_rsa.old",
    "ID_RSA",
    "id_ed25519~",
    "id_ed25519.20240131",
    "id_ecdsa.orig",
    "server.pem",
    "server.pem.bak",
    "Server.PEM",
    "server.key~",
    "server.key.old",
    "a.p12.bak",
    "a.pfx.1",
    "a.jks.save",
    ".netrc",
    ".netrc.bak",
    ".NETRC",
    "_netrc.old",
    ".pgpass~",
    ".pgpass.bak",
    ".my.cnf.bak",
    ".mylogin.cnf~",
    ".htpasswd.bak",
    ".HTPASSWD",
    ".git-credentials.bak",
    ".vault-token~",
    ".boto.old",
    ".s3cfg.bak",
    "rclone.conf.bak",
    ".dockercfg~",
    "credentials",
    "CREDENTIALS",
    "credentials.bak",
    "credentials.json",
    "credentials.json.bak",
    "Credentials.JSON",
    "credentials (1).json",
    "credentials-backup.json",
    "credentials.old.json",
    "old_credentials.json",
    "credentials.toml~",
    "credentials.yml.orig",
    "secrets.yaml.bak",
    "secrets.yml~",
    "secrets.old.yaml",
    "secrets.json.1",
    "Secrets.toml",
    "client_secret.json.bak",
    "client_secret_123.json",
    "client_secrets.json",
    "service-account.json",
    "service_account_prod.json",
    "project-firebase-adminsdk-x1.json",
    "application_default_credentials.json.bak",
    "kaggle.json",
    "terraform.tfvars",
    "terraform.tfvars.bak",
    "prod.auto.tfvars",
    "terraform.tfvars.json",
    "terraform.tfstate.backup",
    "terraform.tfstate.bak~",
    "prod.tfstate.1",
    "kubeconfig",
    "kubeconfig.bak",
    "KUBECONFIG",
    "kubeconfig.yaml.old",
    "a.kubeconfig~",
    ".kube/config",
    ".kube/config.bak",
    ".kube/Config",
    ".kube/config.2024-01-31",
    ".ssh/config",
    ".ssh/config~",
    ".ssh/known_hosts",
    ".ssh/authorized_keys",
    ".ssh/work",
    ".ssh/work.pub.bak",
    ".aws/credentials",
    ".aws/credentials.bak",
    ".aws/config",
    ".aws/config~",
    ".aws/sso/cache/0123.json",
    ".azure/accessTokens.json",
    ".azure/azureProfile.json",
    ".azure/msal_token_cache.json",
    ".azure/a/b.bin",
    ".azure/config~",
    ".config/gcloud/credentials.db.bak",
    ".config/gcloud/access_tokens.db~",
    "login.keyring",
    "login.keyring.bak",
    "a/share/keyrings/user.keystore",
    "login.keychain",
    "login.keychain-db",
    "kdewallet.kwl",
    "secring.gpg.bak",
    "passwords.kdbx.old",
    "key4.db",
    "logins.json",
    "wallet.dat.bak",
    ".authinfo",
    ".authinfo.gpg",
    ".pg_service.conf",
    ".msmtprc",
    ".fetchmailrc~",
    ".vault_pass",
    ".vault_pass.txt",
    ".secrets",
    ".sentryclirc",
    "sftp-config.json",
    "sitemanager.xml",
    "wp-config.php",
    "wp-config.php.bak",
    "vpn.ovpn",
    "etc/wireguard/wg0.conf",
    "etc/shadow",
    "etc/shadow-",
    ".bash_history",
    ".bash_history.bak",
    ".zsh_history~",
    "fish_history.old",
    "local.settings.json",
];

/// Served, although their names come near.
const INNOCENT: &[&str] = &[
    "environment.md",
    "environment.yml",
    "env.md",
    "dotenv.md",
    "credentials.md",
    "credentials.md.bak",
    "secrets.md",
    "secret-santa.md",
    "passwords.md",
    "tokens.md",
    "keys.md",
    "keyboard.md",
    "monkey.txt",
    "history.md",
    "history.2024",
    "kubeconfig.md",
    "config",
    "config.yaml",
    "config.bak",
    "hosts.yml",
    "main.tf",
    "variables.tf",
    "terraform.md",
    "wallet.md",
    "vault.md",
    "keyring.md",
    "ssh/config.md",
    "ssh/README.md",
    "azure/overview.md",
    "aws/config",
    "aws/notes.md",
    "keyrings/index.md",
    "id_rsa.pub",
    "id_rsa.pub~",
    "notes.md~",
    "notes.md.bak",
    "report.old",
    "report (1).docx",
    "Copy of report.md",
    "changes.1",
    "shadow.5",
    "netrc.5",
    "release-2024-01-31.md",
    "1.2.3",
    "token.json",
    "auth.json",
    ".npmrc",
    ".gitconfig",
    ".curlrc",
    "logins.md",
    "client_secret.md",
    ".kube/notes.md",
    "settings.json",
    "package.json",
    "deploy/values.yaml",
    ".editorconfig",
    "tfvars.md",
    "~",
    "bak",
    ".bak",
];

#[test]
fn copies_of_secrets_are_left_out_whatever_they_are_called() {
    assert!(SECRETS.len() >= 113, "{}", SECRETS.len());
    let folder = tempfile::TempDir::new().unwrap();
    for path in SECRETS.iter().chain(INNOCENT) {
        put(folder.path(), path, b"nothing to see");
    }
    let served = records(&source(folder.path()));
    let served: Vec<&String> = served.keys().collect();
    let wanted: std::collections::BTreeSet<_> =
        INNOCENT.iter().map(|path| super::super::uri_path::escape_path(path)).collect();
    assert_eq!(served, wanted.iter().collect::<Vec<_>>());
}

#[test]
fn the_name_of_a_copy_brings_it_in() {
    let folder = tempfile::TempDir::new().unwrap();
    for path in [".env", ".env~", "a.pem.bak"] {
        put(folder.path(), path, b"");
    }
    let mut source = source(folder.path());
    source.include = vec!["**".to_owned(), ".env~".to_owned()];
    assert_eq!(served(&source, &[]), ".env~");
}

#[test]
fn settings_are_judged_by_content_whatever_copy_it_is() {
    const KUBE: &str = "apiVersion: v1\nkind: Config\nclusters:\n- name: a\ncontexts: []\nusers:\n- name: a\n  user:\n    token: abc\n";
    const NPM: &str = "//registry.example/:_authToken=npm_abc\n";
    let check = |name: &str, content: &str, wanted: &str| {
        let folder = tempfile::TempDir::new().unwrap();
        put(folder.path(), name, content.as_bytes());
        let refused = super::refusals(&source(folder.path()));
        let reason = refused.values().next().map_or("served", String::as_str);
        assert!(reason.starts_with(wanted), "{name}: {reason}");
    };
    for name in [".npmrc", ".NPMRC", ".npmrc.bak", ".npmrc~", ".npmrc.1", ".Npmrc.old"] {
        check(name, NPM, "holds a token or password");
        check(name, "fund=false\n", "served");
    }
    check(".pypirc.bak", "[pypi]\npassword = b\n", "holds a token or password");
    check(".yarnrc.yml~", "npmAuthToken: abc\n", "holds a token or password");
    check("config.json.bak", r#"{"auths":{"r":{"auth":"dXNlcg=="}}}"#, "holds a token or password");
    check("token.json", r#"{"refresh_token": "1//0abc"}"#, "holds a token or password");
    check(
        ".terraformrc",
        "credentials \"app.example\" {\n  token = \"abc\"\n}\n",
        "holds a token or password",
    );
    for name in ["cluster.yaml", "admin.conf", "staging", "prod.yaml.bak"] {
        check(name, KUBE, "is a kubeconfig with credentials");
        check(name, &KUBE.replace("abc", "<token>"), "served");
        check(name, &KUBE.replace("kind: Config", "kind: ConfigMap"), "served");
    }
    check(
        "kube.json",
        r#"{"kind": "Config", "clusters": [], "contexts": [], "users": [{"user": {"token": "abc"}}]}"#,
        "is a kubeconfig",
    );
    check("howto.md", KUBE, "served");
    check(
        "keys.txt",
        &format!("# public key: age1x\nAGE-SECRET-KEY-1{}\n", "Q".repeat(58)),
        "holds a private key",
    );
    check("age.md", "A key begins with `AGE-SECRET-KEY-1`.\n", "served");
}
