//! The machines that the program has built in, and those in files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use warpline_model::nearest;

use crate::{Machine, MachineError, file};

/// Profiles by name.
const PROFILES: [(&str, &str); 10] = [
    ("loggops-default", include_str!("../profiles/loggops-default.toml")),
    ("cray-xt5", include_str!("../profiles/cray-xt5.toml")),
    // The same machine with noise of two kinds.
    (
        "cray-xt5-interrupted",
        concat!(
            include_str!("../profiles/cray-xt5.toml"),
            include_str!("../profiles/interruptions.toml")
        ),
    ),
    (
        "cray-xt5-stragglers",
        concat!(
            include_str!("../profiles/cray-xt5.toml"),
            include_str!("../profiles/stragglers.toml")
        ),
    ),
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

/// The machine at hand, as it was last measured.
pub const THIS: &str = "this";
/// The variable that names the file of the machine at hand.
const VARIABLE: &str = "WARPLINE_MACHINE_THIS";

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

/// Where the file of the machine at hand is, or would be: what the variable `WARPLINE_MACHINE_THIS`
/// names, or else `warpline/this.toml` in the user's directory of configurations.
///
/// # Errors
/// If the user has no such directory.
pub fn place_of_this() -> Result<PathBuf, MachineError> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let directories = etcetera::choose_base_strategy()
        .map_err(|cause| MachineError::NoPlace { cause: cause.to_string(), variable: VARIABLE })?;
    Ok(directories.config_dir().join("warpline").join("this.toml"))
}

/// The machine at hand.
fn open_this() -> Result<Machine, MachineError> {
    let place = place_of_this()?;
    let path = place.display().to_string();
    match std::fs::read_to_string(&place) {
        Ok(text) => file::read(THIS, &path, &text),
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            Err(MachineError::NotCalibrated { path })
        }
        Err(cause) => Err(MachineError::Unreadable { path, cause: cause.to_string() }),
    }
}

/// The machine of this name: a profile, [`THIS`], or a TOML file.
///
/// # Errors
/// If there is none, or the file does not describe one.
pub fn open(name: &str) -> Result<Machine, MachineError> {
    if let Some((name, text)) = PROFILES.iter().find(|(known, _)| *known == name) {
        return file::read(name, name, text);
    }
    if name == THIS {
        return open_this();
    }
    let path = Path::new(name);
    if !path.is_file() && !name.ends_with(".toml") {
        let all = || names().chain([THIS]);
        let known = all().collect::<Vec<_>>().join(", ");
        return Err(MachineError::Unknown {
            name: name.to_owned(),
            known,
            nearest: nearest(name, all()),
        });
    }
    let text = std::fs::read_to_string(path).map_err(|cause| MachineError::Unreadable {
        path: name.to_owned(),
        cause: cause.to_string(),
    })?;
    let stem = path.file_stem().map(PathBuf::from).unwrap_or_default();
    file::read(&stem.display().to_string(), name, &text)
}
