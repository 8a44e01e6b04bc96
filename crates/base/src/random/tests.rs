use super::*;

const SEED: u64 = 20_261_120;

fn stream(stream: u8) -> Random {
    Random::new(SEED, LpId(5), stream)
}

/// Mean and variance of `count` draws.
fn moments(count: u32, mut draw: impl FnMut() -> f64) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..count {
        let x = draw();
        sum += x;
        squares += x * x;
    }
    let mean = sum / f64::from(count);
    (mean, squares / f64::from(count) - mean * mean)
}

/// Asserts by a Kolmogorov-Smirnov test that draws follow `cdf`. It fails wrongly for about 1 seed
/// in 10⁵.
fn follows(mut draw: impl FnMut() -> f64, cdf: impl Fn(f64) -> f64) {
    const COUNT: usize = 100_000;
    let mut sample: Vec<f64> = (0..COUNT).map(|_| draw()).collect();
    sample.sort_by(f64::total_cmp);
    let distance = sample
        .iter()
        .enumerate()
        .map(|(i, &x)| (cdf(x) - (i as f64 + 0.5) / COUNT as f64).abs())
        .fold(0.0, f64::max);
    assert!(distance * (COUNT as f64).sqrt() < 2.5, "distance {distance}");
}

#[test]
fn an_event_draws_the_same_numbers_again() {
    let mut stream = Stream::new(SEED, 0);
    let mut draw = |event, rewind: bool| {
        stream.point(LpId(5), event);
        let drawn: Vec<u64> = (0..7).map(|_| stream.random().next_u64()).collect();
        assert_eq!(stream.position(), 7);
        if rewind {
            stream.rewind();
            assert_eq!(drawn, (0..7).map(|_| stream.random().next_u64()).collect::<Vec<_>>());
        }
        drawn
    };
    let first = draw(9, true);
    assert_ne!(draw(10, false), first);
    assert_eq!(draw(9, false), first);
}

#[test]
fn streams_lps_events_and_seeds_differ() {
    let first = |seed, lp, number, event| {
        let mut stream = Stream::new(seed, 0).sibling(number);
        stream.point(LpId(lp), event);
        stream.random().next_u64()
    };
    let all = [
        first(1, 1, 1, 1),
        first(2, 1, 1, 1),
        first(1, 2, 1, 1),
        first(1, 1, 2, 1),
        first(1, 1, 1, 2),
    ];
    let distinct: std::collections::BTreeSet<u64> = all.into_iter().collect();
    assert_eq!(distinct.len(), all.len());
}

#[test]
fn a_sibling_draws_for_the_same_event() {
    let point = |number| {
        let mut stream = Stream::new(3, number);
        stream.point(LpId(70_000), 5);
        stream
    };
    assert_eq!(point(0).sibling(9).random().next_u64(), point(9).random().next_u64());
}

#[test]
fn uniform_is_uniform() {
    let mut random = stream(0);
    follows(|| random.uniform(), |x| x);
}

#[test]
fn exponential_is_exponential() {
    let mut random = stream(1);
    follows(|| random.exponential(2.0), |x| 1.0 - (-x / 2.0).exp());
    let (mean, variance) = moments(1_000_000, || random.exponential(3.0));
    assert!((mean - 3.0).abs() < 0.012 && (variance - 9.0).abs() < 0.11, "{mean} {variance}");
    // The tail beyond the last layer, 1 draw in 2200.
    let tail =
        (0..1_000_000).filter(|_| random.exponential(1.0) > ziggurat::EXPONENTIAL_TAIL).count();
    assert!((370..540).contains(&tail), "{tail} draws in the tail, 454 expected");
}

#[test]
fn normal_is_normal() {
    let mut random = stream(2);
    follows(|| random.normal(0.0, 1.0), |x| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2));
    let (mean, variance) = moments(1_000_000, || random.normal(5.0, 2.0));
    assert!((mean - 5.0).abs() < 0.008 && (variance - 4.0).abs() < 0.024, "{mean} {variance}");
    let tail =
        (0..2_000_000).filter(|_| random.normal(0.0, 1.0).abs() > ziggurat::NORMAL_TAIL).count();
    assert!((430..610).contains(&tail), "{tail} draws in the tails, 516 expected");
}

#[test]
fn below_covers_its_range_evenly() {
    let mut random = stream(3);
    let mut seen = [0u32; 7];
    (0..700_000).for_each(|_| seen[random.below(7) as usize] += 1);
    let chi: f64 = seen.iter().map(|&n| (f64::from(n) - 1e5).powi(2) / 1e5).sum();
    assert!(chi < 33.0, "chi-square {chi} of 6 degrees of freedom: {seen:?}");
    assert_eq!(random.below(1), 0);
}

/// Of the 2⁶⁴ words, 2⁶⁴ mod 7 = 2 are too many: those whose product with 7 has 0 or 1 in its lower
/// half.
#[test]
fn below_draws_again_for_words_that_are_too_many() {
    let expected = stream(3).below(7);
    for lower in [0, 1] {
        let mut random = stream(3);
        assert_eq!((random.below_exactly(7, 5 << 64 | lower), random.position()), (expected, 1));
    }
    for lower in [2, 3, 6] {
        let mut random = stream(3);
        assert_eq!((random.below_exactly(7, 5 << 64 | lower), random.position()), (5, 0));
    }
}

