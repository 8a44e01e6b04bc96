/// Why there is no such machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// Neither a profile nor a file.
    #[error("there is no machine `{name}`: it is neither a file nor one of {known}{}", hint(.nearest))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The profiles.
        known: String,
        /// The most similar one.
        nearest: Option<String>,
    },
    /// A file that cannot be read.
    #[error("cannot read the machine {path}: {cause}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        cause: String,
    },
    /// A file that cannot be written.
    #[error("cannot write the machine {path}: {cause}")]
    Unwritable {
        /// The file.
        path: String,
        /// Why.
        cause: String,
    },
    /// The machine at hand has not been measured.
    #[error(
        "the machine `this` has not been measured: run `warpline calibrate`, which writes {path}"
    )]
    NotCalibrated {
        /// Where its file would be.
        path: String,
    },
    /// There is no place for the file of the machine at hand.
    #[error("there is no place for the machine `this`, as {cause}; name a file in {variable}")]
    NoPlace {
        /// Why.
        cause: String,
        /// The variable that may name one.
        variable: &'static str,
    },
    /// Not TOML.
    #[error("{file}: {cause}")]
    Syntax {
        /// The file.
        file: String,
        /// Why, and in which line.
        cause: String,
    },
    /// A key that means nothing.
    #[error("{file}: there is no `{key}` in a machine{}", hint(.nearest))]
    Key {
        /// The file.
        file: String,
        /// The key, with the table that it is in.
        key: String,
        /// The most similar one.
        nearest: Option<String>,
    },
    /// A figure that must be there.
    #[error("{file}: `{key}` is missing; give it as {example}")]
    Missing {
        /// The file.
        file: String,
        /// The figure.
        key: String,
        /// How it is written.
        example: String,
    },
    /// A figure that does not say where it comes from.
    #[error(
        "{file}: `{key}` needs an origin, which is \"measured\", or begins with \"measured: \", \
         \"assumed: \" or \"published: \""
    )]
    Origin {
        /// The file.
        file: String,
        /// The figure.
        key: String,
    },
    /// A value that it cannot have.
    #[error("{file}: `{key}` cannot be {value}: {takes}")]
    Value {
        /// The file.
        file: String,
        /// The figure.
        key: String,
        /// Its value.
        value: String,
        /// What it takes, in words.
        takes: String,
    },
    /// More PEs than the machine has cores.
    #[error("machine `{name}` has {nodes} nodes of {cores} cores, too few for {pes} PEs")]
    TooSmall {
        /// The machine.
        name: String,
        /// Its nodes.
        nodes: u64,
        /// Cores of a node.
        cores: u32,
        /// The PEs that were asked for.
        pes: u32,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|word| format!("; did you mean `{word}`?")).unwrap_or_default()
}
