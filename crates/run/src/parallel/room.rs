//! The room that PEs need: rings for messages between them, and all PEs of a modelled machine.

use warpline_kernel::Lp;
use warpline_memory::{Account, Region};
use warpline_model::Model;
use warpline_transport::{cas_port_bytes, ring_port_bytes};

use super::common::Common;
use crate::job::Job;
use crate::machine::budget::RunBudget;
use crate::plan::ParallelPlan;
use crate::settings::SettingValue;
use crate::{Error, Mailbox};

/// What a PE of a modelled machine takes beside its LPs and events, in bytes.
const PE_BYTES: u64 = 14_000;

impl<M: Model> Job<M> {
    /// Checks that there is room for rings between all PEs of a machine, before any process is
    /// started for them, or for all PEs of a modelled machine.
    ///
    /// # Errors
    /// If that alone exceeds the memory limit.
    pub(crate) fn check_room(&self, plan: &ParallelPlan) -> Result<(), Error> {
        if let Some(machine) = &plan.machine {
            return self.check_room_of_machine(&machine.name, plan.pes);
        }
        let pes = plan.pes;
        let processes = plan.processes.count;
        let near = match plan.processes.machines {
            _ if processes > 1 && !plan.wires.far.shares => pes.div_ceil(processes),
            Some(machines) => pes.div_ceil(machines.count.max(1)),
            None => pes,
        };
        let needed = rings::<M>(near, processes, plan.wires.mailbox);
        let limit = RunBudget::limit(self.settings.memory());
        if needed <= limit {
            return Ok(());
        }
        let how = if processes > 1 {
            "fewer --processes or --threads"
        } else {
            "fewer --threads, or --mailbox shared"
        };
        Err(Error::Setting(format!(
            "{near} PEs need {:.2} GB for the messages between any two of them, and --memory is {} \
             ({:.2} GB here): use {how}",
            needed as f64 / 1e9,
            self.settings.memory().text(),
            limit as f64 / 1e9
        )))
    }

    /// Checks that there is room for the PEs of a modelled machine, and their LPs.
    fn check_room_of_machine(&self, machine: &str, pes: u32) -> Result<(), Error> {
        let setting = self.settings.memory();
        let limit = RunBudget::limit(setting);
        let of_lps = u64::from(self.model.lps()) * size_of::<Lp<M::State>>() as u64;
        let needed = of_lps + u64::from(pes) * PE_BYTES;
        if needed <= limit {
            return Ok(());
        }
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        let needs = format!(
            "{pes} PEs of machine `{machine}` and their LPs need at least {:.2} GB, without \
             events, and --memory is {} ({:.2} GB here)",
            gigabytes(needed),
            setting.text(),
            gigabytes(limit)
        );
        Err(Error::Setting(match limit.saturating_sub(of_lps) / PE_BYTES {
            0 => format!("{needs}: use fewer LPs, or more memory"),
            fit => format!("{needs}: {fit} PEs would fit"),
        }))
    }
}

impl<M: Model> Common<'_, M> {
    /// An account for the rings between the PEs of this machine. The first process accounts for
    /// what all share.
    pub(super) fn account_for_rings(&self, region: &Region) -> Account {
        let mut account = self.budget.account();
        if region.is_first() {
            account.settle(rings::<M>(
                self.task.near.len() as u32,
                self.plan.processes.count,
                self.plan.wires.mailbox,
            ));
        }
        account
    }
}

/// The bytes that rings between so many PEs take; 0 if they have other mailboxes, which grow as they
/// are used.
fn rings<M: Model>(pes: u32, processes: u32, mailbox: Option<Mailbox>) -> u64 {
    match mailbox {
        Some(Mailbox::Cas) => cas_port_bytes::<M::Event>(pes),
        Some(Mailbox::PerSender) => ring_port_bytes::<M::Event>(pes.max(1)),
        _ if processes > 1 => ring_port_bytes::<M::Event>(pes.max(1)),
        _ => 0,
    }
}
