//! What a shell needs to complete command lines.

use std::path::Path;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use crate::verbs::COMPLETIONS;

const SHELL: &str = "SHELL";

/// The command, of the program `name`.
pub(super) fn command(name: &str) -> Command {
    Command::new(COMPLETIONS)
        .about("Print what a shell needs to complete commands, models and options")
        .arg(
            Arg::new(SHELL)
                .required(true)
                .value_parser(value_parser!(Shell))
                .help("The shell that reads it"),
        )
        .after_help(format!(
            "Examples:\n  {name} {COMPLETIONS} bash > ~/.local/share/bash-completion/completions/{file}\n  \
             {name} {COMPLETIONS} zsh > ~/.zfunc/_{file}\n  \
             {name} {COMPLETIONS} fish > ~/.config/fish/completions/{file}.fish",
            file = typed(name)
        ))
}

/// The text for the shell that the command line names.
pub(super) fn text(mut whole: Command, name: &str, matches: &ArgMatches) -> String {
    let shell = matches.get_one::<Shell>(SHELL).copied().unwrap_or(Shell::Bash);
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut whole, typed(name), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The program's name as shells look it up: without the way to it.
fn typed(name: &str) -> String {
    Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy().into_owned())
}
