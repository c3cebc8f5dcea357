//! Formats that this program reads as a child of itself.

use std::fmt::Write;
use std::time::Duration;

use pressmark::extraction::{Contents, ExtractCommand, ExtractFault, Extractor};
use pressmark_index::full_text::extract::Stop;

const PDF: &str = "application/pdf";

fn read(bytes: &[u8]) -> Result<(Option<String>, String), ExtractFault> {
    let program = env!("CARGO_BIN_EXE_pressmark").into();
    let found =
        Extractor::new([], Some(program)).text_of(PDF, Contents::Blob(bytes), &Stop::default())?;
    Ok((found.title, found.text.into_owned()))
}

/// A file of these objects, the first of which is the catalogue and the last the information dictionary.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut file = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        writeln!(file, "{} 0 obj\n{object}\nendobj", at + 1).unwrap();
    }
    let (xref, count) = (file.len(), objects.len());
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", count + 1).unwrap();
    offsets.iter().for_each(|offset| writeln!(file, "{offset:010} 00000 n ").unwrap());
    let size = count + 1;
    write!(
        file,
        "trailer\n<< /Size {size} /Root 1 0 R /Info {count} 0 R >>\nstartxref\n{xref}\n%%EOF\n"
    )
    .unwrap();
    file.into_bytes()
}

/// A file with a page for each text.
fn pages(texts: &[&str]) -> Vec<u8> {
    let first = 4;
    let kids: Vec<String> = (0..texts.len()).map(|at| format!("{} 0 R", first + 2 * at)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Count {} /Kids [{}] >>", texts.len(), kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (at, text) in texts.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            first + 2 * at + 1
        ));
        let stream = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    objects.push("<< /Title (The  title) >>".to_owned());
    pdf(&objects)
}

#[test]
fn pages_are_read_in_order() {
    let found = read(&pages(&["Search finds words", "on every page"])).unwrap();
    assert_eq!(
        found,
        (Some("The title".to_owned()), "The title\nSearch finds words\non every page".to_owned())
    );
}

/// None of these harms more than itself: the child may panic, run out of stack, memory or time.
#[test]
fn hostile_files_cost_their_own_text_only() {
    let whole = pages(&["kept", "broken"]);
    let deep = pdf(&["[".repeat(200_000), "<< >>".to_owned()]);
    let endless = pdf(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [2 0 R] >>".to_owned(),
        "<< >>".to_owned(),
    ]);
    for bytes in
        [b"%PDF-1.4".as_slice(), b"", b"no PDF", &whole[..whole.len() / 2], &deep, &endless]
    {
        if let Ok((_, text)) = read(bytes) {
            assert!(text.len() < 100, "{text}");
        }
    }
    // What can be read of a file with a broken page is read.
    let text = String::from_utf8(whole).unwrap().replacen("(broken) Tj", "[[[[(br) T*", 1);
    assert!(read(text.as_bytes()).unwrap().1.starts_with("The title\nkept"));
}

#[test]
fn a_command_goes_before_our_own_reader() {
    let command = ExtractCommand {
        program: "echo".into(),
        arguments: vec!["by command".to_owned()],
        timeout: Duration::from_secs(60),
        output_bytes_max: 100,
    };
    let extractor = Extractor::new([(PDF.to_owned(), command)], None);
    let found = extractor.text_of(PDF, Contents::Blob(b"%PDF-"), &Stop::default()).unwrap();
    assert_eq!(found.text, "by command\n");
}

fn ours() -> Extractor {
    Extractor::new([], Some(env!("CARGO_BIN_EXE_pressmark").into()))
}

/// A drawing in it draws itself, which the library that reads it follows until its stack ends.
fn endless_drawing() -> Vec<u8> {
    let form = "/F Do";
    pdf(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R \
         /Resources << /XObject << /F 4 0 R >> >> >>"
            .to_owned(),
        format!(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length {} \
             /Resources << /XObject << /F 4 0 R >> >> >>\nstream\n{form}\nendstream",
            form.len()
        ),
        format!("<< /Length {} >>\nstream\n{form}\nendstream", form.len()),
        "<< >>".to_owned(),
    ])
}

#[test]
fn a_document_that_ends_the_child_is_not_read_again_and_others_are() {
    let (extractor, stop) = (ours(), Stop::default());
    let endless = endless_drawing();
    let read = |bytes: &[u8]| {
        extractor.text_of(PDF, Contents::Blob(bytes), &stop).map(|found| found.text.into_owned())
    };
    assert_eq!(read(&pages(&["before"])), Ok("The title\nbefore".to_owned()));
    assert_eq!(read(&endless), Err(ExtractFault::Died));
    assert_eq!(read(&pages(&["after"])), Ok("The title\nafter".to_owned()));
    assert_eq!(read(&endless), Err(ExtractFault::PassedOver));
}

/// A list of empty lines takes more than ten times its bytes once it is parsed.
#[test]
fn memory_is_bounded_whatever_a_parser_takes() {
    let (extractor, stop) = (ours(), Stop::default());
    let lines = "\"\",".repeat(14 << 20);
    let notebook = format!("{{\"cells\": [{{\"source\": [{lines}\"\"]}}]}}");
    let found = extractor.text_of("application/x-ipynb+json", Contents::Text(&notebook), &stop);
    assert_eq!(found, Err(ExtractFault::Died));
}

#[test]
fn a_tag_with_very_many_attributes_is_read() {
    let tag = format!("<a {}>", "b=\"c\" ".repeat(27_558));
    for (mime_type, contents, expected) in [
        ("text/html", format!("<p>before {tag}within</a> after"), "before within after"),
        (
            "application/xhtml+xml",
            format!("<p>before {tag}within</a> after</p>"),
            "before within after",
        ),
        (
            "text/markdown",
            format!("<div>\nbefore {tag}within</a>\n</div>\n\nafter"),
            "before within\nafter",
        ),
    ] {
        for extractor in [ours(), Extractor::new([], None)] {
            let found = extractor.text_of(mime_type, Contents::Text(&contents), &Stop::default());
            assert_eq!(found.unwrap().text, expected, "{mime_type}");
        }
    }
}

#[test]
fn what_is_being_read_is_stopped() {
    let command = ExtractCommand {
        program: "sleep".into(),
        arguments: vec!["600".to_owned()],
        timeout: Duration::from_secs(600),
        output_bytes_max: 100,
    };
    let extractor = Extractor::new([(PDF.to_owned(), command)], None);
    let stop = Stop::default();
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| extractor.text_of(PDF, Contents::Blob(b"x"), &stop).map(drop));
        stop.ask();
        assert_eq!(reading.join().unwrap(), Err(ExtractFault::Stopped));
    });
    let found = ours().text_of("text/html", Contents::Text("<p>x"), &stop);
    assert_eq!(found, Err(ExtractFault::Stopped));
}
