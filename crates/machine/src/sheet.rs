//! Machine files that are written by programs.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::{Machine, MachineError, file};

/// A machine file in the making: tables, and in them figures with their units and origins.
///
/// ```
/// let mut sheet = warpline_machine::Sheet::new("one core");
/// sheet.table("node");
/// sheet.count("cores", 1, "measured: by looking");
/// assert!(sheet.text().contains("cores = { count = 1, origin = \"measured: by looking\" }"));
/// assert!(sheet.machine("mine").unwrap_err().to_string().contains("`near.latency` is missing"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet(String);

impl Sheet {
    /// A file that says in a line what the machine is.
    pub fn new(about: &str) -> Self {
        let mut sheet = Sheet::default();
        sheet.line(format_args!("about = {}", quoted(about)));
        sheet
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("a text takes all that is written");
    }

    /// Begins the next table.
    pub fn table(&mut self, name: &str) {
        self.line(format_args!("\n[{name}]"));
    }

    /// A word, such as the topology of a network.
    pub fn word(&mut self, key: &str, word: &str) {
        self.line(format_args!("{key} = {}", quoted(word)));
    }

    fn figure(&mut self, key: &str, unit: &str, number: impl std::fmt::Display, origin: &str) {
        self.line(format_args!("{key} = {{ {unit} = {number}, origin = {} }}", quoted(origin)));
    }

    /// A span of time, in seconds, to four digits.
    pub fn time(&mut self, key: &str, seconds: f64, origin: &str) {
        self.figure(key, "ns", significant(seconds * 1e9), origin);
    }

    /// A bandwidth, in bytes per second, to four digits.
    pub fn bandwidth(&mut self, key: &str, bytes: f64, origin: &str) {
        self.figure(key, "gb_per_s", significant(bytes / 1e9), origin);
    }

    /// A count.
    pub fn count(&mut self, key: &str, count: usize, origin: &str) {
        self.figure(key, "count", count, origin);
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The machine that it describes, under this name.
    ///
    /// # Errors
    /// If it does not describe one.
    pub fn machine(&self, name: &str) -> Result<Machine, MachineError> {
        file::read(name, name, &self.0)
    }

    /// Writes the file, and the directories that it is in. Whoever reads it meanwhile finds the old
    /// one or the new one.
    ///
    /// # Errors
    /// If it does not describe a machine, or cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), MachineError> {
        self.machine(&path.display().to_string())?;
        let unwritable = |cause: std::io::Error| MachineError::Unwritable {
            path: path.display().to_string(),
            cause: cause.to_string(),
        };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(unwritable)?;
        }
        let aside = path.with_extension(format!("toml.{}", std::process::id()));
        fs::write(&aside, &self.0).map_err(unwritable)?;
        fs::rename(&aside, path).map_err(|cause| {
            _ = fs::remove_file(&aside);
            unwritable(cause)
        })
    }
}

/// A text of TOML on one line.
fn quoted(text: &str) -> String {
    let plain = text.replace(char::is_control, " ");
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A number of four digits.
fn significant(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}
