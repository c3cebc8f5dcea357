//! EPUB books: the chapters in reading order, each a page of HTML.

use std::collections::HashMap;

use super::super::archive::Archive;
use super::super::html;
use super::super::text::TextBuilder;
use super::super::xml::{Node, walk};
use super::{Document, properties};

/// The text of a book, with the title and language that its package tells.
pub(in crate::extraction::readers) fn book(mut archive: Archive<'_>, bytes_max: usize) -> Document {
    let container = archive.text("META-INF/container.xml").unwrap_or_default();
    let path = package_path(&container);
    let package = archive.text(&path).unwrap_or_default();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut chapters = chapters(&package, folder);
    if chapters.is_empty() {
        chapters = ["html", "htm"].iter().flat_map(|end| archive.names("", end)).collect();
    }
    let mut text = TextBuilder::new(bytes_max);
    for chapter in chapters {
        if text.is_full() {
            break;
        }
        if let Some(page) = archive.text(&chapter) {
            text = html::append(&page, text);
            text.line();
        }
    }
    let found = properties::read(&package);
    Document { title: found.title, language: found.language, text: text.finish() }
}

fn package_path(container: &str) -> String {
    let mut path = None;
    walk(container, |node| {
        if let Node::Start(element) = node
            && element.name == "rootfile"
        {
            path = element.attribute("full-path");
        }
        path.is_none()
    });
    path.unwrap_or_default()
}

/// The chapters' names in the archive, in the order of the spine.
fn chapters(package: &str, folder: &str) -> Vec<String> {
    let mut places = HashMap::new();
    let mut chapters = Vec::new();
    walk(package, |node| {
        if let Node::Start(element) = node {
            match element.name {
                "item" => {
                    if let (Some(id), Some(place)) =
                        (element.attribute("id"), element.attribute("href"))
                    {
                        places.insert(id, within(folder, &place));
                    }
                }
                "itemref" => {
                    chapters.extend(element.attribute("idref").and_then(|id| places.remove(&id)));
                }
                _ => {}
            }
        }
        true
    });
    chapters
}

fn within(folder: &str, place: &str) -> String {
    if folder.is_empty() { place.to_owned() } else { format!("{folder}/{place}") }
}
