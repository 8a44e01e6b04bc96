use super::*;

const SIZES: [(u32, u32); 8] =
    [(1, 1), (8192, 2), (10, 3), (7, 7), (1_000_003, 64), (u32::MAX, 1), (u32::MAX, 7), (100, 99)];

/// Every LP has one PE, every PE an LP.
fn check(partition: &Partition, lps: u32, pes: u32) {
    let mut next = 0;
    for pe in 0..pes {
        let range = partition.lps(pe);
        assert_eq!(range.start, next);
        assert!(range.end > range.start, "PE {pe} of {pes} has none of {lps} LPs");
        next = range.end;
        for lp in [range.start, range.start + (range.len() as u32 - 1) / 2, range.end - 1] {
            assert_eq!(partition.pe(LpId(lp)), pe, "{lps} LPs, {pes} PEs, LP {lp}");
        }
    }
    assert_eq!(next, lps);
}

#[test]
fn every_lp_has_one_pe_and_shares_are_even() {
    for (lps, pes) in SIZES {
        let partition = Partition::new(lps, pes);
        check(&partition, lps, pes);
        for pe in 0..pes {
            let size = partition.lps(pe).len() as u32;
            assert!(
                (lps / pes..=lps.div_ceil(pes)).contains(&size),
                "{lps} LPs, {pes} PEs: PE {pe} has {size}"
            );
        }
    }
}

/// Where a model has as many clusters of equal size as there are PEs, each is a PE.
#[test]
fn blocks_of_divisible_numbers_are_equal() {
    for (lps, pes) in [
        (20, 2),
        (2000, 2),
        (8000, 8),
        (24, 3),
        (7000, 7),
        (60, 12),
        (u32::MAX, 3),
        (u32::MAX, 65_537),
        (1024, 1024),
    ] {
        let partition = Partition::new(lps, pes);
        check(&partition, lps, pes);
        assert!(
            (0..pes).all(|pe| partition.lps(pe).len() as u32 == lps / pes),
            "{lps} LPs, {pes} PEs"
        );
    }
    // By comparing every LP with the definition.
    for lps in 1..70 {
        for pes in 1..=lps {
            let partition = Partition::new(lps, pes);
            let block = |lp| (0..pes).rfind(|pe| pe * lps / pes <= lp);
            assert!(
                (0..lps).all(|lp| Some(partition.pe(LpId(lp))) == block(lp)),
                "{lps} LPs, {pes} PEs"
            );
        }
    }
}

#[test]
fn weights_are_shared_out_evenly() {
    let weights: [fn(LpId) -> f64; 5] = [
        |lp| f64::from(lp.0 % 10),
        |lp| f64::from(lp.0) * f64::from(lp.0),
        |lp| if lp.0 < 5 { 1e6 } else { 1e-6 },
        |lp| if lp.0 == 3 { 1.0 } else { 0.0 },
        |lp| 1.0 / f64::from(1 + lp.0),
    ];
    for (lps, pes) in SIZES.into_iter().filter(|(lps, _)| *lps < u32::MAX) {
        for weight in weights {
            let partition =
                Partition::weighted(lps, pes, &Lookahead::uniform(0.0), &Groups::default(), weight)
                    .expect("they are weights");
            check(&partition, lps, pes);
            let sum = |pe| partition.lps(pe).map(|lp| weight(LpId(lp))).sum::<f64>();
            let total = (0..pes).map(sum).sum::<f64>();
            let heaviest = (0..lps).map(|lp| weight(LpId(lp))).fold(0.0, f64::max);
            let most = (0..pes).map(sum).fold(0.0, f64::max);
            assert!(
                most <= (total / f64::from(pes) + heaviest) * 1.001,
                "{lps} LPs, {pes} PEs: {most} of {total}"
            );
        }
    }
}