#[test]
#[should_panic(expected = "below(0)")]
fn below_zero_says_what_is_wrong() {
    stream(0).below(0);
}

#[test]
fn bernoulli_has_its_probability() {
    let mut random = stream(4);
    let hits = (0..1_000_000).filter(|_| random.bernoulli(0.3)).count();
    assert!((298_000..302_000).contains(&hits), "{hits}");
    assert!(!random.bernoulli(0.0) && random.bernoulli(1.0) && !random.bernoulli(f64::NAN));
    let next = random.clone().uniform();
    assert!(!random.clone().bernoulli(next) && random.bernoulli(next.next_up()));
}

#[test]
fn weighted_choice_follows_its_weights() {
    let weights = [0.0, 1.0, 2.0, 0.0, 7.0];
    let choice = Weighted::new(&weights).unwrap();
    let mut random = stream(5);
    let mut seen = [0u32; 5];
    (0..1_000_000).for_each(|_| seen[random.choose(&choice)] += 1);
    for (index, weight) in weights.iter().enumerate() {
        let expected = weight * 1e5;
        assert!(
            (f64::from(seen[index]) - expected).abs() <= 5.0 * expected.sqrt(),
            "{index}: {seen:?}"
        );
    }
}

/// Index 0 has half a column and index 1 the rest.
#[test]
fn columns_are_cut_to_the_bit() {
    let choice = Weighted::new(&[1.0, 3.0]).unwrap();
    let picked =
        [0, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX].map(|word| choice.pick(word));
    assert_eq!((picked, choice.len()), ([0, 0, 1, 1, 1, 1], 2));
    assert_eq!(
        Weighted::new(&[0.0, 1.0]).unwrap().pick(0),
        1,
        "what has no weight is never chosen"
    );
}

#[test]
fn weights_are_checked() {
    assert_eq!(
        Weighted::new(&[1.0, -1.0]).unwrap_err(),
        WeightsError::Weight { index: 1, value: -1.0 }
    );
    assert!(matches!(Weighted::new(&[f64::NAN]), Err(WeightsError::Weight { index: 0, .. })));
    assert!(
        Weighted::new(&[]).is_err()
            && Weighted::new(&[0.0]).is_err()
            && Weighted::new(&[f64::MAX, f64::MAX]).is_err()
    );
}

#[test]
#[should_panic(expected = "one event drew more than 33554432 random numbers")]
fn draws_of_one_event_are_limited() {
    let mut random = stream(6);
    (0..=Random::DRAW_LIMIT).for_each(|_| _ = random.next_u64());
}

/// Draws are the same on every platform and in every release: a run's digest depends on them.
#[test]
fn known_draws() {
    let mut stream = Stream::new(1, 3);
    stream.point(LpId(2), 4);
    let random = stream.random();
    let drawn = (
        random.next_u64(),
        random.uniform(),
        random.exponential(1.0),
        random.normal(0.0, 1.0),
        random.below(1000),
    );
    assert_eq!(
        drawn,
        (
            16_160_410_966_797_154_365,
            0.120_682_449_483_694_78,
            1.097_639_391_237_880_8,
            1.324_798_597_390_137_7,
            520
        )
    );
}

/// Enough draws to reach all layers and tails of the ziggurats.
#[test]
fn known_draws_by_the_thousand() {
    let fold = |draw: fn(&mut Random) -> u64| {
        let mut random = Random::new(1, LpId(2), 3);
        (0..200_000).fold(0, |sum, _| mix64(sum ^ draw(&mut random)))
    };
    assert_eq!(fold(|random| random.exponential(1.0).to_bits()), 13_427_916_407_394_199_602);
    assert_eq!(fold(|random| random.normal(0.0, 1.0).to_bits()), 1_318_449_465_037_030_661);
    assert_eq!(fold(|random| random.uniform().to_bits()), 4_503_641_933_653_279_915);
    assert_eq!(fold(|random| u64::from(random.below(1_000_003))), 4_255_181_064_702_310_811);
}

#[test]
fn known_mixtures() {
    // The first two of SplitMix64 with seed 0, whose state advances by this constant.
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    assert_eq!(
        [GOLDEN, GOLDEN.wrapping_mul(2)].map(mix64),
        [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]
    );
    assert_eq!((fold64(7, 9), fold64(1 << 63, 6), fold64(u64::MAX, u64::MAX)), (63, 3, u64::MAX));
}

/// For distributions of other crates, words come in the same order, and their bytes start at the
/// low end.
#[test]
fn other_crates_get_the_same_words() {
    use rand_core::RngCore;
    let mut random = stream(7);
    let mut same = stream(7);
    let mut next = || Random::next_u64(&mut same);
    assert_eq!(RngCore::next_u64(&mut random), next());
    assert_eq!(u64::from(random.next_u32()), next() >> 32);
    let mut bytes = [0; 11];
    random.fill_bytes(&mut bytes);
    let words = [next(), next()].map(u64::to_le_bytes).concat();
    assert_eq!(bytes, words[..11]);
}
