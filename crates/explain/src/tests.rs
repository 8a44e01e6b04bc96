use super::*;

/// An event: its LP, its time, and the index of the event that sent it.
type Happens = (u32, f64, Option<usize>);

const END: f64 = 60.0;

/// The findings of these events, in order, on 1, 2, 4 and `lps` PEs. Event `n` costs `cost(n)`.
fn found(lps: u32, lookahead: &Lookahead, cost: fn(usize) -> u64, events: &[Happens]) -> Findings {
    let cores = [1, 2, 4, lps].map(|cores| (cores, Partition::new(lps, cores.min(lps))));
    let mut path = CriticalPath::new(lps, END, lookahead.clone(), cores);
    let send = |path: &mut CriticalPath, by: Option<usize>| {
        for (number, &(to, time, _)) in events.iter().enumerate().filter(|(_, event)| event.2 == by)
        {
            let from = by.map_or(to, |by| events[by].0);
            path.send(Handle::from_bits(number as u32), LpId(from), LpId(to), time);
        }
    };
    send(&mut path, None);
    for (number, &(lp, time, _)) in events.iter().enumerate() {
        path.execute(Handle::from_bits(number as u32), LpId(lp), time, cost(number));
        send(&mut path, Some(number));
    }
    path.findings()
}

fn works(lps: &[LpWork]) -> Vec<(u32, u64)> {
    lps.iter().map(|one| (one.lp.0, one.work)).collect()
}

/// A ball goes round four LPs.
#[test]
fn a_ball_that_goes_round_is_a_path_of_all_events() {
    let ball: Vec<Happens> =
        (0..40usize).map(|n| (n as u32 % 4, 0.5 + n as f64, n.checked_sub(1))).collect();
    let found = found(4, &Lookahead::uniform(1.0), |_| 1, &ball);
    assert_eq!(
        (found.events, found.work, found.path.length, found.path.events, found.path.messages),
        (40, 40, 40, 40, 39)
    );
    assert_eq!(works(&found.path.lps), [(0, 10), (1, 10), (2, 10), (3, 10)]);
    for cores in &found.cores {
        assert_eq!(
            (cores.any_engine, cores.these_blocks, cores.in_order, cores.declared),
            (1.0, 1.0, 1.0, 1.0),
            "{} PEs",
            cores.pes
        );
    }
    assert_eq!(
        (found.slices[0].work, found.slices[0].path, found.slices[39].path, found.slices[40].path),
        (1, 1, 1, 0)
    );
}

/// LP 0 has half of the events, the other four an eighth each.
#[test]
fn an_lp_with_half_of_the_events_allows_twice_the_speed_and_no_more() {
    let mut clocks: Vec<(f64, u32)> = (0..40).map(|n| (f64::from(n), 0)).collect();
    clocks.extend((0..40).map(|n| (f64::from(n) + 0.5, 1 + n as u32 % 4)));
    clocks.sort_by(|a, b| a.partial_cmp(b).expect("they are numbers"));
    let before =
        |place: usize| clocks[..place].iter().rposition(|other| other.1 == clocks[place].1);
    let events: Vec<Happens> =
        clocks.iter().enumerate().map(|(place, &(time, lp))| (lp, time, before(place))).collect();
    let found = found(5, &Lookahead::uniform(0.0), |_| 1, &events);
    assert_eq!((found.path.length, found.path.messages), (40, 0));
    assert_eq!(works(&found.path.lps), [(0, 40)]);
    assert_eq!(works(&found.load), [(0, 40), (1, 10), (2, 10), (3, 10), (4, 10)]);
    // On two PEs, LPs 0 and 1 have 50 events.
    let cores: Vec<_> = found
        .cores
        .iter()
        .map(|one| (one.pes, one.any_engine, one.these_blocks, one.in_order))
        .collect();
    let of_two = 80.0 / 50.0;
    assert_eq!(
        cores,
        [(1, 1.0, 1.0, 1.0), (2, 2.0, of_two, of_two), (4, 2.0, 2.0, 2.0), (5, 2.0, 2.0, 2.0)]
    );
    assert_eq!(
        found.cores[1].busiest,
        BusiestPe { pe: 0, first: LpId(0), last: LpId(1), work: 50 }
    );
    // PEs send each other nothing, though no lookahead is declared.
    assert_eq!(
        (found.cores[3].declared, found.cores[3].seen, found.cores[3].seen_delay),
        (1.0, Some(2.0), None)
    );
    assert!(found.delays.is_empty());
}

