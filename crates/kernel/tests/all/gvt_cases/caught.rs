//! Control messages that cannot come if all goes well, and those that come late.

use super::{Machine, Still, TIES, at};
use warpline_base::Moment;
use warpline_kernel::gvt::{
    Action, Asynchronous, Control, Gvt, GvtAlgorithm, Hierarchy, Share, Tag, Verdict, Work,
};

#[test]
#[should_panic(expected = "regresses")]
fn a_gvt_that_goes_back_is_caught() {
    let mut machine = Machine::new(3, GvtAlgorithm::Asynchronous);
    machine.wish(0);
    machine.pes[2].1.least = at(2);
    machine.wish(0);
}

#[test]
#[should_panic(expected = "1 messages received, but only 0 sent")]
fn a_message_that_was_not_counted_is_caught() {
    let mut machine = Machine::new(2, GvtAlgorithm::Asynchronous);
    machine.pes[1].0.received(Tag::default(), || at(12));
    machine.wish(0);
}

#[test]
#[should_panic(expected = "PE 2 is no neighbour of PE 1")]
fn a_misdirected_share_is_caught() {
    let mut gvts = [1, 2].map(|me| Asynchronous::new(me, Hierarchy::new(3, 3), TIES));
    gvts[1].receive_control(Control::Begin { from: 0, epoch: 0 });
    let action = gvts[1].advance(&mut Still::until(at(1)));
    let Some(Action::Send { to: 0, control }) = action else { panic!("{action:?}") };
    gvts[0].receive_control(control);
}

/// PE 1 of two, which has given its share of the first round.
fn given() -> Asynchronous {
    let mut gvt = Asynchronous::new(1, Hierarchy::new(2, 2), TIES);
    gvt.receive_control(Control::Begin { from: 0, epoch: 0 });
    while gvt.advance(&mut Still::until(at(1))).is_some() {}
    gvt
}

fn verdict(epoch: u64, rounds: u32) -> Control {
    Control::Verdict(Verdict {
        epoch,
        rounds,
        gvt: at(1),
        in_transit: Moment::Never,
        failure: Moment::Never,
        work: Work::default(),
    })
}

#[test]
fn a_verdict_is_adopted_after_the_share_was_given() {
    let mut gvt = given();
    gvt.receive_control(verdict(0, 1));
    assert!(
        matches!(gvt.advance(&mut Still::until(at(1))), Some(Action::Adopt(verdict)) if verdict.gvt == at(1))
    );
}

#[test]
#[should_panic(expected = "another (epoch, round)")]
fn a_verdict_of_another_epoch_is_caught() {
    given().receive_control(verdict(1, 1));
}

#[test]
#[should_panic(expected = "another (epoch, round)")]
fn a_verdict_of_another_round_is_caught() {
    given().receive_control(verdict(0, 2));
}

#[test]
#[should_panic(expected = "another (epoch, round)")]
fn a_call_for_a_later_round_is_caught() {
    given().receive_control(Control::Again { epoch: 0, round: 2 });
}

#[test]
#[should_panic(expected = "a verdict came before PE 1 gave its share")]
fn a_verdict_without_a_share_is_caught() {
    let mut gvt = Asynchronous::new(1, Hierarchy::new(2, 2), TIES);
    gvt.wish();
    gvt.advance(&mut Still::until(at(1)));
    gvt.receive_control(verdict(0, 1));
}

#[test]
#[should_panic(expected = "a round was over before PE 1 gave its share")]
fn a_call_for_a_round_without_a_share_is_caught() {
    let mut gvt = Asynchronous::new(1, Hierarchy::new(2, 2), TIES);
    gvt.wish();
    gvt.advance(&mut Still::until(at(1)));
    gvt.receive_control(Control::Again { epoch: 0, round: 1 });
}

#[test]
#[should_panic(expected = "two shares of PE 1 in epoch 0, round 0")]
fn a_share_that_arrives_twice_is_caught() {
    let mut gvt = Asynchronous::new(0, Hierarchy::new(3, 3), TIES);
    let share =
        Share { sent: 0, received: 0, least: at(1), failure: Moment::Never, work: Work::default() };
    for _ in 0..2 {
        gvt.receive_control(Control::Share { from: 1, epoch: 0, round: 0, share });
    }
}

/// A call for an epoch that is already closed neither reopens it nor hides a later call.
#[test]
fn late_calls_change_nothing() {
    for algorithm in [GvtAlgorithm::Asynchronous, GvtAlgorithm::Synchronous] {
        let mut machine = Machine::new(2, algorithm);
        machine.wish(0);
        assert_eq!(machine.adopted.len(), 2);
        let call = |epoch| Control::Begin { from: 0, epoch };
        let gvt = &mut machine.pes[1].0;
        gvt.receive_control(call(0));
        assert_eq!(
            (gvt.advance(&mut Still::until(at(11))), gvt.is_on()),
            (None, false),
            "{algorithm:?} GVT reopens an epoch"
        );
        gvt.receive_control(call(1));
        gvt.receive_control(call(0));
        let action = gvt.advance(&mut Still::until(at(11)));
        assert!(
            matches!(
                action,
                Some(Action::Send { to: 0, control: Control::Share { epoch: 1, .. } })
            ),
            "{algorithm:?} GVT forgets a call: {action:?}"
        );
    }
}
