//! Documents as their programs write them, put together here from the parts that count.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::super::archive::Archive;
use super::{Document, book, open_document, sheets, slides, word};

fn zipped(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, text) in parts {
        zip.start_file(*name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn check(
    read: fn(Archive<'_>, usize) -> Document,
    parts: &[(&str, &str)],
    title: Option<&str>,
    text: &str,
) {
    let bytes = zipped(parts);
    let found = read(Archive::open(&bytes).unwrap(), 1 << 20);
    assert_eq!((found.title.as_deref(), found.text.as_str()), (title, text));
}

const CORE: &str = "<cp:coreProperties xmlns:dc='d'><dc:title>The  title</dc:title>\
    <dc:language>de-AT</dc:language><cp:keywords>k</cp:keywords></cp:coreProperties>";

#[test]
fn word_documents() {
    let body = "<?xml version='1.0'?><w:document><w:body>\
        <w:p><w:r><w:t>Find</w:t></w:r><w:r><w:t xml:space='preserve'>ing </w:t><w:tab/><w:t>x &amp; y</w:t></w:r></w:p>\
        <w:p><w:instrText>PAGE</w:instrText><w:del><w:delText>gone</w:delText></w:del><w:t>two</w:t><w:br/><w:t>three</w:t></w:p>\
        <w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc><w:tc><w:p><w:t>b</w:t></w:p></w:tc></w:tr></w:tbl>\
        <mc:AlternateContent><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box</w:t></mc:Fallback></mc:AlternateContent>\
        </w:body></w:document>";
    let parts = [
        ("word/document.xml", body),
        ("word/footnotes.xml", "<w:footnotes><w:p><w:t>note</w:t></w:p></w:footnotes>"),
        ("word/header1.xml", "<w:hdr><w:p><w:t>head</w:t></w:p></w:hdr>"),
        ("docProps/core.xml", CORE),
    ];
    check(word, &parts, Some("The title"), "Finding x & y\ntwo\nthree\na\nb\nbox\nnote\nhead");
}

#[test]
fn presentations_in_the_order_of_their_slides() {
    let slide = |text: &str| {
        format!("<p:sld><a:p><a:r><a:t>{text}</a:t></a:r></a:p><a:p><a:t>end</a:t></a:p></p:sld>")
    };
    let (ten, nine) = (slide("ten"), slide("nine"));
    let parts = [
        ("ppt/slides/slide10.xml", ten.as_str()),
        ("ppt/slides/slide9.xml", nine.as_str()),
        ("ppt/notesSlides/notesSlide1.xml", "<p:notes><a:p><a:t>said</a:t></a:p></p:notes>"),
    ];
    check(slides, &parts, None, "nine\nend\nten\nend\nsaid");
}

#[test]
fn workbooks_row_by_row() {
    let sheet = "<worksheet><sheetData>\
        <row><c r='A1' t='s'><v>1</v></c><c t='s'><v>0</v></c><c t='s'><v>99</v></c></row>\
        <row><c><v>42</v></c><c t='inlineStr'><is><t>in line</t></is></c><c t='b'><v>1</v></c><c t='e'><v>#N/A</v></c></row>\
        <row><c r='XFD1048576' t='str'><f>A1&amp;\"x\"</f><v>made</v></c></row></sheetData></worksheet>";
    let strings = "<sst><si><t>zero</t></si><si><r><t>o</t></r><r><t>ne</t></r><rPh><t>reading</t></rPh></si></sst>";
    let parts = [
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='Costs &amp; more'/></sheets></workbook>",
        ),
        ("xl/sharedStrings.xml", strings),
        ("xl/worksheets/sheet1.xml", sheet),
        (
            "xl/comments1.xml",
            "<comments><comment><text><t>re</t><t>mark</t></text></comment></comments>",
        ),
        ("docProps/core.xml", CORE),
    ];
    let text = "Costs & more\none zero reading\n42 in line\nmade\nremark";
    check(sheets, &parts, Some("The title"), text);
}

#[test]
fn what_is_deleted_twice_there_or_beside_the_text_does_not_part_it() {
    let moved = "<w:p><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:t>kept</w:t></w:p>\
        <w:p><w:moveTo><w:r><w:t>here</w:t></w:r></w:moveTo></w:p>\
        <w:p><w:rPr><w:moveFrom/></w:rPr><w:t>Shin</w:t>\
        <w:ruby><w:rt><w:r><w:t>tou</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby>\
        <w:ruby><w:rt><w:r><w:t>kyou</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>京</w:t></w:r></w:rubyBase></w:ruby></w:p>\
        <mc:AlternateContent><mc:Fallback><w:t>only</w:t></mc:Fallback></mc:AlternateContent>";
    check(word, &[("word/document.xml", moved)], None, "kept\nhere\nShin東京 tou kyou\nonly");
    let slide = "<p:sld><mc:AlternateContent><mc:Choice><a:p><a:t>box</a:t></a:p></mc:Choice>\
        <mc:Choice><a:t>box</a:t></mc:Choice><mc:Fallback><a:t>box</a:t><mc:AlternateContent><mc:Choice/>\
        </mc:AlternateContent></mc:Fallback></mc:AlternateContent><a:p><a:t>end</a:t></a:p></p:sld>";
    check(slides, &[("ppt/slides/slide1.xml", slide)], None, "box\nend");
    let sheet = "<worksheet><row><c t='s'><v>0</v></c><c t='inlineStr'><is><t>京</t><r><t>都</t></r>\
        <rPh><t>キョウト</t></rPh></is></c></row></worksheet>";
    let strings = "<sst><si><t>東京</t><rPh><t>トウキョウ</t></rPh></si></sst>";
    let parts = [("xl/sharedStrings.xml", strings), ("xl/worksheets/sheet1.xml", sheet)];
    check(sheets, &parts, None, "東京 京都 トウキョウ キョウト");
    let content = "<office:body><text:p>bud<office:annotation><dc:creator>A</dc:creator><text:p>re</text:p>\
        <text:p>mark</text:p></office:annotation>get <text:ruby><text:ruby-base>漢</text:ruby-base>\
        <text:ruby-text>kan</text:ruby-text></text:ruby>字</text:p><text:p>next</text:p></office:body>";
    check(open_document, &[("content.xml", content)], None, "budget 漢字 re mark kan\nnext");
}

#[test]
fn open_documents() {
    let content = "<office:document-content><office:scripts>x</office:scripts><office:body>\
        <text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion></text:tracked-changes>\
        <text:h>Head<text:span>ing</text:span></text:h> \
        <text:p>one<text:s/>two<text:tab/>three<text:line-break/>four</text:p>\
        <table:table table:name='Sheet'><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>\
        </table:table-row></table:table></office:body></office:document-content>";
    let meta = "<office:meta><dc:title>T</dc:title></office:meta>";
    let parts = [("content.xml", content), ("meta.xml", meta)];
    check(open_document, &parts, Some("T"), "Heading\none two three\nfour\nSheet\na");
}

#[test]
fn books_in_the_order_of_their_spine() {
    let package = "<package><metadata><dc:title>Book</dc:title></metadata><manifest>\
        <item id='b' href='b.xhtml'/><item id='a' href='text/a.xhtml'/><item id='c' href='c.css'/></manifest>\
        <spine><itemref idref='a'/><itemref idref='b'/><itemref idref='gone'/></spine></package>";
    let parts = [
        ("META-INF/container.xml", "<container><rootfile full-path='OEBPS/p.opf'/></container>"),
        ("OEBPS/p.opf", package),
        ("OEBPS/b.xhtml", "<html><head><title/></head><p>second</p></html>"),
        ("OEBPS/text/a.xhtml", "<p>first</p>"),
    ];
    check(book, &parts, Some("Book"), "first\nsecond");
    check(book, &[("x/1.html", "<p>lone</p>")], None, "lone");
}

#[test]
fn what_is_missing_or_broken_is_passed_over() {
    for read in [word, slides, sheets, open_document, book] {
        check(read, &[("other", "x")], None, "");
        check(read, &[("docProps/core.xml", "<a><b"), ("content.xml", "<p")], None, "");
    }
    assert!(Archive::open(b"PK\x03\x04 no archive").is_err());
    // The part before the damage counts.
    let broken = "<w:document><w:p><w:t>kept</w:t></w:p><w:p";
    check(word, &[("word/document.xml", broken)], None, "kept");
}

#[test]
fn a_document_that_inflates_without_end_is_cut() {
    let bytes = zipped(&[("content.xml", &format!("<p>{}</p>", "a ".repeat(4 << 20)))]);
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    let found = open_document(Archive::open(&bytes).unwrap(), 1000);
    assert_eq!(found.text.len(), 1000 - 1);
}
