//! Messages that wait in a port: for the next flush, or for room.

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{BoundPort, ControlPort, MessagePort, Port, ValuePort};

use super::kinds::{Kind, Making};
use super::{Received, Room, two_ports, until, value};

/// Sends a value. A port may refuse it now and then although it is not full.
fn send<K: Kind>(port: &mut K::Port<u32>, number: u32) {
    until(|| port.send_value(1, || value(number)).is_ok());
}

/// Tells PE 1 something for GVT that is different each time.
fn tell<K: Kind>(port: &mut K::Port<u32>, one_sided: bool, number: u64) {
    if one_sided {
        port.write(1, Put::JumpStart(number));
    } else {
        port.send_control(1, Control::Begin { from: 0, epoch: number });
    }
}

/// The ports of a test of two PEs.
fn two_ports_of<K: Kind>(room: Room, one_sided: bool) -> [K::Port<u32>; 2] {
    <[_; 2]>::try_from(K::ports::<u32>(2, Making { room, one_sided })).ok().expect("two PEs")
}

/// Does everything with two ports but send and flush, so many times that whatever can arrive does.
/// `told` counts the calls.
fn do_everything_else<K: Kind>(
    [sender, receiver]: [&mut K::Port<u32>; 2],
    one_sided: bool,
    told: u64,
    received: &mut Received,
) {
    tell::<K>(sender, one_sided, told);
    sender.publish(told);
    if told == 1 {
        sender.publish_round(1, told);
    }
    for _ in 0..40 {
        while sender.receive_control().is_some() || sender.written().is_some() {}
        sender.receive(&mut Vec::new());
        sender.look_for_values();
        sender.receive_values(&mut |_| panic!("nobody has sent anything"));
        received.receive(receiver);
        while receiver.receive_control().is_some() || receiver.written().is_some() {}
    }
}

/// Whatever a PE does between two steps, such as telling others about GVT, nothing that it has sent
/// since the last flush arrives: GVT from registers has yet to announce it.
pub(super) fn values_wait_for_the_flush<K: Kind>(room: Room) {
    for one_sided in [false, true] {
        let [mut sender, mut receiver] = two_ports_of::<K>(room, one_sided);
        let mut received = Received::default();
        send::<K>(&mut sender, 0);
        do_everything_else::<K>([&mut sender, &mut receiver], one_sided, 1, &mut received);
        assert_eq!(received.values, [0; 0], "it was not flushed");
        // The next flush sends it, with what came after it.
        send::<K>(&mut sender, 1);
        sender.flush();
        until(|| {
            sender.receive(&mut Vec::new());
            received.receive(&mut receiver);
            received.len() == 2
        });
        // A value also stays behind when values leave that were flushed before and waited for room.
        let mut flushed = 2;
        while flushed < 600
            && (K::IN_ORDER || flushed < 20)
            && sender.send_value(1, || value(flushed)).is_ok()
        {
            sender.flush();
            flushed += 1;
        }
        received.receive(&mut receiver);
        sender.receive(&mut Vec::new());
        let was_taken = sender.send_value(1, || value(flushed)).is_ok();
        do_everything_else::<K>([&mut sender, &mut receiver], one_sided, 2, &mut received);
        until(|| {
            sender.receive(&mut Vec::new());
            received.receive(&mut receiver);
            received.len() >= flushed as usize
        });
        received.values.sort_unstable();
        assert!(
            received.values.iter().copied().eq(0..flushed),
            "{was_taken}: {} of {flushed}",
            received.values.len()
        );
    }
}

