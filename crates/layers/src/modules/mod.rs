//! The files of a crate, and its folders, must not use each other in a circle.

mod circles;
mod known;
#[cfg(test)]
mod tests;
mod tree;
mod uses;

use std::path::Path;

use circles::{Circle, circles};
use known::{KNOWN, compare};
use tree::{Sources, trees};
use uses::uses;

use crate::files::{crates, read, rust_files};

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    Ok(compare(&all_circles(root)?, KNOWN))
}

/// Prints the circles of all crates, each with every use that has to go to break it.
pub(crate) fn tell_circles(root: &Path) -> Result<(), String> {
    for (name, circle) in all_circles(root)? {
        println!(
            "{name}/{}: {}",
            circle.folder.join("/"),
            circle.parts.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        );
        for step in circle.steps {
            println!("    {} -> {}: {} names {}", step.from, step.to, step.module, step.name);
        }
    }
    Ok(())
}

/// The circles in the crates, each with its crate's name.
fn all_circles(root: &Path) -> Result<Vec<(String, Circle)>, String> {
    let mut found = Vec::new();
    for folder in crates(root)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = folder.join("src");
        // Programs that test others may be all that a crate has.
        if !folder.is_dir() {
            continue;
        }
        let circles = circles_of_crate(&sources(&folder)?)
            .map_err(|error| format!("crate {name}: {error}"))?;
        found.extend(circles.into_iter().map(|circle| (name.clone(), circle)));
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

/// The circles that are known, a line each.
pub(crate) fn known_circles() -> impl Iterator<Item = String> {
    KNOWN.iter().map(|(name, folder, parts)| {
        format!(
            "{name}{}{folder}: {}",
            if folder.is_empty() { "" } else { "/" },
            parts.replace(' ', ", ")
        )
    })
}

fn circles_of_crate(sources: &Sources) -> Result<Vec<Circle>, String> {
    Ok(trees(sources)?.iter().flat_map(|tree| circles(&uses(tree))).collect())
}

fn sources(folder: &Path) -> Result<Sources, String> {
    let mut sources = Sources::new();
    for file in rust_files(folder)? {
        sources.insert(file.strip_prefix(folder).unwrap_or(&file).to_owned(), read(&file)?);
    }
    Ok(sources)
}