/// LP 0 gives three others work, and the one that has most answers first.
#[test]
fn fork_and_join() {
    // Fork at 1, work at 2, 3 and 4; the answers arrive at 5.
    let events: [Happens; 7] = [
        (0, 1.0, None),
        (1, 2.0, Some(0)),
        (2, 3.0, Some(0)),
        (3, 4.0, Some(0)),
        (0, 5.0, Some(1)),
        (0, 5.0, Some(2)),
        (0, 5.0, Some(3)),
    ];
    let cost = |number| [1, 30, 20, 10, 1, 1, 1][number];
    let found = found(4, &Lookahead::uniform(1.0), cost, &events);
    // 1 to fork, 30 for the longest piece of work, 3 for its answer and the other two, which wait
    // for their LP.
    assert_eq!(
        (found.work, found.path.length, found.path.events, found.path.messages),
        (64, 34, 5, 2)
    );
    assert_eq!(works(&found.path.lps), [(1, 30), (0, 4)]);
    let on_four = &found.cores[3];
    assert_eq!(
        (on_four.any_engine, on_four.these_blocks, on_four.in_order),
        (64.0 / 34.0, 64.0 / 34.0, 64.0 / 34.0)
    );
    // In windows of 1, nothing goes at once: the pieces of work lie in different ones.
    assert_eq!((on_four.declared, on_four.declared_delay), (1.0, 1.0));
    // On two PEs, LPs 2 and 3 have 30, and nothing arrives sooner than the last answer.
    let on_two = &found.cores[1];
    assert_eq!((on_two.busiest.work, on_two.in_order), (34, 64.0 / 34.0));
    assert_eq!(on_two.seen_delay.map(|delay| (delay.from.0, delay.seen)), Some((3, 1.0)));
    let least: Vec<_> =
        found.delays.iter().map(|delay| (delay.from.0, delay.to.0, delay.seen)).collect();
    assert_eq!(least, [(0, 1, 1.0), (3, 0, 1.0), (2, 0, 2.0), (1, 0, 3.0)]);
}

/// Two LPs on two PEs have an event each in every unit of time, and greet each other once, with a
/// long delay.
#[test]
fn windows_as_long_as_the_lookahead() {
    let events: Vec<Happens> = (0..80usize)
        .map(|n| ((n % 2) as u32, (n / 2) as f64 + (n % 2) as f64 / 4.0, n.checked_sub(2)))
        .collect();
    let mut greeted = events.clone();
    greeted.extend([(1, 50.0, Some(60)), (0, 50.0, Some(61))]);
    let speed_ups = |lookahead: f64| {
        let found = found(2, &Lookahead::uniform(lookahead), |_| 1, &greeted);
        (found.cores[1].declared, found.cores[1].seen_delay.map(|delay| (delay.from.0, delay.seen)))
    };
    // 41 windows with an event of each; in windows of 0.125, one event in each.
    let seen = Some((1, 19.75));
    assert_eq!(speed_ups(0.5), (2.0, seen));
    assert_eq!(speed_ups(0.125), (82.0 / 81.0, seen));
    assert_eq!(speed_ups(0.0), (1.0, seen));
}

/// The ratio with the delay that was seen counts from where that was last undercut.
#[test]
fn a_delay_that_is_seen_too_late_gives_no_speed_up() {
    // Every unit of time each of two LPs has an event, and LP 0 greets LP 1 once, at 39 or at 2,
    // with a delay of 1.
    let events: Vec<Happens> =
        (0..80usize).map(|n| ((n % 2) as u32, (n / 2) as f64, n.checked_sub(2))).collect();
    // Greeted at 3, in a window of its own from 2 on, a window with two events of LP 1, and 36 with
    // one of each.
    for (greets, expected) in [(78, None), (4, Some(76.0 / 39.0))] {
        let mut events = events.clone();
        let time = events[greets].1 + 1.0;
        let place = events.iter().position(|event| event.1 > time).unwrap_or(events.len());
        // This shifts the events after it, which refer to each other by their places.
        events
            .iter_mut()
            .filter_map(|event| event.2.as_mut())
            .for_each(|by| *by += usize::from(*by >= place));
        events.insert(place, (1, time, Some(greets)));
        let cores = found(2, &Lookahead::uniform(0.0), |_| 1, &events).cores[1];
        assert_eq!(
            (cores.seen, cores.seen_delay.map(|delay| delay.seen)),
            (expected, Some(1.0)),
            "by event {greets}"
        );
    }
}

#[test]
fn nothing_happened() {
    let found = found(3, &Lookahead::uniform(0.0), |_| 1, &[]);
    assert_eq!(
        (found.events, found.path.length, found.path.lps.len(), found.load.len()),
        (0, 0, 0, 0)
    );
    assert!(
        found.cores.iter().all(|cores| cores.these_blocks == 1.0
            && cores.in_order == 1.0
            && cores.declared == 1.0)
    );
}
