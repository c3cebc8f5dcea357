//! Which files are served.

use std::ops::ControlFlow;

use expect_test::{Expect, expect};
use tempfile::TempDir;

use super::{put, refusals, scan_all, served, source, tree};
use crate::sources::{Entries, Remembered, Scanned, Scope};

const KEY: &str =
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY-----\n";
const KEY_LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";

pub(super) fn check(include: &[&str], exclude: &[&str], files: &[(&str, &str)], expect: &Expect) {
    let folder = tree(files);
    let mut source = source(folder.path());
    source.include = include.iter().map(|&pattern| pattern.to_owned()).collect();
    source.exclude = exclude.iter().map(|&pattern| pattern.to_owned()).collect();
    expect.assert_eq(&served(&source, files));
}

#[test]
fn files_that_editors_keep_while_a_document_is_open_are_left_out() {
    let files = [
        (".a.md.swp", ""),
        (".#a.md", ""),
        (".~lock.b.odt#", ""),
        ("~$c.docx", ""),
        (".goutputstream-X1Y2Z3", ""),
        ("a.md___jb_tmp___", ""),
        ("swp", ""),
        ("a.swp", ""),
        ("a.md~", ""),
    ];
    let folder = tree(&files);
    let mut source = source(folder.path());
    expect![[r#"
        a.md~
        a.swp
        swp"#]]
    .assert_eq(&served(&source, &files));
    source.include = vec![".*.swp".to_owned(), ".a.md.swp".to_owned()];
    expect![".a.md.swp"].assert_eq(&served(&source, &files));
}

#[test]
fn every_file_is_served_and_dot_files_are() {
    check(
        &[],
        &[],
        &[("a.md", ""), (".editorconfig", ""), (".github/ci.yml", ""), ("b/c/d", ""), ("e/", "")],
        &expect![[r#"
            .editorconfig
            .github/ci.yml
            a.md
            b/c/d"#]],
    );
}

#[test]
fn include_and_exclude_patterns() {
    let files = [
        ("a.md", ""),
        ("a.txt", ""),
        ("drafts/b.md", ""),
        ("x/drafts/c.md", ""),
        ("x/d.md", ""),
        ("y/z/e.txt", ""),
    ];
    check(
        &["**/*.md"],
        &["**/drafts/**"],
        &files,
        &expect![[r#"
        a.md
        x/d.md"#]],
    );
    check(
        &["x", "/a.txt"],
        &["c.md"],
        &files,
        &expect![[r#"
        a.txt
        x/d.md"#]],
    );
    check(
        &["y/*/e.txt", "{x/d,drafts/b}.md"],
        &[],
        &files,
        &expect![[r#"
        drafts/b.md
        x/d.md
        y/z/e.txt"#]],
    );
}

#[test]
fn version_control_and_dependencies_are_left_out() {
    check(
        &[],
        &[],
        &[
            (".git/config", ""),
            ("sub/.git", "gitdir: elsewhere"),
            (".hg/x", ""),
            (".svn/x", ""),
            (".jj/x", ""),
            ("CVS/Entries", ""),
            ("hr/CVS/applicant.md", ""),
            ("node_modules/x/readme.md", ""),
            ("src/__pycache__/x.py", ""),
            (".venv/x", ""),
            ("env/pyvenv.cfg", ""),
            ("env/lib/x.py", ""),
            ("rust/Cargo.toml", ""),
            ("rust/target/debug/x", ""),
            ("sales/target/2026.md", ""),
            ("go/go.mod", ""),
            ("go/vendor/x.go", ""),
            ("purchasing/vendor/list.md", ""),
        ],
        &expect![[r#"
            go/go.mod
            hr/CVS/applicant.md
            purchasing/vendor/list.md
            rust/Cargo.toml
            sales/target/2026.md"#]],
    );
}

#[test]
fn secrets_are_left_out_by_name() {
    check(
        &[],
        &[],
        &[
            (".env", ""),
            (".env.local", ""),
            ("prod.env", ""),
            ("ssh/id_rsa", ""),
            ("ssh/id_rsa.pub", ""),
            ("ssh/ID_ED25519", ""),
            ("tls/server.pem", ""),
            ("tls/Server.KEY", ""),
            (".netrc", ""),
            (".pgpass", ""),
            (".aws/credentials", ""),
            ("credentials.json", ""),
            ("credentials.md", ""),
            ("environment.md", ""),
        ],
        &expect![[r#"
            credentials.md
            environment.md
            ssh/id_rsa.pub"#]],
    );
}

#[test]
fn secrets_are_refused_by_content() {
    let folder = tree(&[
        ("key", KEY),
        ("bom", &format!("\u{feff}\n{KEY}")),
        ("account.json", &format!(r#"{{"k": "-----BEGIN PRIVATE KEY-----\n{KEY_LINE}\n"}}"#)),
        ("old.txt", &format!("x\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4\n\n{KEY_LINE}\n")),
        (
            "howto.md",
            "# Keys\n\n```\n-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n```\n",
        ),
        ("public.txt", "-----BEGIN PUBLIC KEY-----\nabc"),
        (".npmrc", "//registry.example/:_authToken=npm_abc\n"),
        ("a/.npmrc", "//registry.example/:_authToken=${NPM_TOKEN}\n# _auth=x\nfund=false\n"),
        (".pypirc", "[pypi]\nusername = a\npassword = b\n"),
        ("b/.pypirc", "[pypi]\nusername = a\n"),
    ]);
    expect![[r#"
        a/.npmrc
        b/.pypirc
        howto.md
        public.txt"#]]
    .assert_eq(&served(&source(folder.path()), &[]));
    let lines: Vec<String> = refusals(&source(folder.path()))
        .into_iter()
        .map(|(path, reason)| format!("{path}: {reason}"))
        .collect();
    expect![[r#"
        .npmrc: holds a token or password; include it by name to serve it
        .pypirc: holds a token or password; include it by name to serve it
        account.json: holds a private key; include it by name to serve it
        bom: holds a private key; include it by name to serve it
        key: holds a private key; include it by name to serve it
        old.txt: holds a private key; include it by name to serve it"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn only_a_pattern_that_spells_a_name_out_brings_it_in() {
    let files = [
        (".env", ""),
        (".env.local", ""),
        ("a.pem", ""),
        ("key", KEY),
        ("credentials.json", ""),
        ("node_modules/x/a.js", ""),
        ("node_modules/y/node_modules/x/a.js", ""),
        ("b.md", ""),
        (".gitignore", "build\nb.md\n"),
        ("build/out.md", ""),
        ("build/out.txt", ""),
    ];
    check(&["**"], &[], &files, &expect![".gitignore"]);
    check(
        &["*", ".env", "*.pem", "key"],
        &[],
        &files,
        &expect![[r#"
        .env
        .gitignore
        a.pem
        key"#]],
    );
    check(&["*.json", ".env*", "b.md"], &[], &files, &expect!["b.md"]);
    check(
        &["**", "node_modules/x/**", "build/*.md"],
        &[],
        &files,
        &expect![[r#"
        .gitignore
        build/out.md
        node_modules/x/a.js"#]],
    );
    check(
        &[".env", "build"],
        &[".env"],
        &files,
        &expect![[r#"
        build/out.md
        build/out.txt"#]],
    );
}

#[test]
fn what_is_left_out_is_counted_and_refusals_too() {
    let folder = tree(&[
        ("a.md", "12345"),
        (".git/x", ""),
        ("node_modules/a/b", ""),
        (".env", ""),
        ("k", KEY),
    ]);
    let (_, report) = scan_all(&source(folder.path()));
    expect![[r#"
        ScanReport {
            files: 1,
            bytes: 5,
            refused: 1,
            unreadable: 0,
            left_out: 3,
            root_empty: false,
        }
    "#]]
    .assert_debug_eq(&report);
}

#[test]
fn patterns_that_cannot_match_keep_the_walk_out() {
    // A folder that cannot be listed would be refused, if it were entered.
    let folder = TempDir::new().unwrap();
    put(folder.path(), "only/a.md", b"");
    put(folder.path(), "only/deep/b.md", b"");
    put(folder.path(), "else/c.md", b"");
    let mut source = source(folder.path());
    source.include = vec!["only/*.md".to_owned()];
    let (_, report) = scan_all(&source);
    assert_eq!(
        (report.files, report.left_out),
        (1, 2),
        "the folders `else` and `only/deep` or its file"
    );
}

#[test]
fn stores_are_never_served_whatever_a_pattern_says() {
    let files = [
        ("a.md", ""),
        ("data/LOCK", ""),
        ("data/store/CURRENT", ""),
        ("data/store/000004.log", ""),
        ("backup/CURRENT", ""),
        ("backup/IDENTITY", ""),
        ("backup/000009.sst", ""),
        ("own/store/x", ""),
        ("locks/LOCK", ""),
        ("locks/store/list.md", ""),
    ];
    let folder = tree(&files);
    let mut source = source(folder.path());
    source.data_dir = Some(folder.path().join("own/../own"));
    let wanted = expect![[r#"
        a.md
        locks/LOCK
        locks/store/list.md"#]];
    wanted.assert_eq(&served(&source, &files));
    source.include = vec!["**".to_owned(), "data/**".to_owned(), "own".to_owned()];
    wanted.assert_eq(&served(&source, &files));
    for root in ["data", "backup", "own", "own/store"] {
        source.root = folder.path().join(root);
        let error =
            source.scan(Scope::Whole, &Remembered::NOTHING, &mut |_| ControlFlow::Continue(()));
        let error = error.unwrap_err().to_string();
        assert!(error.ends_with("is a store of documents that are served, not a folder to serve"));
    }
}

#[test]
fn secrets_of_tools_are_left_out() {
    let docker = r#"{"auths":{"registry.example":{"auth":"dXNlcjpwYXNzd29yZA=="}}}"#;
    let account = format!(
        "{{\n  \"type\": \"service_account\",\n  \"private_key_id\": \"0123\",\n  \"private_key\": \
         \"-----BEGIN PRIVATE KEY-----\\n{KEY_LINE}\\nabc=\\n-----END PRIVATE KEY-----\\n\"\n}}\n"
    );
    let pgp = format!(
        "Backup:\n-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{KEY_LINE}\n"
    );
    let kube = format!("users:\n- name: a\n  user:\n    client-key-data: {KEY_LINE}\n");
    check(
        &[],
        &[],
        &[
            (".kube/config", "apiVersion: v1\nkind: Config\nusers: [{user: {token: abc}}]\n"),
            ("deploy/cluster.yaml", &kube),
            ("deploy/example.yaml", "client-key-data: <base64 of the key>\n"),
            (".docker/config.json", docker),
            ("helpers/config.json", r#"{"auths": {"registry.example": {}}, "credsStore": "pass"}"#),
            ("app/config.json", r#"{"auth": "oidc"}"#),
            ("my-project-0123.json", &account),
            ("terraform.tfstate", "{}"),
            ("terraform.tfstate.backup", "{}"),
            ("prod.tfstate", "{}"),
            ("terraform.md", "terraform.tfstate"),
            (".config/gcloud/credentials.db", ""),
            (".config/gcloud/application_default_credentials.json", "{}"),
            (".config/gcloud/legacy_credentials/me/adc.json", "{}"),
            (".vault-token", "s.abc"),
            (".gnupg/private-keys-v1.d/0123.key.txt", "(private-key)"),
            (".gnupg/pubring.kbx", ""),
            ("pgp.txt", &pgp),
            ("putty.txt", "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\n"),
            ("putty.md", "A key begins with `PuTTY-User-Key-File-2: ssh-rsa`.\n"),
            (".yarnrc", "\"//registry.example/:_authToken\" \"npm_abc\"\n"),
            ("a/.yarnrc", "registry \"https://registry.example\"\n# _authToken \"x\"\n"),
            (".bash_history", ""),
            (".zsh_history", ""),
            (".python_history", ""),
            (".local/share/fish/fish_history", ""),
            ("history.md", ""),
            (".config/gh/hosts.yml", "github.example:\n    oauth_token: gho_abc\n"),
            ("ansible/hosts.yml", "all:\n  hosts:\n    web1:\n"),
            ("secrets.yaml", "a: b"),
            ("config/secrets.yml", "a: b"),
            ("secrets.md", "How to keep them"),
        ],
        &expect![[r#"
            a/.yarnrc
            ansible/hosts.yml
            app/config.json
            deploy/example.yaml
            helpers/config.json
            history.md
            putty.md
            secrets.md
            terraform.md"#]],
    );
}

#[test]
fn a_rule_with_a_folder_holds_when_that_folder_is_the_root() {
    let folder = tree(&[(".kube/config", "kind: Config\n"), (".kube/notes.md", "")]);
    std::os::unix::fs::symlink(".kube", folder.path().join("cluster")).unwrap();
    let mut source = source(&folder.path().join("cluster"));
    assert_eq!(served(&source, &[("config", "")]), "notes.md");
    source.include = vec!["config".to_owned()];
    assert_eq!(served(&source, &[("config", "")]), "config");
}

/// What was refused for its content is not read again while it looks the same, unless something happened to it.
#[test]
fn a_refused_file_is_read_again_when_it_looks_different() {
    let folder = tree(&[("id", KEY), ("note", "text")]);
    let source = source(folder.path());
    let refused = |scope: Scope<'_>, known: Option<&[u8]>| {
        let mut found = Vec::new();
        let say = |_: &str, looks: &[u8]| (known? == looks).then(|| "as before".to_owned());
        let remembered = Remembered { refused: &say, ..Remembered::NOTHING };
        let scanned = source.scan(scope, &remembered, &mut |scanned| {
            if let Scanned::Refused { path, fingerprint, reason } = scanned {
                found.push((path, fingerprint, reason));
            }
            ControlFlow::Continue(())
        });
        assert_eq!(scanned.unwrap().refused, 1);
        found.remove(0)
    };
    let (path, looks, reason) = refused(Scope::Whole, None);
    assert_eq!((path.as_str(), reason.contains("private key")), ("id", true), "{reason}");
    let looks = looks.unwrap();
    assert_eq!(refused(Scope::Whole, Some(&looks)).2, "as before");
    assert_ne!(refused(Scope::Whole, Some(b"another")).2, "as before");
    let entries = Entries::from([("".into(), ["id".into()].into())]);
    assert_ne!(refused(Scope::Entries(&entries), Some(&looks)).2, "as before");
}
