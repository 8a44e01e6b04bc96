//! Presets: settings or parameters under one name, such as those of an experiment in the
//! literature.

use crate::failure::Failure;
use crate::models::catalogue::ModelEntry;
use crate::options::scenario::Scenario;
use crate::output::format;
use crate::settings::GivenSetting;
use warpline_run::{Preset, nearest};

/// The beginning of the place of a setting that a preset gives.
pub(crate) const PRESET: &str = "preset ";

/// Presets of engines, for any model. They set settings of a run.
pub(crate) const OF_ENGINES: &[Preset] = &[
    Preset {
        name: "usik-2s",
        about: "synchronous GVT by messages: mode 2S of Perumalla, Park and Tipparaju, ACM TOMACS \
                24(3), 2014, §2.5",
        values: &[("horizon", "gvt"), ("gvt", "synchronous"), ("barrier", "tree")],
    },
    Preset {
        name: "usik-2a",
        about: "asynchronous GVT by messages: their mode 2A, §2.6",
        values: &[("horizon", "gvt"), ("gvt", "asynchronous")],
    },
    Preset {
        name: "usik-1a",
        about: "asynchronous GVT by writing into each other's memory: their mode 1A, §2.7",
        values: &[("horizon", "gvt"), ("gvt", "one-sided")],
    },
    Preset {
        name: "gsu",
        about: "GVT from the registers of a Global Synchronization Unit: Lynch and Riley, PADS \
                2009",
        values: &[("horizon", "gvt"), ("gvt", "gsu")],
    },
    Preset {
        name: "gsu-zero-copy",
        about: "conservative processes with a PE each, whose messages lie in shared memory, and \
                GVT from such registers: Riley, Hardware Supported Multi-Core Communications, \
                final technical report, Georgia Institute of Technology; two, unless --processes \
                says how many",
        values: &[
            ("sync", "conservative"),
            ("processes", "2"),
            ("threads", "1"),
            ("zero-copy", "yes"),
            ("horizon", "gvt"),
            ("gvt", "gsu"),
        ],
    },
    Preset {
        name: "ross-mt-baseline",
        about: "Time Warp with a thread for each PE, before it was optimised: one locked queue and \
                one pool for each, the one freed first used first, copies of messages, and a \
                barrier on which PEs sleep: Jagtap, Abu-Ghazaleh and Ponomarev, IPDPS 2012, §III",
        values: &[
            ("sync", "optimistic"),
            ("use-lookahead", "no"),
            ("go-ahead", "always"),
            ("mailbox", "shared"),
            ("messages", "copy"),
            ("pool", "sender"),
            ("pool-order", "fifo"),
            ("gvt", "synchronous"),
            ("barrier", "condvar"),
            ("batch", "8"),
            ("gvt-interval", "2048"),
            ("kps", "16"),
        ],
    },
    Preset {
        name: "ross-mt",
        about: "the same with all of their optimisations: a queue for each sender, memory pools \
                split by where it came from, the one freed last used first, one copy of a message \
                for both, and a barrier at which PEs watch a counter, §IV",
        values: &[
            ("sync", "optimistic"),
            ("use-lookahead", "no"),
            ("go-ahead", "always"),
            ("mailbox", "per-sender"),
            ("messages", "shared"),
            ("pool", "partitioned"),
            ("pool-order", "lifo"),
            ("gvt", "synchronous"),
            ("barrier", "central"),
            ("batch", "8"),
            ("gvt-interval", "2048"),
            ("kps", "16"),
        ],
    },
    Preset {
        name: "gtw-receiver",
        about: "Time Warp in shared memory with direct cancellation, whose buffers are in the \
                pools of receivers: Fujimoto and Panesar, PADS 1995, §3.1",
        values: &[
            ("sync", "optimistic"),
            ("use-lookahead", "no"),
            ("go-ahead", "always"),
            ("mailbox", "shared"),
            ("messages", "shared"),
            ("pool", "receiver"),
        ],
    },
    Preset {
        name: "gtw-sender",
        about: "the same with buffers in the pools of senders, and a pool of all that evens them \
                out, §3.2",
        values: &[
            ("sync", "optimistic"),
            ("use-lookahead", "no"),
            ("go-ahead", "always"),
            ("mailbox", "shared"),
            ("messages", "shared"),
            ("pool", "sender"),
        ],
    },
    Preset {
        name: "gtw-partitioned",
        about: "the same with sub-pools of a fixed size for every two PEs, and fossil collection \
                on the fly, §5 and §6; their size fills about 8 MB for each of 8 PEs",
        values: &[
            ("sync", "optimistic"),
            ("use-lookahead", "no"),
            ("go-ahead", "always"),
            ("mailbox", "shared"),
            ("messages", "shared"),
            ("pool", "partitioned"),
            ("sub-pool", "1024"),
            ("fossil-collection", "on-the-fly"),
        ],
    },
    Preset {
        name: "ross-mpi",
        about: "Time Warp with a process for each PE, messages copied by MPI, and synchronous GVT \
                by its collective reductions: the baseline of Jagtap, Abu-Ghazaleh and Ponomarev, \
                IPDPS 2012; to be started by mpirun, or with --processes and --barrier tree",
        values: &[
            ("sync", "optimistic"),
            ("use-lookahead", "no"),
            ("go-ahead", "always"),
            ("threads", "1"),
            ("zero-copy", "no"),
            ("gvt", "synchronous"),
            ("barrier", "all-reduce"),
            ("batch", "8"),
            ("gvt-interval", "2048"),
            ("kps", "16"),
        ],
    },
    Preset {
        name: "ross-cmt",
        about: "Time Warp with several PEs in each process, the first of which sends and receives \
                for all: the baseline of Williams, Eker, Chiu and Ponomarev, SIGSIM-PADS 2021, §3; \
                to be started by mpirun, or with --processes",
        values: &[
            ("sync", "optimistic"),
            ("use-lookahead", "no"),
            ("go-ahead", "always"),
            ("zero-copy", "no"),
            ("communication", "worker"),
            ("communication-ring", "per-sender"),
            ("gvt", "synchronous"),
            ("barrier", "tree"),
        ],
    },
    Preset {
        name: "ross-mc-cmt",
        about: "the same with a thread that does nothing but send and receive, to which PEs hand \
                messages in a ring with compare-and-swap: their optimisation 1, §4.1; and that \
                asks for GVT, by an interval that adapts to how busy PEs are: their optimisation 3",
        values: &[
            ("sync", "optimistic"),
            ("use-lookahead", "no"),
            ("go-ahead", "always"),
            ("zero-copy", "no"),
            ("communication", "dedicated"),
            ("communication-ring", "cas"),
            ("gvt", "synchronous"),
            ("barrier", "tree"),
            ("gvt-interval-control", "adaptive"),
        ],
    },
];

