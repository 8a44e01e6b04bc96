//! What a followed LP tells of its processes.

use warpline_base::significant;
use warpline_model::Text;
use warpline_model::record::Deed;

use crate::keys::ProcessKey;
use crate::running::tables::Tables;
use crate::running::waits::What;
use crate::running::{Running, Services, Surroundings};

impl Running<'_> {
    /// Tells that the process that is polled does something.
    #[inline]
    pub(crate) fn tell(&mut self, what: impl FnOnce() -> String) {
        if self.tables.tells {
            let process = self.tables.processes.key(self.tables.current);
            tell(self.tables, self.lp, process, Deed::Does, what());
        }
    }

    /// Tells that a process does something.
    #[inline]
    pub(crate) fn tell_of(&mut self, process: ProcessKey, what: impl FnOnce() -> String) {
        if self.tables.tells {
            tell(self.tables, self.lp, process, Deed::Does, what());
        }
    }

    /// Tells what the process in this place waits for, if it has not told before.
    #[inline]
    pub(crate) fn tell_waits(&mut self, process: u32) {
        if self.tables.tells {
            self.tell_new_waits(process);
        }
    }

    #[cold]
    fn tell_new_waits(&mut self, process: u32) {
        let key = self.tables.processes.key(process);
        for what in self.tables.waits.take_untold(process) {
            // A resource tells who queues for it.
            if let What::Thing(place) = what
                && self.things.tells_itself(place)
            {
                continue;
            }
            let what = match what {
                What::Time(until) | What::Alarm(until, _) => {
                    format!("sleeps until {}", significant(until, 6))
                }
                what => format!("waits for {}", self.tables.describe(what, self.things)),
            };
            tell(self.tables, self.lp, key, Deed::Does, what);
        }
    }
}

impl Surroundings<'_> {
    /// Tells what a process does with a resource.
    #[inline]
    pub(crate) fn tell(&mut self, process: ProcessKey, deed: Deed, resource: &str) {
        if self.tables.tells {
            tell(self.tables, self.lp, process, deed, resource.to_owned());
        }
    }
}

#[cold]
fn tell(tables: &mut Tables, lp: &mut dyn Services, process: ProcessKey, deed: Deed, what: String) {
    let who = tables.processes.name(process);
    lp.tell(who.into(), deed, Text::from(what));
    tables.told += 1;
    tables.tells = lp.may_tell() > tables.told;
}
