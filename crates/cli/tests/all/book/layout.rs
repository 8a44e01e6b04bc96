//! The book's layout, and links of all documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::blocks::{blocks, prose};
use super::{chapter_names, chapters, document, root};

/// Documents beside the book, and the READMEs beside the code.
const OTHERS: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "GLOSSARY.md",
    "docs/book/README.md",
];

/// How links of the book, which is read elsewhere, begin if they lead to other files.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// The greatest length of the README.
const README_BYTES: usize = 8192;

#[test]
fn the_readme_is_short() {
    let bytes = document("README.md").len();
    assert!(bytes <= README_BYTES, "{bytes} bytes");
}

#[test]
fn the_summary_names_every_chapter_once() {
    let summary = document("docs/book/src/SUMMARY.md");
    let mut named: Vec<String> = links(&summary).into_iter().map(str::to_owned).collect();
    named.sort();
    assert_eq!(named, chapter_names());
    let settings = document("docs/book/book.toml");
    assert!(settings.contains("[book]") && settings.contains("src = \"src\""), "{settings}");
}

#[test]
fn every_link_leads_somewhere() {
    let in_book = chapter_names().into_iter().map(|name| format!("docs/book/src/{name}"));
    for path in OTHERS.map(str::to_owned).into_iter().chain(in_book).chain(readmes("crates")) {
        let text = document(&path);
        let folder = root().join(&path);
        let folder = folder.parent().unwrap();
        for link in links(&prose(&text)) {
            let file = link.split('#').next().unwrap_or_default();
            let anchor = link.split_once('#').map(|(_, anchor)| anchor);
            let target = match file.strip_prefix(REPOSITORY) {
                Some(file) => root().join(file),
                None if file.contains("://") => continue,
                None if file.is_empty() => root().join(&path),
                None => folder.join(file),
            };
            assert!(target.exists(), "{path}: {link} leads nowhere");
            let stays_in_book = !path.starts_with("docs/book")
                || file.contains("://")
                || file.is_empty()
                || chapters().join(file).exists();
            assert!(stays_in_book, "{path}: {link} leads out of the book");
            if let Some(anchor) = anchor {
                assert!(anchors(&target).contains(anchor), "{path}: {link} names no heading");
            }
        }
    }
}

/// The code of a chapter is compiled where `warpline-testkit` includes the chapter.
#[test]
fn all_rust_of_the_book_is_compiled() {
    let included = document("crates/testkit/src/book.rs");
    for name in chapter_names() {
        let text = fs::read_to_string(chapters().join(&name)).unwrap();
        let has_rust = blocks(&text)
            .iter()
            .any(|block| block.language == "rust" && !block.is_marked("ignore"));
        let is_included = included.contains(&format!("docs/book/src/{name}"));
        assert_eq!(
            has_rust, is_included,
            "{name}: has Rust, and is included in crates/testkit/src/book.rs"
        );
    }
}

/// The READMEs in a folder and below; symbolic links are not followed.
fn readmes(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap) {
        let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(readmes(&path));
        } else if kind.is_file() && path.ends_with("/README.md") {
            found.push(path);
        }
    }
    found
}

/// The targets of links in a text.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// The anchors of the headings of a file.
fn anchors(file: &Path) -> BTreeSet<String> {
    let text = prose(&fs::read_to_string(file).unwrap());
    let headings = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    headings
        .map(|heading| heading.chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}
