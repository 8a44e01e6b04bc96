//! LPs are initialised in the steps of their PE.
//!
//! `init` of LP 7 is the moment `Init(7)`. A step initialises a batch of LPs. What they send, and
//! their faults, are handled like those of certain events. A PE publishes no bound before all of
//! its LPs are initialised.

use warpline_base::{LpId, Moment, VirtualTime};
use warpline_memory::{catch_panic, try_drop};
use warpline_model::Fault;

use super::Pe;
use crate::faults::panics::panic_message;
use crate::pe::types::{PeTypes, StateOf};

impl<T: PeTypes> Pe<'_, T> {
    /// Initialises a batch of the remaining LPs, and returns how many.
    pub(in crate::pe) fn initialise_lps(&mut self) -> u32 {
        let before = self.lps.initialised();
        let until = before + self.world.tuning().batch as usize;
        while !self.faults.init_failed()
            && !self.lps.all_initialised()
            && self.lps.initialised() < until
        {
            let id = self.lps.next();
            match self.initialise(id) {
                Ok(state) => {
                    if self.executor.has_timers() {
                        self.send_certain::<true>(None, id, 0);
                    } else {
                        self.send_certain::<false>(None, id, 0);
                    }
                    let index = self.lps.push(state);
                    self.executor.settle_timers(index);
                }
                Err(fault) => self.faults.fail_init(fault),
            }
        }
        let initialised = self.lps.initialised() - before;
        self.gauge.initialised(initialised, self.lps.all_initialised());
        initialised as u32
    }

    fn initialise(&mut self, id: LpId) -> Result<StateOf<T>, Fault> {
        let state =
            catch_panic(|| self.executor.init(self.world.model(), id)).map_err(|panic| {
                // A fault before the panic takes precedence.
                self.executor.take_fault().unwrap_or_else(|| Fault::Panic(panic_message(panic)))
            })?;
        let fault = self.executor.take_fault().map_or(Ok(()), Err);
        let begun = fault.and_then(|()| {
            self.effects.observe(
                self.executor.observations_mut(),
                Moment::Init(id),
                id,
                VirtualTime::ZERO,
            )
        });
        match begun {
            Ok(()) => Ok(state),
            Err(fault) => {
                // The first mistake is the failure, so a panic here is ignored.
                _ = try_drop(state);
                Err(fault)
            }
        }
    }
}
