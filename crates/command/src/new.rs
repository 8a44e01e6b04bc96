//! `warpline new`: writes a small project with a model of one's own.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};
use heck::{ToKebabCase, ToUpperCamelCase};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{self, format};
use crate::verbs::NEW;

/// The argument that names the project.
const NAME: &str = "NAME";

/// The files of a project, and their templates for [`Project::text`].
const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("../project/manifest.toml")),
    ("src/main.rs", MODEL),
    ("README.md", include_str!("../project/README.md")),
    (".gitignore", include_str!("../project/gitignore")),
];
/// The features of the crate `warpline` that a project needs.
const FEATURES: &str = "features = [\"command\"]";
const MODEL: &str = include_str!("../project/main.rs");

/// Reserved words of the language.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_",
];
/// The names of the language's crates, of cargo's directories, and of the engine.
const TAKEN: [&str; 11] = [
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "incremental",
    "proc-macro",
    "proc_macro",
    "std",
    "test",
    "warpline",
];
/// The most letters in a name on crates.io.
const LONGEST: usize = 64;

/// The command line of `new`.
pub(crate) fn command(program: &str) -> Command {
    Command::new(NEW)
        .about("Write a small project with a model of your own, which has this whole command")
        .arg(Arg::new(NAME).required(true).help(
            "The name of the project and of its directory, \
                                                 such as `corner-shop`",
        ))
        .after_help(format!(
            "Example:\n  {program} {NEW} corner-shop && cd corner-shop && cargo run --release -- \
             run\n\n\
             Exit status: 0 done, 1 a file could not be written, 2 usage error (nothing was \
             written)."
        ))
}

/// The name of the project, as typed.
pub(crate) fn name(matches: &ArgMatches) -> String {
    matches.get_one::<String>(NAME).cloned().unwrap_or_default()
}

/// Writes a project into a directory of this name, and prints what to do with it.
pub(crate) fn new(name: &str, json: bool) -> Result<(), Failure> {
    let project = Project::called(name)?;
    let written =
        project.write(Path::new(name), &dependency(Path::new(env!("CARGO_MANIFEST_DIR"))))?;
    let lines = ["cargo run --release -- run", "cargo run --release -- compare", "cargo test"];
    if json {
        let files: Vec<_> = written.iter().map(|path| path.display().to_string()).collect();
        return output::print_json(
            &json!({ "directory": name, "files": files, "commands": lines }),
        );
    }
    let notes = [
        "simulate",
        "on one core and on all: the same answer, how much faster",
        "undo, one answer, and what theory says",
    ];
    let rows: Vec<[String; 2]> = lines
        .iter()
        .zip(notes)
        .map(|(line, note)| [(*line).to_owned(), format!("# {note}")])
        .collect();
    output::print(&format!(
        "{name}/ has a model in src/main.rs, tests beside it, and a README.md\n  cd {name}\n{}",
        format::columns(&rows, 2)
    ))
}

/// A project with a valid name.
#[derive(Debug, PartialEq)]
struct Project<'a> {
    /// The name of the crate, the directory and the model.
    name: &'a str,
    /// The name of the model's type.
    model: String,
}

impl<'a> Project<'a> {
    /// # Errors
    /// If the name cannot be that of a crate and a type; with a better one.
    fn called(name: &'a str) -> Result<Self, Failure> {
        let refuse = |why: String| {
            Err(Failure::wrong_use(format!("a project cannot be called `{name}`: {why}")))
        };
        let letters =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ['-', '_'].contains(&c);
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(letters) {
            let form = "it must begin with a small letter, and consist of small letters, digits, \
                        `-` and `_`";
            let place = if name.contains(std::path::is_separator) {
                "; it is written into the current directory"
            } else {
                ""
            };
            let last = name.rsplit(std::path::is_separator).next().unwrap_or_default();
            let valid = last
                .to_kebab_case()
                .trim_start_matches(|c: char| !c.is_ascii_lowercase())
                .replace(|c| !letters(c), "");
            return refuse(format!(
                "{form}{place}{}",
                if valid.is_empty() { String::new() } else { format!(", such as `{valid}`") }
            ));
        }
        if name.len() > LONGEST {
            return refuse(format!(
                "it has {} letters, and the name of a crate at most {LONGEST}",
                name.len()
            ));
        }
        if KEYWORDS.contains(&name) {
            return refuse(format!("that is a word of the language; `{name}-model` is not"));
        }
        if TAKEN.contains(&name) {
            return refuse(format!(
                "a crate or directory of Rust's or Warpline's has that name; `{name}-model` is free"
            ));
        }
        let model = name.to_upper_camel_case();
        if identifiers(MODEL).any(|other| other == model) {
            return refuse(format!(
                "its model would be the type `{model}`, and there is one already; `my-{name}` is \
                 free"
            ));
        }
        Ok(Project { name, model })
    }

