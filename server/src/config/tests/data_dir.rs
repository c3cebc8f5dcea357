//! The default data directory.

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};

use crate::config::{DataDirEnvironment, DataDirSeed, default_data_dir};

fn environment() -> DataDirEnvironment {
    DataDirEnvironment {
        xdg_data_home: None,
        home: Some(PathBuf::from("/home/reader")),
        current_dir: PathBuf::from("/srv"),
    }
}

fn data_dir(
    environment: &DataDirEnvironment,
    config_file: Option<&str>,
    paths: &[&str],
) -> PathBuf {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    default_data_dir(&DataDirSeed {
        environment,
        config_file: config_file.map(Path::new),
        paths: &paths,
    })
    .unwrap()
}

fn check(config_file: Option<&str>, paths: &[&str], expect: &Expect) {
    expect.assert_eq(data_dir(&environment(), config_file, paths).to_str().unwrap());
}

#[test]
fn names_are_readable_and_distinct() {
    check(
        Some("docs/pressmark.toml"),
        &[],
        &expect!["/home/reader/.local/share/pressmark/docs-06729af3970d"],
    );
    check(
        None,
        &["Engineering Handbook"],
        &expect!["/home/reader/.local/share/pressmark/engineering-handbook-9bd1654e2f55"],
    );
    check(
        None,
        &["Engineering Handbook", "/srv/notes"],
        &expect!["/home/reader/.local/share/pressmark/engineering-handbook-dd8c688f487b"],
    );
    check(None, &["手册"], &expect!["/home/reader/.local/share/pressmark/docs-9261bd8587a5"]);
    check(None, &["/"], &expect!["/home/reader/.local/share/pressmark/docs-47a97636143e"]);
    check(None, &[], &expect!["/home/reader/.local/share/pressmark/default-d86f7890d9ea"]);
}

#[test]
fn the_same_paths_give_the_same_folder() {
    let here = environment();
    let there = DataDirEnvironment { current_dir: PathBuf::from("/srv/x"), ..environment() };
    assert_eq!(data_dir(&here, None, &["notes"]), data_dir(&there, None, &["./../notes/"]));
    assert_eq!(data_dir(&here, Some("p.toml"), &[]), data_dir(&there, Some("/srv/p.toml"), &["x"]));
    assert_ne!(data_dir(&here, None, &["a"]), data_dir(&here, None, &["b/a"]));
    assert_ne!(data_dir(&here, None, &["a"]), data_dir(&here, Some("a"), &[]));
    let hash_of = |paths: &[&str]| {
        let folder = data_dir(&here, None, paths);
        folder.to_str().unwrap().rsplit('-').next().unwrap().to_owned()
    };
    assert_eq!(hash_of(&["a", "b", "a"]), hash_of(&["b", "a"]));
}

#[test]
fn the_environment_says_where() {
    let xdg = DataDirEnvironment { xdg_data_home: Some("/data".into()), ..environment() };
    assert!(data_dir(&xdg, None, &["a"]).starts_with("/data/pressmark"));
    let relative = DataDirEnvironment { xdg_data_home: Some("data".into()), ..environment() };
    assert!(data_dir(&relative, None, &["a"]).starts_with("/home/reader/.local/share/pressmark"));
    let homeless = DataDirEnvironment { home: None, ..environment() };
    let seed = DataDirSeed { environment: &homeless, config_file: None, paths: &["a".into()] };
    assert_eq!(default_data_dir(&seed), None);
}
