//! The memory that a run may take on its machine.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};
use warpline_memory::{Account, Budget, Region};

use super::{control_groups, memory_use};
use crate::MemoryLimit;
use crate::settings::{SettingError, SettingValue};

/// The budget of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunBudget {
    budget: Budget,
    /// What the process held before the run began, in bytes, without pages of files. The budget
    /// also counts what was resident of the program at that time, but not what the run loads of it
    /// later, as the system may drop that at any time.
    held_before: u64,
    /// Whether the process is alone, so that what it takes is what the run takes.
    is_alone: bool,
}

impl RunBudget {
    /// The budget of this many processes of one machine, which share what lies in `region`.
    ///
    /// # Errors
    /// If the program alone takes more than the limit.
    pub(crate) fn new(
        limit: MemoryLimit,
        region: &Region,
        processes: u32,
    ) -> Result<Self, SettingError> {
        let all = RunBudget::limit(limit);
        // Processes that share no memory get equal parts of the budget.
        let (mine, sharers) =
            if region.is_shared() { (all, processes) } else { (all / u64::from(processes), 1) };
        let base = memory_use::resident().unwrap_or_default();
        let programs = base.saturating_mul(sharers.into());
        let rest = mine.checked_sub(programs).filter(|rest| *rest > 0).ok_or_else(|| {
            SettingError::Value {
                name: "memory".to_owned(),
                value: limit.text(),
                range: format!(
                    "more than the {:.1} MB that the program takes before any event",
                    programs as f64 / 1e6
                ),
                nearest: None,
            }
        })?;
        let held_before = memory_use::held().unwrap_or(u64::MAX);
        let budget = Budget::new(region, rest, programs);
        let is_alone = processes == 1;
        Ok(RunBudget {
            budget: if is_alone { budget.with_payloads() } else { budget },
            held_before,
            is_alone,
        })
    }

    /// The limit in bytes, on this machine.
    pub(crate) fn limit(limit: MemoryLimit) -> u64 {
        match limit {
            MemoryLimit::Bytes(bytes) => bytes,
            MemoryLimit::Share(share) => (share * of_machine() as f64) as u64,
        }
    }

    /// A budget of this many bytes for the engine alone, whatever the program takes.
    pub(crate) fn of_engine(bytes: u64) -> Self {
        RunBudget {
            budget: Budget::new(&Region::own(), bytes, 0),
            held_before: u64::MAX,
            is_alone: true,
        }
    }

    /// An account of an engine or a PE.
    pub(crate) fn account(&self) -> Account {
        self.budget.account()
    }

    /// Notes what the process takes, as the engine does not know what states and events allocate.
    pub(crate) fn look(&self) {
        if self.is_alone
            && let Some(held) = memory_use::held()
        {
            self.budget.note_taken(held.saturating_sub(self.held_before));
        }
    }
}

/// The memory of this machine, in bytes, or what the process may take of it, if that is less.
fn of_machine() -> u64 {
    let system = System::new_with_specifics(
        RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram()),
    );
    let total = system.total_memory();
    control_groups::memory_limit().map_or(total, |limit| limit.min(total))
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_what_the_program_leaves() {
        let region = Region::own();
        let refused = RunBudget::new(MemoryLimit::Bytes(1000), &region, 1).unwrap_err().to_string();
        assert!(
            refused.starts_with("`memory` cannot be `1000B`: it takes more than the "),
            "{refused}"
        );
        let half = RunBudget::new(MemoryLimit::Share(0.5), &region, 1).unwrap();
        assert!(
            half.budget.limit() < of_machine() / 2 && half.budget.limit() > of_machine() / 4,
            "{half:?}"
        );
    }

    #[test]
    fn what_the_engine_does_not_know_of_counts() {
        let budget = RunBudget::new(MemoryLimit::Share(1.0), &Region::own(), 1).unwrap();
        let hidden = vec![1u8; 50_000_000];
        budget.look();
        let taken = budget.account().settle(0);
        assert!(taken > 40_000_000, "{taken} {}", hidden.len());
    }
}
