//! Which message goes to which receive: random programs against a plain reference.

use proptest::prelude::*;

use super::*;

/// A message or a receive of one rank, and how long it computes before.
#[derive(Clone, Debug)]
struct Step {
    pause: u32,
    tag: u32,
    bytes: u64,
    /// Of a receive: the sender and the tag that it wants, if any.
    from: Option<u32>,
    wants_tag: bool,
}

fn step() -> impl Strategy<Value = Step> {
    (
        0u32..2000,
        0u32..3,
        prop_oneof![Just(4u64), Just(200), Just(4000)],
        prop::option::of(0u32..3),
        any::<bool>(),
    )
        .prop_map(|(pause, tag, bytes, from, wants_tag)| Step {
            pause,
            tag,
            bytes,
            from,
            wants_tag,
        })
}

/// What each receive gets, in the order of receives, if messages have arrived in this order: each
/// takes the first that fits and has not been taken.
fn reference(arrived: &[(u32, u32, u64)], receives: &[Step]) -> Vec<Option<usize>> {
    let mut taken = vec![false; arrived.len()];
    receives
        .iter()
        .map(|receive| {
            let fits = |(place, (from, tag, _)): (usize, &(u32, u32, u64))| {
                !taken[place]
                    && receive.from.is_none_or(|sender| sender + 1 == *from)
                    && (!receive.wants_tag || receive.tag == *tag)
            };
            let place = arrived.iter().enumerate().position(fits);
            place.inspect(|place| taken[*place] = true)
        })
        .collect()
}

const L: f64 = 1e-6;
const G: f64 = 1e-9;
const EAGER: u64 = 1000;

