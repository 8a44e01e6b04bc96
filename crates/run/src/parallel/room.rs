//! The room that messages between PEs need: a ring from each to each, or one for each.

use warpline_memory::{Account, Region};
use warpline_model::Model;
use warpline_transport::{cas_port_bytes, ring_port_bytes};

use super::common::Common;
use crate::job::Job;
use crate::machine::budget::RunBudget;
use crate::plan::ParallelPlan;
use crate::settings::SettingValue;
use crate::{Error, Mailbox};

impl<M: Model> Job<M> {
    /// Checks that there is room for rings between all PEs of a machine, before any process is
    /// started for them.
    ///
    /// # Errors
    /// If the rings alone exceed the memory limit.
    pub(crate) fn check_room(&self, plan: &ParallelPlan) -> Result<(), Error> {
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
            "{near} PEs need {:.2} GB for the messages between any two of them, and --memory is {} ({:.2} GB here): use {how}",
            needed as f64 / 1e9,
            self.settings.memory().text(),
            limit as f64 / 1e9
        )))
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
