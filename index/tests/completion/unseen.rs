//! Characters that nobody sees, and what comes first when something is mistyped.

use pressmark_index::resource::Binding;

use crate::world::{Change, Question, World, list, record, text};

fn check(template: &str, records: &[Vec<Binding>], rows: &[(&str, &[&str])]) {
    let mut world = World::new(&[template]);
    let changes: Vec<_> = records.iter().map(|one| Change::Put(record(one.clone()))).collect();
    world.commit(0, &changes);
    for reopened in [false, true] {
        if reopened {
            world.reopen();
        }
        for (typed, wanted) in rows {
            let question = Question::new("name", typed);
            let found = question.ask("space-0", |request| world.engine().complete(request));
            let values: Vec<String> = found.unwrap().values.iter().map(str::to_owned).collect();
            let first = values.get(..wanted.len()).unwrap_or(&values);
            assert_eq!(first, *wanted, "{typed}, reopened: {reopened}");
            world.check(0, &question);
        }
    }
}

#[test]
fn what_nobody_sees_does_not_count() {
    let values = [
        "Ge\u{ad}samt\u{ad}kon\u{ad}zept",
        "می\u{200c}خواهم",
        "zero\u{200b}width\u{feff}",
        "\u{202e}gnp.exe",
        "محمـــد",
    ];
    let records: Vec<_> = values.iter().map(|value| vec![text("name", value)]).collect();
    let rows: &[(&str, &[&str])] = &[
        ("gesamtk", &values[..1]),
        ("gesamt\u{ad}kon", &values[..1]),
        // A word does not begin behind a soft hyphen.
        ("konz", &[]),
        ("میخ", &values[1..2]),
        ("zerowidth", &values[2..3]),
        ("gnp", &values[3..4]),
        ("محمد", &values[4..]),
    ];
    check("a://b/{name}", &records, rows);
    let escaped = ["Ge%C2%ADsamt%C2%ADkon%C2%ADzept"];
    check("a://b/{+name}", &records[..3], &[("gesamtk", &escaped), ("ge%C2%ADsamtk", &escaped)]);
    let paths = [vec![list("name", "Ge\u{ad}samt/kon\u{200d}zept")]];
    check("a://b{/name*}", &paths, &[("gesamt/konz", &["Ge\u{ad}samt/kon\u{200d}zept"])]);
}

/// With few values of the variable and with many, of which those that only begin so weigh more.
#[test]
fn whole_values_come_before_those_that_only_begin_so() {
    for longer in [3, 300] {
        let mut records = Vec::new();
        for n in 0..longer {
            for page in 0..3 {
                let name = format!("flask-{n:03}");
                records.push(vec![text("name", &name), text("page", &page.to_string())]);
            }
        }
        records.push(vec![text("name", "flask"), text("page", "0")]);
        records.push(vec![text("name", "flak"), text("page", "0")]);
        records.push(vec![text("name", "flak"), text("page", "1")]);
        let rows: &[(&str, &[&str])] =
            &[("flsk", &["flak", "flask", "flask-000"]), ("flaks", &["flask", "flask-000"])];
        check("a://b/{name}/{page}", &records, &rows[..1]);
    }
    let folders = [vec![list("name", "documents/x")], vec![list("name", "documents-of-old/x")]];
    check("a://b{/name*}", &folders, &[("docuemnts", &["documents/", "documents-of-old/"])]);
}
