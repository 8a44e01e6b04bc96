//! The room that messages between PEs need: a ring from each to each.

use warpline_memory::{Account, Region};
use warpline_model::Model;
use warpline_transport::ring_port_bytes;

use super::common::Common;
use crate::job::Job;
use crate::machine::budget::RunBudget;
use crate::plan::ParallelPlan;
use crate::settings::SettingValue;
use crate::{Error, Mailbox};

impl<M: Model> Job<M> {
    /// Checks that there may be rings between all PEs of a machine, before any process is started
    /// for them.
    ///
    /// # Errors
    /// If they alone take more than the run may.
    pub(crate) fn check_room(&self, plan: &ParallelPlan) -> Result<(), Error> {
        let (pes, processes, mailbox) = (plan.pes, plan.processes.count, plan.wires.mailbox);
        let near = match plan.processes.machines {
            _ if processes > 1 && !plan.wires.far.shares => pes.div_ceil(processes),
            Some(machines) => pes.div_ceil(machines.count.max(1)),
            None => pes,
        };
        let (needed, limit) =
            (rings::<M>(near, processes, mailbox), RunBudget::limit(self.settings.memory()));
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
    /// An account for the rings between the PEs of this machine. What processes share, the first
    /// has taken for all.
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

/// How many bytes the rings between so many PEs take, if there are rings: processes have no other
/// mailboxes.
fn rings<M: Model>(pes: u32, processes: u32, mailbox: Option<Mailbox>) -> u64 {
    if processes > 1 || mailbox == Some(Mailbox::PerSender) {
        ring_port_bytes::<M::Event>(pes.max(1))
    } else {
        0
    }
}
