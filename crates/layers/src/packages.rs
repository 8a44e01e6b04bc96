//! Published crates are complete: each has the fields that a registry asks for, and includes no
//! file from outside its package.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::crates::{metadata, packages};
use crate::files::{read, rust_files};

/// The fields that a registry shows.
const FIELDS: [&str; 6] =
    ["description", "license", "repository", "keywords", "categories", "readme"];

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let metadata = metadata(root)?;
    let mut breaches = Vec::new();
    for package in packages(&metadata).filter(|package| is_published(package)) {
        let name = package["name"].as_str().unwrap_or_default();
        breaches.extend(
            missing(package).map(|field| format!("crate {name} is published without `{field}`")),
        );
        let manifest = package["manifest_path"].as_str().map(Path::new);
        breaches.extend(included_from_outside(manifest.and_then(Path::parent).unwrap_or(root))?);
    }
    Ok(breaches)
}

/// A breach for each file from outside that the code of the package in this folder includes.
fn included_from_outside(folder: &Path) -> Result<Vec<String>, String> {
    let mut breaches = Vec::new();
    let parts = ["src", "examples"].map(|part| folder.join(part));
    for part in parts.iter().filter(|part| part.is_dir()) {
        for file in rust_files(part)? {
            let code = read(&file)?;
            let outside = included(&code).filter(|path| !lies_in(folder, &file, path));
            breaches.extend(outside.map(|path| {
                format!("{} includes {path}, which is not in its package", file.display())
            }));
        }
    }
    Ok(breaches)
}

/// `publish` is an empty list for crates that may not go to any registry.
fn is_published(package: &Value) -> bool {
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

/// The fields that a package does not have.
fn missing(package: &Value) -> impl Iterator<Item = &'static str> {
    let empty = |value: &Value| {
        value.is_null() || value.as_array().is_some_and(Vec::is_empty) || value.as_str() == Some("")
    };
    FIELDS.into_iter().filter(move |field| empty(&package[*field]))
}

/// The paths in `include!("…")`, `include_str!("…")` and `include_bytes!("…")`.
fn included(code: &str) -> impl Iterator<Item = &str> {
    const MACROS: [&str; 3] = ["include!(\"", "include_str!(\"", "include_bytes!(\""];
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|line| MACROS.into_iter().flat_map(|one| line.split(one).skip(1)))
        .filter_map(|rest| rest.split('"').next())
}

/// Whether a path that `file` includes lies in a folder. Links are not followed, as packages have
/// files in their place.
fn lies_in(folder: &Path, file: &Path, path: &str) -> bool {
    let mut place = PathBuf::new();
    for part in file.parent().unwrap_or(folder).join(path).components() {
        match part {
            Component::ParentDir => drop(place.pop()),
            Component::CurDir => {}
            part => place.push(part),
        }
    }
    place.starts_with(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_published_crate_says_what_it_is() {
        let mut package = json!({
            "publish": null,
            "description": "x",
            "license": "MIT",
            "repository": "x",
            "keywords": ["x"],
            "categories": ["x"],
            "readme": "x",
        });
        assert!(is_published(&package) && missing(&package).next().is_none());
        package["keywords"] = json!([]);
        package["readme"] = Value::Null;
        package["description"] = json!("");
        assert_eq!(missing(&package).collect::<Vec<_>>(), ["description", "keywords", "readme"]);
        package["publish"] = json!([]);
        assert!(!is_published(&package));
    }

    #[test]
    fn included_files_lie_in_the_package() {
        let code = "#[doc = include_str!(\"../../x.md\")]\n// include_str!(\"not this\")\n\
            let (a, b) = (include!(\"a.rs\"), include_bytes!(\"../b\"));";
        assert_eq!(included(code).collect::<Vec<_>>(), ["../../x.md", "a.rs", "../b"]);
        let inside =
            |path| lies_in(Path::new("/w/crates/a"), Path::new("/w/crates/a/src/b/c.rs"), path);
        assert_eq!(
            ["../../x.md", "x.rs", "../../../x.md", "../../../ab/x.md"].map(inside),
            [true, true, false, false]
        );
    }
}
