//! RCPHOLD on modelled cores of the paper's machine.

use warpline::command::{StudyCase, Way};

/// LPs of a core and messages of an LP: the paper's, and how many messages LPs have here.
pub(super) const STRUCTURES: [Structure; 2] = [(10, 1000, 10), (100, 100, 1)];
pub(super) type Structure = (u32, u32, u32);

pub(super) const DIFFERS: &str = "the machine is modelled, and most figures of `cray-xt5` are \
                                  assumed, as its file says; LPs have a hundredth of the messages, \
                                  and runs end at 8 at most, not at 1 000, so that PEs have far \
                                  less to do between two computations of GVT, and GVT matters \
                                  more; optimistic PEs go no farther ahead than the lookahead \
                                  before the seventh computation";

/// RCPHOLD on so many cores. A cluster is a core, and messages go to the neighbouring ones.
pub(super) fn rcphold(cores: u32, structure: Structure, sync: &str, lookahead: &str) -> StudyCase {
    let (lps, messages, _) = structure;
    let name = format!("{cores} cores, ({lps},{messages}) {sync}, {lookahead}");
    StudyCase::new(name, arguments(cores, structure, sync, lookahead, "cray-xt5")).pes(cores).at(
        "cores",
        format!("({lps},{messages}) {sync}, {lookahead}"),
        cores.into(),
    )
}

/// The options of RCPHOLD with so many clusters on a machine.
pub(super) fn arguments(
    clusters: u32,
    (lps, _, here): Structure,
    sync: &str,
    lookahead: &str,
    machine: &str,
) -> Vec<String> {
    let mut arguments = vec![
        format!("--lps={}", lps * clusters),
        format!("--clusters={clusters}"),
        format!("--population={here}"),
        "--reach=1".to_owned(),
        format!("--lookahead={lookahead}"),
        format!("--sync={sync}"),
        format!("--machine={machine}"),
    ];
    if sync == "optimistic" {
        arguments.extend(["--undo=reverse", "--go-ahead=always"].map(str::to_owned));
    }
    arguments
}

/// The paper's three modes, on modelled machines.
pub(super) fn modes() -> Vec<StudyCase> {
    ["usik-2s", "usik-2a", "usik-1a"].map(|preset| mode(preset, preset, &[])).into()
}

/// A mode of the paper with further settings, on modelled machines.
pub(super) fn mode(name: &str, preset: &str, more: &[&str]) -> StudyCase {
    let preset = format!("--preset={preset}");
    let more = more.iter().map(|&more| more.to_owned());
    StudyCase::new(name, std::iter::once(preset).chain(more)).by(Way::Modelled)
}
