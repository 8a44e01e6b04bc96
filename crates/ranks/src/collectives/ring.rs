//! Blocks that go round a ring.

use super::steps::Steps;
use crate::data::Data;

/// Every rank gives a block, and gets those of all, that of `first` and of those after it in turn.
pub(super) async fn gather_round(steps: &Steps<'_>, first: u32, own: Data) -> Vec<Data> {
    let (me, size) = (steps.me(), steps.size());
    let place = steps.before(me, first);
    let (next, previous) = (steps.after(me, 1), steps.before(me, 1));
    let mut all = vec![Data::size(0); size as usize];
    let mut passing = own;
    for round in 0..size {
        let of = steps.before(place, round);
        all[of as usize] = passing.clone();
        if round + 1 < size {
            passing = steps.exchange(next, passing, previous).await;
        }
    }
    all
}
