//! The code in the book compiles and runs: each chapter is a documentation test. What the tutorial
//! shows of a project is tested where the tutorial is followed, with the command.

macro_rules! chapters {
    ($($chapter:ident: $path:literal,)*) => {
        $(
            #[doc = include_str!($path)]
            struct $chapter;
        )*
    };
}

chapters! {
    Models: "../../../docs/book/src/models.md",
    Engines: "../../../docs/book/src/engines.md",
    Settings: "../../../docs/book/src/settings.md",
    Processes: "../../../docs/book/src/processes.md",
    Errors: "../../../docs/book/src/errors.md",
    SimPy: "../../../docs/book/src/simpy.md",
    Ross: "../../../docs/book/src/ross.md",
}