/// When the messages of a sender arrive, or their offers do.
fn arrivals(sends: &[Step]) -> Vec<f64> {
    let (mut clock, mut free) = (0.0f64, 0.0f64);
    let mut all = Vec::new();
    for send in sends {
        clock += f64::from(send.pause) * 1e-9;
        let start = clock.max(free);
        let takes = if send.bytes <= EAGER { send.bytes as f64 * G } else { 0.0 };
        free = start + takes;
        all.push(start + L + takes);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Three ranks send to rank 0, without waiting; it posts all its receives, before messages come
    /// or after, and then waits.
    /// Messages of one sender stay in order, and each receive takes the first that fits.
    #[test]
    fn each_receive_takes_the_first_message_that_fits(
        sends in prop::collection::vec(prop::collection::vec(step(), 0..6), 3),
        receives in prop::collection::vec(step(), 0..12),
        is_late: bool,
    ) {
        // Where receives wait for them, long messages would hold up others in the sender's card.
        let mut sends = sends;
        if !is_late {
            sends.iter_mut().flatten().for_each(|send| send.bytes = send.bytes.min(EAGER));
        }
        let mut arrived: Vec<(f64, u32, u32, u64)> = Vec::new();
        for (from, sends) in (1..).zip(&sends) {
            let times = arrivals(sends);
            arrived.extend(times.iter().zip(sends).map(|(at, send)| (*at, from, send.tag, send.bytes)));
        }
        // Messages of equal time come in the order of senders.
        arrived.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let times: Vec<f64> = arrived.iter().map(|(at, ..)| *at).collect();
        let is_close = |pair: &[f64]| pair[1] - pair[0] < 1e-12;
        // Rounding may order messages otherwise whose times are the same on paper.
        prop_assume!(!times.windows(2).any(is_close));
        let order: Vec<(u32, u32, u64)> = arrived.iter().map(|(_, from, tag, bytes)| (*from, *tag, *bytes)).collect();
        let wanted = reference(&order, &receives);
        let expected: Vec<Option<(u32, u32, u64)>> =
            wanted.iter().map(|place| place.map(|place| order[place])).collect();
        let left = order.len() - expected.iter().flatten().count();

        let (mine, theirs) = (receives.clone(), sends.clone());
        let target = Target::flat(Wire::new(L, 1.0 / G)).eager_up_to(EAGER);
        let expected_by = expected.clone();
        let all = noted(4, &target, move |rank, notes| {
            let (mine, theirs, expected) = (mine.clone(), theirs.clone(), expected_by.clone());
            async move {
                if rank.id() > 0 {
                    let mut requests = Vec::new();
                    for send in &theirs[rank.id() as usize - 1] {
                        rank.compute(f64::from(send.pause) * 1e-9).await;
                        requests.push(rank.isend(0, send.tag, Data::size(send.bytes)));
                    }
                    wait_all(requests).await;
                    return;
                }
                if is_late {
                    rank.compute(1.0).await;
                }
                let mut requests = Vec::new();
                for receive in &mine {
                    rank.compute(f64::from(receive.pause) * 0.7e-9).await;
                    let from = receive.from.map_or(ANY_SOURCE, |from| Peer::Rank(from + 1));
                    let tag = if receive.wants_tag { receive.tag.into() } else { ANY_TAG };
                    requests.push(rank.irecv(from, tag, 1 << 20));
                }
                for (request, expected) in requests.into_iter().zip(expected) {
                    if expected.is_none() {
                        // All messages have arrived by then.
                        rank.compute(1.0).await;
                        request.cancel();
                    }
                    let (data, status) = request.wait().await;
                    let got = (!status.is_cancelled).then(|| (status.source.unwrap(), status.tag, data.len()));
                    notes.add(0, got);
                }
                for _ in 0..left {
                    rank.recv(ANY_SOURCE, ANY_TAG, 1 << 20).await;
                }
            }
        });
        prop_assert_eq!(all, expected);
    }
}

#[test]
fn a_probe_leaves_the_message_to_a_receive() {
    let all = noted(2, &Target::flat(Wire::new(L, 1.0 / G)), |rank, notes| async move {
        if rank.id() == 0 {
            rank.compute(5e-6).await;
            rank.send(1, 3, [7u32, 8]).await;
            return;
        }
        assert_eq!(rank.iprobe(0, ANY_TAG).await, None);
        let status = rank.probe(ANY_SOURCE, ANY_TAG).await;
        assert_eq!(rank.iprobe(0, 3).await, Some(status));
        let (data, _) = rank.recv(0, status.tag, status.bytes).await;
        notes.add(1, (status.tag, data.values::<u32>(), rank.wtime()));
    });
    let [(3, values, time)] = &all[..] else { panic!() };
    assert_eq!(values, &[7, 8]);
    assert!((time - (5e-6 + L + 8.0 * G)).abs() < 1e-12, "{time}");
}

#[test]
fn waits_for_any_and_some_take_what_is_complete_in_time() {
    let all = noted(4, &Target::flat(Wire::new(L, 1.0 / G)), |rank, notes| async move {
        if rank.id() > 0 {
            // Rank 3 sends first, then 2, then 1.
            rank.compute(f64::from(4 - rank.id()) * 10e-6).await;
            return rank.send(0, 0, [rank.id()]).await;
        }
        let mut requests: Vec<Request> = (1..4).map(|from| rank.irecv(from, 0, 4)).collect();
        assert!(test_any(&mut requests).await.is_none());
        let (place, data, _) = wait_any(&mut requests).await.unwrap();
        notes.add(0, (place, data.values::<u32>()[0]));
        rank.compute(5e-6).await;
        assert!(test_some(&mut requests).await.is_empty());
        let requests = match test_all(requests).await {
            Ok(_) => panic!("two have not arrived"),
            Err(requests) => requests,
        };
        rank.compute(50e-6).await;
        let mut requests = requests;
        for (place, data, _) in wait_some(&mut requests).await {
            notes.add(0, (place, data.values::<u32>()[0]));
        }
        assert!(requests.is_empty() && wait_any(&mut requests).await.is_none());
    });
    assert_eq!(all, [(2, 3), (0, 1), (1, 2)]);
}

#[test]
fn a_test_in_a_loop_ends_when_the_message_has_come() {
    let target = Target::flat(Wire::new(L, 1.0 / G));
    let all = noted(2, &target, |rank, notes| async move {
        if rank.id() == 0 {
            rank.compute(3e-6).await;
            return rank.ssend(1, 0, [1u32]).await;
        }
        let mut request = rank.irecv(0, 0, 4);
        let mut tests = 0;
        loop {
            match request.test().await {
                Ok(_) => break,
                Err(same) => (request, tests) = (same, tests + 1),
            }
        }
        notes.add(1, tests);
    });
    // The message has come after 3 µs, an offer, an answer, and the bytes: about 6 µs.
    let tests = all[0];
    assert!((60..=62).contains(&tests), "{tests} tests of {} s", Target::POLL);
}

#[test]
fn persistent_messages_are_sent_again_and_again() {
    let all = noted(2, &Target::flat(Wire::new(L, 1.0 / G)), |rank, notes| async move {
        let receives = rank.recv_init(1 - rank.id(), 4, 4);
        let mut sends = rank.send_init(1 - rank.id(), 4, [0u32]);
        for round in 0..3 {
            sends.set_data([10 * round + rank.id()]);
            let both = [receives.start(), sends.start()];
            let got = wait_all(both).await;
            notes.add(rank.id(), got[0].0.values::<u32>()[0]);
        }
    });
    assert_eq!(all, [1, 11, 21, 0, 10, 20]);
}
