//! The code in the book compiles and runs: each chapter is a documentation test. The project of the
//! tutorial is tested with the command, where the tutorial is followed.

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
    Coroutines: "../../../docs/book/src/coroutines.md",
    Ranks: "../../../docs/book/src/ranks.md",
    Engines: "../../../docs/book/src/engines.md",
    Settings: "../../../docs/book/src/settings.md",
    Processes: "../../../docs/book/src/processes.md",
    Traces: "../../../docs/book/src/traces.md",
    Errors: "../../../docs/book/src/errors.md",
    SimPy: "../../../docs/book/src/simpy.md",
    Ross: "../../../docs/book/src/ross.md",
}
