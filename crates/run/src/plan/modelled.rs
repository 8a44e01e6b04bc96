//! The modelled machine of a run, if it is to have one.

use std::sync::Arc;

use warpline_machine::{Machine, MachineError};

use crate::settings::SettingValue;
use crate::{Barrier, Error, GvtAlgorithm, Settings};

/// The machine that the settings name, and how many PEs a model with so many LPs has on it.
///
/// # Errors
/// If there is no such machine, or PEs, LPs and machine do not go together.
pub(crate) fn machine(
    settings: &Settings,
    model: &str,
    lps: u32,
) -> Result<Option<(Arc<Machine>, u32)>, Error> {
    let refuse = |why: String| Err(Error::Setting(why));
    let Some(name) = &settings.machine else {
        let scale = settings.machine_scale.clone().unwrap_or_default();
        return match settings.pes {
            None if scale.is_none() => Ok(None),
            None => refuse(format!(
                "`machine-scale` is `{}`, but there is no `machine` to scale: name one, or leave \
                 it out",
                scale.text()
            )),
            Some(pes) => refuse(format!(
                "`pes` is `{pes}`, but there is no `machine`: name one, as only modelled machines \
                 have it, or set `threads` instead"
            )),
        };
    };
    let machine = match warpline_machine::open(&name.display().to_string()) {
        Ok(machine) => settings.machine_scale.clone().unwrap_or_default().of(machine),
        Err(why) => return refuse(why.to_string()),
    };
    let pes = settings.pes.unwrap_or(machine.cores.min(lps));
    if pes > lps {
        return refuse(format!(
            "`pes` is `{pes}`, but model `{model}` has {lps} LPs, and every PE needs one"
        ));
    }
    let nodes = machine.nodes(pes);
    if let Some(most) = machine.topology.nodes_most().filter(|most| u64::from(nodes) > *most) {
        let Machine { name, cores, .. } = machine;
        return refuse(MachineError::TooSmall { name, nodes: most, cores, pes }.to_string());
    }
    if nodes > 1 && settings.gvt() == GvtAlgorithm::Gsu && machine.registers.is_some() {
        return refuse(format!(
            "`gvt` is `gsu`, but {pes} PEs take {nodes} nodes of machine `{}`, whose registers \
             serve the {} cores of a node: set `pes` to fewer, or `gvt` to `one-sided`",
            machine.name, machine.cores
        ));
    }
    if nodes > 1 && settings.gvt() == GvtAlgorithm::Synchronous {
        let barrier = settings.barrier();
        if barrier == Barrier::Central || barrier == Barrier::Condvar {
            return refuse(format!(
                "`barrier` is `{}`, but {pes} PEs take {nodes} nodes of machine `{}`, which share \
                 no memory to meet in: set it to `tree`",
                barrier.name(),
                machine.name
            ));
        }
    }
    Ok(Some((Arc::new(machine), pes)))
}
