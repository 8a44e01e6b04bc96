//! Every target of the Makefile says what it does in one line, which `make help` shows.

use std::path::Path;

use crate::files::read;

/// The longest line that still fits a terminal behind a target's name.
const LINE_MOST: usize = 100;

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    Ok(breaches(&read(&root.join("Makefile"))?))
}

fn breaches(makefile: &str) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut about: Vec<&str> = Vec::new();
    for line in makefile.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            about.push(text);
        } else if let Some(target) = target(line) {
            match about[..] {
                [text] if text.len() <= LINE_MOST => {}
                [text] => breaches.push(format!(
                    "`make {target}` has {} characters of help, and not at most {LINE_MOST}",
                    text.len()
                )),
                _ => breaches.push(format!(
                    "`make {target}` has {} lines of help, and not one that begins with ##",
                    about.len()
                )),
            }
            about.clear();
        }
    }
    breaches
}

/// The target that a line begins.
fn target(line: &str) -> Option<&str> {
    let (target, rest) = line.split_once(':')?;
    let is_name = target.starts_with(|c: char| c.is_ascii_lowercase())
        && target.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    (is_name && !rest.starts_with('=')).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_one_line_of_help() {
        let makefile =
            ".PHONY: a b\nNAME := x\n## Does this.\n# More about it.\na: b\n\ttrue: b\n\n";
        assert_eq!(breaches(makefile), [""; 0]);
        assert_eq!(
            breaches(&format!("{makefile}b:\n")),
            ["`make b` has 0 lines of help, and not one that begins with ##"]
        );
        assert_eq!(
            breaches("## One.\n## Two.\na-b:\n"),
            ["`make a-b` has 2 lines of help, and not one that begins with ##"]
        );
        assert_eq!(breaches(&format!("## {}\na:\n", "x".repeat(101))).len(), 1);
    }
}