/// The settings or parameters of a preset.
///
/// # Errors
/// If neither the model nor an engine has a preset of this name. The message lists all.
pub(crate) fn find(name: &str, entry: &ModelEntry) -> Result<Scenario, Failure> {
    let given = |preset: &Preset| {
        let value = |(name, text): &(&str, &str)| GivenSetting {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
            place: Some(format!("{PRESET}`{}`", preset.name)),
        };
        preset.values.iter().map(value).collect::<Vec<_>>()
    };
    let of = |presets: &[Preset]| presets.iter().find(|preset| preset.name == name).map(given);
    let scenario = |settings, parameters| Scenario { model: entry.name, settings, parameters };
    if let Some(parameters) = of(entry.presets) {
        return Ok(scenario(Vec::new(), parameters));
    }
    if let Some(settings) = of(OF_ENGINES) {
        return Ok(scenario(settings, Vec::new()));
    }
    let known: Vec<&str> =
        entry.presets.iter().chain(OF_ENGINES).map(|preset| preset.name).collect();
    let hint = format::did_you_mean(nearest(name, known.iter().copied()).as_deref());
    Err(Failure::wrong_use(format!(
        "there is no preset `{name}` for `{}`{hint} (there are: {})",
        entry.name,
        known.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_models::two;
    use warpline_run::Settings;

    /// Presets of engines contain only settings, with valid values.
    #[test]
    fn presets_of_the_engine_are_settings() {
        for preset in OF_ENGINES {
            let mut settings = Settings::default();
            for (name, value) in preset.values {
                settings
                    .set(name, value)
                    .unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            }
            assert!(settings.synchronisation().is_ok(), "{}", preset.name);
        }
    }

    #[test]
    fn an_unknown_preset_gets_a_suggestion() {
        let entry = &two().entries[0];
        let found = find("usik-1a", entry).unwrap().settings;
        let found: Vec<_> = found.iter().map(|given| (&*given.name, &*given.text)).collect();
        assert_eq!(found, [("horizon", "gvt"), ("gvt", "one-sided")]);
        let refused = find("usik-3s", entry).unwrap_err().message;
        assert!(
            refused.starts_with(
                "there is no preset `usik-3s` for `mm1`; did you mean `usik-2s`? (there are: "
            ),
            "{refused}"
        );
    }
}
