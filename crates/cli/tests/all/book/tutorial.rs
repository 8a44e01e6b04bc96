//! Does what the tutorial tells its reader to do, in a project of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::blocks::{Block, blocks};
use super::document;
use super::shell::{Line, missing, read, shortened};
use crate::support::project::{cargo, lock};
use crate::support::{command, output};

/// What the reader calls the project.
const NAME: &str = "bakery";
/// The end of its runs.
const DEFAULT_END: f64 = 100_000.0;

#[test]
fn the_tutorial_can_be_followed() {
    // Always the same place, so that cargo replaces what it built there before.
    let start = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorial");
    let _ = fs::remove_dir_all(&start);
    fs::create_dir_all(&start).unwrap();
    let mut reader = Reader { directory: start, printed: None };
    for block in blocks(&document("docs/book/src/tutorial.md")) {
        let place = format!("tutorial.md:{}", block.line);
        match block.language.as_str() {
            "sh" => block
                .text
                .lines()
                .filter_map(read)
                .for_each(|line| reader.does(&block, line, &place)),
            "text" => {
                let printed = reader
                    .printed
                    .take()
                    .unwrap_or_else(|| panic!("{place}: no command above prints this"));
                assert_eq!(missing(&block.text, &printed), None, "{place}: not in\n{printed}");
            }
            "rust" => assert!(
                reader.model().contains(&block.text),
                "{place}: the project has no such code"
            ),
            "diff" => reader.edits(&block.text, &place),
            "toml" => {
                let name = block
                    .text
                    .lines()
                    .next()
                    .and_then(|line| line.strip_prefix("# "))
                    .expect("the first line names a file");
                fs::write(reader.directory.join(name), &block.text).unwrap();
            }
            other => panic!("{place}: no test knows blocks of `{other}`"),
        }
    }
}

/// A reader who follows the tutorial.
struct Reader {
    directory: PathBuf,
    /// What the last command printed.
    printed: Option<String>,
}

impl Reader {
    fn does(&mut self, block: &Block, line: Line, place: &str) {
        let Output { status, stdout, stderr } = match line {
            Line::GoTo(directory) => {
                self.directory.push(directory);
                lock(&self.directory);
                return;
            }
            Line::Warpline(arguments) => output(command(&self.directory).args(arguments)),
            Line::Project(arguments) => {
                let arguments = if block.is_marked("long") {
                    shortened(&arguments, DEFAULT_END)
                } else {
                    arguments
                };
                cargo(&self.directory, NAME, &format!("run --quiet -- {}", arguments.join(" ")))
            }
            Line::ProjectTests => cargo(&self.directory, NAME, "test"),
            other => panic!("{place}: no test knows what to do with {other:?}"),
        };
        let printed = [stdout, stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        assert_eq!(status.success(), !block.is_marked("fails"), "{place}: {printed}");
        self.printed = Some(printed);
    }

    fn model(&self) -> String {
        fs::read_to_string(self.directory.join("src/main.rs")).unwrap()
    }

    /// Changes the model as a diff says. Its hunks begin with `@@`.
    fn edits(&self, diff: &str, place: &str) {
        let mut model = self.model();
        for hunk in diff.split("@@\n").skip(1) {
            let side = |other: char| {
                let lines = hunk.lines().filter(|line| !line.starts_with(other));
                lines
                    .map(|line| line.get(1..).unwrap_or_default().to_owned() + "\n")
                    .collect::<String>()
            };
            let before = side('+');
            let after = side('-');
            assert_eq!(
                model.matches(&before).count(),
                1,
                "{place}: the project has this not once:\n{before}"
            );
            model = model.replace(&before, &after);
        }
        fs::write(self.directory.join("src/main.rs"), model).unwrap();
    }
}
