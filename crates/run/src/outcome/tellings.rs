//! What followed LPs tell, in the order of their events.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_memory::MakeRoom;
use warpline_model::engine::Followed;
use warpline_model::statistics::Row;
use warpline_model::{Cell, Text};
use warpline_record::{Deed, Told};

/// The most that a run keeps of what is told.
const KEPT_MOST: usize = 100_000;

/// Somebody who hears at once what followed LPs tell.
#[derive(Clone)]
pub(crate) struct Hearer(Arc<dyn Fn(&Told) + Send + Sync>);

impl Hearer {
    pub(crate) fn new(hears: impl Fn(&Told) + Send + Sync + 'static) -> Self {
        Hearer(Arc::new(hears))
    }
}

impl fmt::Debug for Hearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hearer").finish_non_exhaustive()
    }
}

/// Takes what is told, keeps it for the record, and passes it on.
///
/// Invariant: nobody hears more of an LP than that may tell.
#[derive(Debug, Default)]
pub(crate) struct Tellings {
    followed: Followed,
    hearer: Option<Hearer>,
    /// How much each LP has told.
    counts: HashMap<LpId, u32>,
    kept: Vec<Told>,
}

impl Tellings {
    pub(crate) fn new(followed: Followed, hearer: Option<Hearer>) -> Self {
        Tellings { followed, hearer, ..Tellings::default() }
    }

    /// Takes a row of the table into which LPs tell.
    pub(crate) fn add(&mut self, row: Row<'_>) {
        let Some(told) = read(row) else { return };
        let count = self.counts.entry(row.lp).or_insert(0);
        if *count >= self.followed.most(row.lp) {
            return;
        }
        *count += 1;
        if let Some(Hearer(hears)) = &self.hearer {
            hears(&told);
        }
        if self.kept.len() < KEPT_MOST {
            self.kept.make_room(1, "what followed LPs tell");
            self.kept.push(told);
        }
    }

    /// What was told.
    pub(crate) fn finish(self) -> Vec<Told> {
        self.kept
    }
}

fn read(row: Row<'_>) -> Option<Told> {
    let [Cell::Text(who), Cell::Whole(deed), Cell::Text(what)] = row.cells else { return None };
    let deed = u8::try_from(*deed).ok().and_then(Deed::numbered)?;
    let text = |text: &Text| text.to_string();
    Some(Told { time: row.time, lp: row.lp.0, who: text(who), deed, what: text(what) })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn each_lp_tells_as_much_as_it_may() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hearer = {
            let heard = heard.clone();
            Hearer::new(move |told| heard.lock().unwrap().push(format!("{}: {told}", told.lp)))
        };
        let followed = Followed::new([true, false, true].into_iter(), 2);
        let mut tellings = Tellings::new(followed, Some(hearer));
        let cells = ["Ann".into(), Deed::Takes.number().into(), "till".into()];
        for (time, lp) in [(1.0, 0), (2.0, 1), (3.0, 0), (4.0, 2), (5.0, 0)] {
            tellings.add(Row { table: u16::MAX, time, lp: LpId(lp), cells: &cells });
        }
        let heard = heard.lock().unwrap();
        assert_eq!(*heard, ["0: Ann takes till", "0: Ann takes till", "2: Ann takes till"]);
        let times: Vec<f64> = tellings.finish().iter().map(|told| told.time).collect();
        assert_eq!(times, [1.0, 3.0, 4.0]);
    }
}
