//! The life of one process: all that it did, with the times.

use std::collections::HashMap;

use warpline_record::{Deed, TableView, Told, View};

/// The most deeds in the table.
const DEEDS_MOST: usize = 100;

/// The life of the process of which most was told, among those that ever queued for anything, if
/// there are any.
pub(super) fn view(told: &[Told], unit: &str) -> Option<View> {
    let mut deeds = HashMap::<(u32, &str), (usize, bool)>::new();
    for Told { lp, who, deed, .. } in told {
        let (count, queued) = deeds.entry((*lp, who)).or_default();
        *count += 1;
        *queued |= *deed == Deed::Queues;
    }
    let weight = |told: &&Told| {
        let (count, queued) = deeds[&(told.lp, told.who.as_str())];
        (queued, count)
    };
    // Of equals, the first.
    let Told { lp, who, .. } = told.iter().rev().max_by_key(weight)?;
    let rows = told
        .iter()
        .filter(|told| told.lp == *lp && told.who == *who)
        .take(DEEDS_MOST)
        .map(|told| vec![told.time.into(), deed(told).into()])
        .collect();
    let columns =
        vec![("time".to_owned(), unit.to_owned()), ("what it did".to_owned(), String::new())];
    let title = format!("The life of {who}, LP {lp}");
    Some(View::Table(TableView { title, columns, rows }))
}

/// What it did, without its name.
fn deed(told: &Told) -> String {
    let all = told.to_string();
    all.strip_prefix(&told.who).map_or(all.as_str(), str::trim_start).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::uses::tests::told;
    use super::*;

    #[test]
    fn the_busiest_of_those_who_queue_is_shown() {
        let told = told(&[
            (0.0, "source", Deed::Does, "starts Ann"),
            (1.0, "Ann", Deed::Queues, "till"),
            (1.5, "source", Deed::Does, "starts Ben"),
            (2.0, "Ann", Deed::Takes, "till"),
            (2.5, "source", Deed::Does, "starts Cem"),
            (3.0, "Ben", Deed::Queues, "till"),
        ]);
        let Some(View::Table(table)) = view(&told, "min") else { panic!("a table") };
        assert_eq!(table.title, "The life of Ann, LP 0");
        let expected: Vec<Vec<serde_json::Value>> =
            vec![vec![1.0.into(), "queues for till".into()], vec![2.0.into(), "takes till".into()]];
        assert_eq!(table.rows, expected);
        assert_eq!(view(&[], ""), None);
    }
}
