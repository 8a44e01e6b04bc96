//! The machines that the program has built in, and those in files.

use std::path::{Path, PathBuf};

use warpline_model::nearest;

use crate::{Machine, MachineError, file};

/// Profiles by name.
const PROFILES: [(&str, &str); 8] = [
    ("loggops-default", include_str!("../profiles/loggops-default.toml")),
    ("cray-xt5", include_str!("../profiles/cray-xt5.toml")),
    ("infiniband", include_str!("../profiles/infiniband.toml")),
    ("knl-10gbe", include_str!("../profiles/knl-10gbe.toml")),
    ("multicore", include_str!("../profiles/multicore.toml")),
    ("multicore-copies", include_str!("../profiles/multicore-copies.toml")),
    // The same chip with one device more, and with both.
    (
        "multicore-gsu",
        concat!(
            include_str!("../profiles/multicore.toml"),
            include_str!("../profiles/registers.toml")
        ),
    ),
    (
        "multicore-gsu-mailboxes",
        concat!(
            include_str!("../profiles/multicore.toml"),
            include_str!("../profiles/registers.toml"),
            include_str!("../profiles/mailboxes.toml")
        ),
    ),
];

/// The names of the profiles that are built in.
///
/// ```
/// let machine = warpline_machine::open("cray-xt5")?;
/// assert!(warpline_machine::names().any(|name| name == machine.name));
/// assert_eq!((machine.cores, machine.nodes(216_000)), (12, 18_000));
/// # Ok::<(), warpline_machine::MachineError>(())
/// ```
pub fn names() -> impl Iterator<Item = &'static str> {
    PROFILES.iter().map(|(name, _)| *name)
}

/// The machine of this name: a profile, or a TOML file.
///
/// # Errors
/// If there is none, or the file does not describe one.
pub fn open(name: &str) -> Result<Machine, MachineError> {
    if let Some((name, text)) = PROFILES.iter().find(|(known, _)| *known == name) {
        return file::read(name, name, text);
    }
    let path = Path::new(name);
    if !path.is_file() && !name.ends_with(".toml") {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(MachineError::Unknown {
            name: name.to_owned(),
            known,
            nearest: nearest(name, names()),
        });
    }
    let text = std::fs::read_to_string(path).map_err(|cause| MachineError::Unreadable {
        path: name.to_owned(),
        cause: cause.to_string(),
    })?;
    let stem = path.file_stem().map(PathBuf::from).unwrap_or_default();
    file::read(&stem.display().to_string(), name, &text)
}