    /// Writes all files into `directory`, which must not exist or be empty; returns their paths.
    fn write(&self, directory: &Path, dependency: &str) -> Result<Vec<PathBuf>, Failure> {
        let shown = directory.display();
        match fs::read_dir(directory).map(|mut entries| entries.next().is_some()) {
            Ok(false) => {}
            Ok(true) => {
                return Err(Failure::wrong_use(format!(
                    "the directory `{shown}` is not empty, and nothing in it is overwritten; \
                     choose another name, or empty it"
                )));
            }
            Err(cause) if cause.kind() == ErrorKind::NotFound => {}
            Err(cause) => {
                return Err(Failure::wrong_use(format!(
                    "`{shown}` cannot become the project's directory: {cause}"
                )));
            }
        }
        let mut written = Vec::new();
        for (path, text) in FILES {
            let path = directory.join(path);
            write_new(&path, &self.text(text, dependency)).map_err(|cause| {
                let left = if written.is_empty() {
                    ""
                } else {
                    "; what was written before it is still there"
                };
                Failure::failed(format!("cannot write {}: {cause}{left}", path.display()))
            })?;
            written.push(path);
        }
        Ok(written)
    }

    /// A template with this project's names filled in.
    fn text(&self, text: &str, dependency: &str) -> String {
        text.replace("__name__", self.name)
            .replace("__Model__", &self.model)
            .replace("__rust__", env!("CARGO_PKG_RUST_VERSION"))
            .replace("__dependency__", dependency)
    }
}

/// All words of code outside of comments, its identifiers among them.
fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    // `default()` needs the trait, though the code does not name it.
    lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).chain(["Default"])
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    File::create_new(path)?.write_all(text.as_bytes())
}

