//! Fenced blocks of a document in Markdown.

/// A block between two fences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The first word of the fence, such as `sh`.
    pub(super) language: String,
    /// The other words, such as `long`.
    pub(super) marks: Vec<String>,
    /// What lies between the fences.
    pub(super) text: String,
    /// The line of the first fence, from 1.
    pub(super) line: usize,
}

impl Block {
    pub(super) fn is_marked(&self, mark: &str) -> bool {
        self.marks.iter().any(|one| one == mark)
    }
}

const FENCE: &str = "```";

/// All blocks of a document, in order.
pub(super) fn blocks(document: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut is_open = false;
    for (number, line) in document.lines().enumerate() {
        match line.strip_prefix(FENCE) {
            Some(_) if is_open => is_open = false,
            Some(info) => {
                let mut words = info.split(',').map(|word| word.trim().to_owned());
                let language = words.next().unwrap_or_default();
                found.push(Block {
                    language,
                    marks: words.collect(),
                    text: String::new(),
                    line: number + 1,
                });
                is_open = true;
            }
            None if is_open => {
                let block = found.last_mut().expect("a block is open");
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {}
        }
    }
    assert!(!is_open, "a block is not closed");
    found
}

/// The document without its blocks.
pub(super) fn prose(document: &str) -> String {
    let fence = format!("\n{FENCE}");
    document.split(&fence).step_by(2).collect::<Vec<_>>().join("\n")
}

#[test]
fn blocks_have_a_language_marks_and_text() {
    let text = "a\n```sh,long\nwarpline run mm1\n```\nb\n```text\nx\ny\n```\n";
    let found = blocks(text);
    assert_eq!(
        (found[0].language.as_str(), found[0].text.as_str(), found[0].line),
        ("sh", "warpline run mm1\n", 2)
    );
    assert!(found[0].is_marked("long") && !found[1].is_marked("long"));
    assert_eq!(found[1].text, "x\ny\n");
    assert!(prose(text).contains("\nb") && !prose(text).contains("warpline"));
}