/// Fills a port with everything, and checks that all of it arrives if the PE only does this.
fn everything_leaves<K: Kind>(room: Room, mut does: impl FnMut(&mut K::Port<u32>)) {
    const TOLD: u64 = 20;
    for one_sided in [false, true] {
        let [mut sender, mut receiver] = two_ports_of::<K>(room, one_sided);
        let mut sent = 0;
        while sent < 600 && sender.send_value(1, || value(sent)).is_ok() {
            sent += 1;
        }
        sender.flush();
        (1..=TOLD).for_each(|number| tell::<K>(&mut sender, one_sided, number));
        sender.publish(7);
        sender.publish_round(1, 8);
        let mut received = Received::default();
        let mut told = Vec::new();
        until(|| {
            does(&mut sender);
            while let Some(control) = receiver.receive_control() {
                let Control::Begin { from: 0, epoch } = control else {
                    panic!("{control:?} was not sent")
                };
                told.push(epoch);
            }
            while let Some((from, put)) = receiver.written() {
                let (0, Put::JumpStart(number)) = (from, put) else {
                    panic!("{put:?} was not written by PE {from}")
                };
                told.push(number);
            }
            received.receive(&mut receiver);
            let bounds = (receiver.bound(0), receiver.bound_of_round(0, 1));
            let has_last = told.iter().max() == Some(&TOLD);
            received.values.len() == sent as usize
                && bounds == (7, Some(8))
                && has_last
                && (one_sided || told.len() as u64 == TOLD)
        });
        assert!(
            one_sided || told.into_iter().eq(1..=TOLD),
            "control messages arrive once, in their order"
        );
        received.values.sort_unstable();
        assert!(received.values.into_iter().eq(0..sent));
    }
}

/// So does a PE that is over. Others may wait for what it has told them about GVT.
pub(super) fn what_found_no_room_leaves_by_flushing_alone<K: Kind>(room: Room) {
    everything_leaves::<K>(room, |port| {
        port.flush();
        K::serve(port);
    });
}

/// So does a PE that has nothing to send.
pub(super) fn what_found_no_room_leaves_by_receiving_alone<K: Kind>(room: Room) {
    everything_leaves::<K>(room, |port| {
        assert_eq!((port.receive_control(), port.written()), (None, None));
        port.receive(&mut Vec::new());
        port.look_for_values();
        port.receive_values(&mut |_| panic!("nobody has sent anything"));
    });
}

/// While a PE's bound for a round waits for messages to find room, it may find the bounds of all
/// others for that round, and publish for the next. They must find both.
pub(super) fn no_bound_of_a_round_is_lost_while_it_waits<K: Kind>(room: Room) {
    let [mut ahead, mut behind] = two_ports::<K, u32>(room);
    let bound = |round: u64| 100 + round;
    let mut received = Received::default();
    let mut find = |ahead: &mut K::Port<u32>, behind: &mut K::Port<u32>, round| {
        let mut found = [None; 2];
        until(|| {
            ahead.receive(&mut Vec::new());
            received.receive(behind);
            found = [ahead.bound_of_round(1, round), behind.bound_of_round(0, round)];
            !found.contains(&None)
        });
        assert_eq!(found, [Some(bound(round)); 2], "round {round}");
    };
    for round in [1, 2] {
        [&mut ahead, &mut behind]
            .into_iter()
            .for_each(|port| port.publish_round(round, bound(round)));
        find(&mut ahead, &mut behind, round);
    }
    // More than there is room for.
    for number in 0..600 {
        _ = ahead.send_value(1, || value(number));
        ahead.flush();
    }
    [&mut ahead, &mut behind].into_iter().for_each(|port| port.publish_round(3, bound(3)));
    // The other PE does not receive.
    until(|| {
        K::serve(&mut behind);
        ahead.receive(&mut Vec::new());
        ahead.bound_of_round(1, 3) == Some(bound(3))
    });
    ahead.publish_round(4, bound(4));
    let mut found = None;
    until(|| {
        K::serve(&mut behind);
        found = behind.bound_of_round(0, 3);
        behind.receive(&mut Vec::new());
        behind.look_for_values();
        behind.receive_values(&mut |_| {});
        ahead.receive(&mut Vec::new());
        found.is_some()
    });
    assert_eq!(found, Some(bound(3)));
    behind.publish_round(4, bound(4));
    find(&mut ahead, &mut behind, 4);
}
