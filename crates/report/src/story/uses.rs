//! Who held which resource, and when, from what LPs told.

use std::collections::HashMap;

use warpline_record::{Deed, Told};

/// One turn of a process at a resource.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Use<'t> {
    pub(super) who: &'t str,
    /// When it began to queue.
    pub(super) queued: f64,
    /// When it took the resource, if it did.
    pub(super) taken: Option<f64>,
    /// When it gave the resource back or left the queue, if it did.
    pub(super) over: Option<f64>,
}

/// All turns at one resource, in the order in which they began.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Uses<'t> {
    pub(super) lp: u32,
    pub(super) resource: &'t str,
    pub(super) all: Vec<Use<'t>>,
}

/// The turns at all resources, each in the order in which it was first used.
pub(super) fn uses(told: &[Told]) -> Vec<Uses<'_>> {
    let mut all: Vec<Uses<'_>> = Vec::new();
    let mut places = HashMap::<(u32, &str), usize>::new();
    // By process, its turns that are not over, the first first.
    let mut open = HashMap::<(usize, &str), Vec<usize>>::new();
    for Told { time, lp, who, deed, what } in told {
        if *deed == Deed::Does {
            continue;
        }
        let place = *places.entry((*lp, what)).or_insert_with(|| {
            all.push(Uses { lp: *lp, resource: what, all: Vec::new() });
            all.len() - 1
        });
        let turns = &mut all[place].all;
        let open = open.entry((place, who)).or_default();
        let queues = |turn: &usize| turns[*turn].taken.is_none();
        let first = match deed {
            Deed::Queues => None,
            Deed::Takes | Deed::Leaves => open.iter().position(queues),
            Deed::Gives | Deed::Does => open.iter().position(|turn| !queues(turn)),
        };
        match (deed, first) {
            (Deed::Queues, _) | (Deed::Takes, None) => {
                open.push(turns.len());
                let taken = (*deed == Deed::Takes).then_some(*time);
                turns.push(Use { who, queued: *time, taken, over: None });
            }
            (Deed::Takes, Some(first)) => turns[open[first]].taken = Some(*time),
            (_, Some(first)) => turns[open.remove(first)].over = Some(*time),
            // It was taken before the LP began to tell.
            (_, None) => {}
        }
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn told(deeds: &[(f64, &str, Deed, &str)]) -> Vec<Told> {
        let told = |&(time, who, deed, what): &(f64, &str, Deed, &str)| Told {
            time,
            lp: 0,
            who: who.into(),
            deed,
            what: what.into(),
        };
        deeds.iter().map(told).collect()
    }

    #[test]
    fn turns_begin_in_the_queue_and_end_when_the_resource_is_back() {
        let told = told(&[
            (1.0, "Ann", Deed::Queues, "till"),
            (1.0, "Ann", Deed::Takes, "till"),
            (2.0, "Ben", Deed::Queues, "till"),
            (2.5, "Ann", Deed::Does, "pays"),
            (3.0, "Cem", Deed::Queues, "till"),
            (4.0, "Cem", Deed::Leaves, "till"),
            (5.0, "Ann", Deed::Gives, "till"),
            (5.0, "Ben", Deed::Takes, "till"),
            (6.0, "Dan", Deed::Takes, "door"),
            (7.0, "Eve", Deed::Gives, "door"),
        ]);
        let turn = |who, queued, taken, over| Use { who, queued, taken, over };
        let till = Uses {
            lp: 0,
            resource: "till",
            all: vec![
                turn("Ann", 1.0, Some(1.0), Some(5.0)),
                turn("Ben", 2.0, Some(5.0), None),
                turn("Cem", 3.0, None, Some(4.0)),
            ],
        };
        let door = Uses { lp: 0, resource: "door", all: vec![turn("Dan", 6.0, Some(6.0), None)] };
        assert_eq!(uses(&told), [till, door]);
    }

    #[test]
    fn one_process_may_hold_two_of_a_kind() {
        let told = told(&[
            (1.0, "Ann", Deed::Takes, "tug"),
            (2.0, "Ann", Deed::Takes, "tug"),
            (3.0, "Ann", Deed::Gives, "tug"),
            (4.0, "Ann", Deed::Gives, "tug"),
        ]);
        let over: Vec<_> = uses(&told)[0].all.iter().map(|turn| turn.over).collect();
        assert_eq!(over, [Some(3.0), Some(4.0)]);
    }
}
