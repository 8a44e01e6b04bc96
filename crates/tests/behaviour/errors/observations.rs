//! Statistics and rows that do not fit what the model declares, or a number.

use super::{assert_event_fault, failure};
use crate::support::{COUNT, ROWS, Scripted, VALUE, assert_words};
use warpline::prelude::*;
use warpline::{Fault, Place, Synchronisation};
use warpline_testkit::{Story, time_limit};

#[test]
fn observations_that_do_not_fit_their_declaration_are_refused() {
    assert_event_fault(
        |lp| lp.count(Counter::slot(9), 1),
        &["slot 9", "counter", "no statistic is declared there", "Model::declare"],
    );
    assert_event_fault(
        |lp| lp.observe(Mean::slot(0), 1.0),
        &["slot 0", "as a mean", "`count` is declared there as a counter"],
    );
    assert_event_fault(
        |lp| lp.sample(Histogram::slot(1), 1.0),
        &["slot 1", "as a histogram", "`value` is declared there as a mean"],
    );
    assert_event_fault(
        |lp| lp.span(TimeMean::slot(1), 0.0, 1.0, 1.0),
        &["slot 1", "as a mean over time", "`value`"],
    );
    assert_event_fault(
        |lp| lp.count(COUNT.at(3), 1),
        &["item 3", "slot 0", "`count`", "3 item(s)"],
    );
    assert_event_fault(|lp| lp.observe(VALUE, f64::NAN), &["observed NaN for `value`", "finite"]);
    assert_event_fault(|lp| lp.observe(VALUE, f64::INFINITY), &["observed inf for `value`"]);
}

#[test]
fn rows_that_do_not_fit_their_table_are_refused() {
    assert_event_fault(
        |lp| lp.record(ROWS, &[1u32.into()]),
        &["1 cells", "table slot 0", "table `rows` has 2 columns", "Model::declare"],
    );
    assert_event_fault(|lp| lp.record(ROWS, &[]), &["0 cells", "2 columns"]);
    assert_event_fault(
        |lp| lp.record(Table(1), &[]),
        &["table slot 1", "no table is declared there"],
    );
}

/// Which event passes the limit depends on the order of adding, but the total does not. So the
/// fault is one of the results.
#[test]
fn counts_beyond_the_largest_number_are_a_fault_of_the_results() {
    let twice: fn(&mut Context<Scripted>) =
        |lp| [u64::MAX, 1].into_iter().for_each(|by| lp.count(COUNT.at(1), by));
    let (failure, text) = failure(|| Scripted { handle: twice, ..Scripted::default() });
    assert_eq!((failure.place, failure.time, failure.committed), (Place::Results, 10.0, 3));
    assert_words(&text, &["`count`", "largest count", "18446744073709551615"]);
    let counted = |by: u64, sync, threads| {
        let _limit = time_limit((sync, threads, by));
        Simulation::new(counting(by)).sync(sync).threads(threads).end(10.0).run()
    };
    for (sync, threads) in [
        (Synchronisation::Sequential, 1),
        (Synchronisation::Optimistic, 1),
        (Synchronisation::Optimistic, 4),
    ] {
        let run = counted(u64::MAX / 4, sync, threads).expect("four times that may be counted");
        assert_eq!(run.statistics.counter(COUNT), u64::MAX / 4 * 4);
        let Err(Error::Fault(failure)) = counted(u64::MAX / 4 + 1, sync, threads) else {
            panic!("more than that may not")
        };
        let expected = (Place::Results, 10.0, Fault::CounterOverflow { name: "all".into() }, 4);
        assert_eq!((failure.place, failure.time, failure.fault, failure.committed), expected);
    }
}

/// Four LPs, each of which counts once.
fn counting(by: u64) -> Story {
    Story::new(4)
        .declare(|declare| _ = declare.counter(COUNT, "all", "", ""))
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            0
        })
        .handle(move |_, _, lp| lp.count(COUNT, by))
}
