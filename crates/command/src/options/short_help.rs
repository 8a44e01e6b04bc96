//! What `--help` leaves out. It has what most people need; `--help-all` explains every setting.

use warpline_run::settings::{ENGINE, OUTPUT, PARALLEL, RUN, Setting};

use crate::output::format;
use crate::settings;

/// The settings of engines that everybody may want.
const COMMON: [&str; 6] = ["sync", "threads", "processes", "memory", "machine", "pes"];
/// Settings of runs and of output that few need.
const SELDOM: [&str; 6] =
    ["zero-delay-hops", "scaling", "trace-limit", "state-digest", "follow-limit", "time-limit"];
/// The width of lists of names.
const WIDTH: usize = 78;

/// Whether `--help` shows a setting.
pub(super) fn shows(setting: &Setting) -> bool {
    let name = setting.name.as_str();
    match setting.heading {
        ENGINE | PARALLEL => COMMON.contains(&name),
        _ => !SELDOM.contains(&name),
    }
}

/// The names of the settings of a command that `--help` leaves out, by heading, and how to learn more
/// about them; `line` is how the command is typed. Empty if nothing is left out.
pub(super) fn rest(verb: &str, line: &str) -> String {
    let all = settings::of(verb);
    let names = |heading: &str| -> Vec<String> {
        let hidden = all.iter().filter(|setting| setting.heading == heading && !shows(setting));
        hidden.map(|setting| format!("--{}", setting.name)).collect()
    };
    let groups = [RUN, OUTPUT, ENGINE, PARALLEL].map(|heading| (heading, names(heading)));
    let groups: Vec<String> = groups
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(heading, names)| {
            let rows = format::wrapped(&names.join(" "), WIDTH - 4);
            format!("  {heading}\n    {}", rows.join("\n    "))
        })
        .collect();
    if groups.is_empty() {
        return String::new();
    }
    format!("More settings, which `{line} --help-all` explains:\n{}", groups.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::{RUN as RUN_VERB, TORTURE};

    #[test]
    fn what_is_left_out_is_named_by_group() {
        let rest = rest(RUN_VERB, "shop run");
        assert!(
            rest.starts_with("More settings, which `shop run --help-all` explains:\n"),
            "{rest}"
        );
        for words in ["  Engine settings\n    --", " --gvt ", " --trace-limit"] {
            assert!(rest.contains(words), "{words}: {rest}");
        }
        assert!(!rest.contains("--threads ") && !rest.contains("--end "), "{rest}");
        assert!(rest.lines().all(|line| line.len() <= WIDTH), "{rest}");
    }

    #[test]
    fn every_name_of_these_lists_is_one_of_a_setting() {
        let all: Vec<String> = [RUN_VERB, TORTURE, crate::verbs::VERIFY]
            .iter()
            .flat_map(|verb| settings::of(verb))
            .map(|setting| setting.name)
            .collect();
        for name in COMMON.iter().chain(&SELDOM) {
            assert!(all.iter().any(|known| known == name), "{name}");
        }
    }
}