/// Users see in records and traces which PE has which LP.
#[test]
fn without_links_only_weights_decide() {
    let shared = |pes, weight: fn(LpId) -> f64| {
        let partition =
            Partition::weighted(40, pes, &Lookahead::uniform(0.5), &Groups::default(), weight)
                .expect("they are weights");
        (0..pes).map(|pe| partition.lps(pe).start).collect::<Vec<_>>()
    };
    assert_eq!(shared(4, |_| 1.0), [0, 10, 20, 30]);
    assert_eq!(shared(4, |lp| f64::from(lp.0)), [0, 20, 28, 35]);
    assert_eq!(shared(5, |lp| f64::from(lp.0 % 7)), [0, 9, 17, 25, 32]);
}

#[test]
fn equal_weights_are_like_none() {
    for weight in [0.0, 1.0, 1e-300] {
        let even = Partition::new(1000, 7);
        let weighted =
            Partition::weighted(1000, 7, &Lookahead::uniform(0.5), &Groups::default(), |_| weight)
                .expect("they are weights");
        assert!((0..7).all(|pe| weighted.lps(pe) == even.lps(pe)));
    }
}

#[test]
fn an_invalid_weight_is_reported() {
    for wrong in [f64::NAN, f64::INFINITY, -1.0] {
        let weight = |lp: LpId| if lp.0 == 4 { wrong } else { 1.0 };
        let refused =
            Partition::weighted(10, 2, &Lookahead::uniform(0.0), &Groups::default(), weight);
        let (lp, weight) = refused.expect_err("it is no weight");
        assert_eq!((lp, weight.to_bits()), (LpId(4), wrong.to_bits()));
    }
}

/// The first LPs of PEs, where groups have this many LPs each, in turn.
fn grouped(pes: u32, sizes: &[u32], weight: fn(LpId) -> f64) -> Vec<u32> {
    let numbers: Vec<u32> =
        (0..).zip(sizes).flat_map(|(number, size)| vec![number; *size as usize]).collect();
    let lps = numbers.len() as u32;
    let groups = Groups::of(lps, |lp| Some(numbers[lp.index()])).expect("they are consecutive");
    let partition = Partition::weighted(lps, pes, &Lookahead::uniform(0.5), &groups, weight)
        .expect("they are weights");
    check(&partition, lps, pes);
    (0..pes).map(|pe| partition.lps(pe).start).collect()
}

#[test]
fn groups_are_not_divided_while_there_are_enough_for_all_pes() {
    assert_eq!(grouped(3, &[10; 8], |_| 1.0), [0, 30, 50]);
    assert_eq!(grouped(2, &[5, 70, 5], |_| 1.0), [0, 5], "whatever the balance");
    assert_eq!(grouped(3, &[5, 70, 5], |_| 1.0), [0, 5, 75]);
    assert_eq!(grouped(2, &[10; 4], |lp| f64::from(lp.0)), [0, 30]);
    assert_eq!(grouped(2, &[10; 4], |_| 0.0), [0, 20]);
    // LPs outside of groups, or in one of their own, go to either side.
    assert_eq!(grouped(3, &[1, 1, 1, 1, 6, 1, 1], |_| 1.0), [0, 4, 10]);
    for pes in 1..=13 {
        let sizes = [3, 1, 1, 9, 2, 2, 30, 1, 4, 4, 4, 8, 1];
        let starts: Vec<u32> = sizes
            .iter()
            .scan(0, |next, size| Some(std::mem::replace(next, *next + size)))
            .collect();
        assert!(
            grouped(pes, &sizes, |lp| f64::from(lp.0 % 5))
                .iter()
                .all(|start| starts.contains(start)),
            "{pes} PEs"
        );
    }
}

#[test]
fn more_pes_than_groups_divide_them() {
    assert_eq!(grouped(4, &[20; 2], |_| 1.0), [0, 10, 20, 30]);
    // A boundary nearby divides none.
    assert_eq!(grouped(4, &[19, 21], |_| 1.0), [0, 10, 19, 30]);
    assert_eq!(grouped(8, &[10; 8], |_| 1.0), (0..8).map(|pe| 10 * pe).collect::<Vec<_>>());
    assert_eq!(grouped(3, &[2, 2], |_| 1.0).len(), 3);
}