/// The line that depends on this version of Warpline. As long as the sources that it was built from
/// are there, the dependency is on them, so that a project works with an unpublished version.
/// `command` is the folder of this crate; that of the crate `warpline` lies beside it.
fn dependency(command: &Path) -> String {
    let from_registry =
        format!("warpline = {{ version = \"{}\", {FEATURES} }}", env!("CARGO_PKG_VERSION"));
    let sources = command.with_file_name("warpline");
    // A folder with both files is an unpacked package, which cargo may delete at any time.
    if !sources.join("Cargo.toml").is_file() || sources.join("Cargo.toml.orig").is_file() {
        return from_registry;
    }
    // TOML escapes strings as JSON does.
    let path = json!(sources.to_string_lossy());
    format!(
        "# From the sources that the command `warpline` was built from; on other machines: \
         {from_registry}\nwarpline = {{ path = {path}, {FEATURES} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> String {
        let failure = Project::called(name).unwrap_err();
        assert_eq!(failure.code, Failure::USAGE_ERROR);
        failure.message
    }

    #[test]
    fn a_name_is_that_of_a_crate_and_of_a_type() {
        for (name, model) in [
            ("shop", "Shop"),
            ("corner-shop", "CornerShop"),
            ("mm1", "Mm1"),
            ("a_b", "AB"),
            ("customers", "Customers"),
        ] {
            assert_eq!(Project::called(name), Ok(Project { name, model: model.into() }));
        }
    }

    #[test]
    fn other_names_are_refused_with_a_better_one() {
        let begin = |name: &str| {
            format!("a project cannot be called `{name}`: it must begin with a small letter")
        };
        for (name, better) in [
            ("Corner Shop", "corner-shop"),
            ("9lives", "lives"),
            ("Café", "caf"),
            ("-x", "x"),
            ("_x", "x"),
        ] {
            let message = refused(name);
            assert!(
                message.starts_with(&begin(name))
                    && message.ends_with(&format!(", such as `{better}`")),
                "{message}"
            );
        }
        for name in ["", "9", "¡"] {
            assert!(refused(name).ends_with("`-` and `_`"), "{}", refused(name));
        }
        assert!(
            refused("some/shop")
                .ends_with("it is written into the current directory, such as `shop`"),
            "{}",
            refused("some/shop")
        );
        assert!(refused("match").ends_with("that is a word of the language; `match-model` is not"));
        assert!(
            refused("test").contains("has that name; `test-model` is free")
                && refused("warpline").contains("Warpline's")
        );
        assert!(
            refused(&"x".repeat(65))
                .ends_with("it has 65 letters, and the name of a crate at most 64")
        );
        assert_eq!(Project::called(&"x".repeat(64)).map(|_| ()), Ok(()));
    }

    #[test]
    fn the_model_hides_no_type_that_it_uses() {
        for name in
            ["model", "context", "event", "result", "lp-id", "exit_code", "default", "parameters"]
        {
            assert!(
                refused(name).ends_with(&format!("and there is one already; `my-{name}` is free")),
                "{}",
                refused(name)
            );
            assert!(Project::called(&format!("my-{name}")).is_ok());
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let place = tempfile::tempdir().unwrap();
        let project = Project::called("shop").unwrap();
        let directory = place.path().join("shop");
        fs::create_dir(&directory).unwrap();
        let written = project.write(&directory, "x").unwrap();
        assert_eq!(written, FILES.map(|(path, _)| directory.join(path)));
        let message = project.write(&directory, "x").unwrap_err().message;
        assert!(
            message.ends_with(
                "is not empty, and nothing in it is overwritten; choose another name, or empty it"
            ),
            "{message}"
        );
        let file = directory.join("README.md");
        assert!(
            project
                .write(&file, "x")
                .unwrap_err()
                .message
                .contains("cannot become the project's directory")
        );
        assert!(
            write_new(&file, "lost").is_err()
                && !fs::read_to_string(&file).unwrap().contains("lost")
        );
    }

    #[test]
    fn every_word_is_replaced() {
        let project = Project::called("corner-shop").unwrap();
        let all: String = FILES
            .iter()
            .map(|(_, text)| project.text(text, &dependency(Path::new("/nowhere"))))
            .collect();
        assert!(!all.contains("__"), "{all}");
        let dependency = format!(
            "\nwarpline = {{ version = \"{}\", features = [\"command\"] }}\n",
            env!("CARGO_PKG_VERSION")
        );
        let words = [
            "name = \"corner-shop\"\n",
            &dependency,
            "struct CornerShop {",
            "# corner-shop\n",
            "/target\n",
        ];
        assert!(words.iter().all(|word| all.contains(word)), "{all}");
    }

    #[test]
    fn sources_are_depended_on_as_long_as_they_are_no_package() {
        let place = tempfile::tempdir().unwrap();
        let command = place.path().join("a \"b\"").join("command");
        let sources = command.with_file_name("warpline");
        fs::create_dir_all(&sources).unwrap();
        let version = format!(
            "warpline = {{ version = \"{}\", features = [\"command\"] }}",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(dependency(&command), version);
        fs::write(sources.join("Cargo.toml"), "").unwrap();
        let text = dependency(&command);
        let parsed = toml::de::DeTable::parse(&text).unwrap().into_inner();
        let warpline = parsed["warpline"].get_ref().as_table().unwrap();
        assert_eq!(warpline["path"].get_ref().as_str(), sources.to_str());
        assert_eq!(
            warpline["features"].get_ref().as_array().map(|features| features.len()),
            Some(1)
        );
        assert!(text.starts_with("# From the sources") && text.contains(&version));
        fs::write(sources.join("Cargo.toml.orig"), "").unwrap();
        assert_eq!(dependency(&command), version);
    }
}
