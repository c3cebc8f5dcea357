//! Nine ways in which folders change, each some times over: the store holds what the disk holds, and every change stands
//! in the change log once.
//!
//! `PRESSMARK_FOLDER_RUNS` says how often (3 by default). The longest times are printed, not judged. What belongs together is
//! taken together when it comes within [`QUIET`]; a run that a busy machine held up for longer may show what was between.

use std::fs::{self, File, FileTimes};
use std::time::{Duration, Instant, SystemTime};

use super::library::Library;

const RUNS_DEFAULT: usize = 3;
/// Changes are acted on when this long none has come (see `watch::inbox`).
const QUIET: Duration = Duration::from_millis(100);
/// Touches of the script that floods the queue, over as many files as stand here.
const TOUCHES: usize = 50_000;
const TOUCHED_FILES: usize = 1_000;

fn run_count() -> usize {
    std::env::var("PRESSMARK_FOLDER_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(RUNS_DEFAULT)
}

/// Whether the steps of a script may be seen one by one.
#[derive(PartialEq)]
enum Pace {
    /// Not if they come in one go.
    InOneGo,
    /// Each is whole by itself, however long the script takes.
    AnyTime,
}

/// Runs a script, which says what the change log must hold.
fn check(name: &str, files: &[&str], script: impl Fn(&Library, usize) -> (Vec<String>, Pace)) {
    let mut library = Library::new(files);
    let mut times: Vec<Duration> = Vec::new();
    let mut held_up = 0;
    for run in 0..run_count() {
        let began = Instant::now();
        let (mut wanted, pace) = script(&library, run);
        let in_one_go = pace == Pace::AnyTime || began.elapsed() < QUIET;
        wanted.sort();
        let settled = library.settle_at_the_disk();
        if in_one_go {
            assert_eq!(settled.changes, wanted, "{name}, run {run}");
        } else {
            held_up += 1;
            let all = wanted.iter().all(|line| settled.changes.contains(line));
            assert!(all, "{name}, run {run}: {wanted:?} in {:?}", settled.changes);
        }
        times.push(settled.elapsed);
    }
    times.sort();
    let overflows = library.metric("source_event_overflows_total");
    println!(
        "{name}: {} runs ({held_up} held up), median {:?}, longest {:?}, overflows {overflows}, reports {}, looks {}",
        times.len(),
        times[times.len() / 2],
        times[times.len() - 1],
        library.metric("source_events_total"),
        library.metric("source_rescans_total"),
    );
    // What is still reported after the last change is about bytes that are the same.
    library.settle();
    assert_eq!(library.changes(), [""; 0], "{name}");
}

/// A tree of five files in three folders at `place`; their paths from there.
fn plant(library: &Library, place: &str, run: usize) -> Vec<String> {
    let files = ["a.md", "b/c.md", "b/d.md", "b/e/f.md", "b/e/g.md"];
    for file in files {
        library.write(&format!("{place}/{file}"), &format!("{file} of run {run}"));
    }
    files.iter().map(|file| (*file).to_owned()).collect()
}

#[test]
fn create() {
    check("create", &["docs/sub/a.md"], |library, run| {
        library.write(&format!("docs/sub/{run}.md"), "new");
        (vec![format!("created sub/{run}.md")], Pace::InOneGo)
    });
}

#[test]
fn edit() {
    check("edit", &["docs/a.md"], |library, run| {
        library.write("docs/a.md", &format!("text {run}"));
        (vec!["updated a.md".to_owned()], Pace::InOneGo)
    });
}

#[test]
fn atomic_save() {
    check("atomic save", &["docs/sub/a.md"], |library, run| {
        // From beside it, and from outside of the tree, of which only the arrival is reported.
        let temporary = if run % 2 == 0 { "docs/sub/a.md.tmp" } else { "outside/a.md.tmp" };
        library.write(temporary, &format!("text {run}"));
        library.rename(temporary, "docs/sub/a.md");
        (vec!["updated sub/a.md".to_owned()], Pace::InOneGo)
    });
}

#[test]
fn save_three_times() {
    check("save three times", &["docs/a.md"], |library, run| {
        for save in ["once", "twice", "thrice"] {
            library.write("docs/a.md", &format!("{save} in run {run}"));
        }
        (vec!["updated a.md".to_owned()], Pace::InOneGo)
    });
}

#[test]
fn rename() {
    check("rename", &["docs/0.md"], |library, run| {
        library.rename(&format!("docs/{run}.md"), &format!("docs/{}.md", run + 1));
        let wanted = vec![format!("deleted {run}.md"), format!("created {}.md", run + 1)];
        (wanted, Pace::AnyTime)
    });
}

#[test]
fn move_a_tree_in() {
    check("move a tree in", &[], |library, run| {
        let files = plant(library, "outside/tree", run);
        library.rename("outside/tree", &format!("docs/{run}"));
        (files.iter().map(|file| format!("created {run}/{file}")).collect(), Pace::AnyTime)
    });
}

#[test]
fn move_a_tree_out() {
    let tree = ["a.md", "b/c.md"];
    let files: Vec<_> =
        (0..run_count()).flat_map(|run| tree.map(|file| format!("docs/{run}/{file}"))).collect();
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    check("move a tree out", &files, |library, run| {
        library.rename(&format!("docs/{run}"), &format!("outside/{run}"));
        // What happens to it there is nobody's business here.
        library.write(&format!("outside/{run}/b/new.md"), "outside");
        (tree.iter().map(|file| format!("deleted {run}/{file}")).collect(), Pace::AnyTime)
    });
}

#[test]
fn delete_a_tree() {
    let tree = ["a.md", "b/c.md", "b/d/e/f.md"];
    let files: Vec<_> =
        (0..run_count()).flat_map(|run| tree.map(|file| format!("docs/{run}/{file}"))).collect();
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    check("delete a tree", &files, |library, run| {
        library.remove(&format!("docs/{run}"));
        (tree.iter().map(|file| format!("deleted {run}/{file}")).collect(), Pace::AnyTime)
    });
}

#[test]
fn fifty_thousand_touches() {
    let files: Vec<_> =
        (0..TOUCHED_FILES).map(|number| format!("docs/many/{}/{number}.md", number % 10)).collect();
    let names: Vec<_> = files.iter().map(String::as_str).collect();
    check("50,000 touches", &names, |library, run| {
        for touch in 0..TOUCHES {
            let file = File::open(library.path(&files[touch % TOUCHED_FILES])).unwrap();
            let times = FileTimes::new().set_modified(SystemTime::now());
            file.set_times(times).unwrap();
            // Among all this noise three things really change.
            if touch == TOUCHES / 2 {
                library.write("outside/7.md", &format!("text {run}"));
                library.rename("outside/7.md", &files[7]);
                library.write("outside/new.md", "new");
                library.rename("outside/new.md", &format!("docs/many/new {run}.md"));
                if run > 0 {
                    fs::remove_file(library.path(&format!("docs/many/new {}.md", run - 1)))
                        .unwrap();
                }
            }
        }
        let mut wanted =
            vec!["updated many/7/7.md".to_owned(), format!("created many/new%20{run}.md")];
        wanted.extend((run > 0).then(|| format!("deleted many/new%20{}.md", run - 1)));
        (wanted, Pace::AnyTime)
    });
}
