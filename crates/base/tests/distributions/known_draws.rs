use warpline_base::LpId;
use warpline_base::random::{Continuous, Discrete, Random, mix64};

/// The first draw, and ten thousand folded into one word.
fn draws<T: Copy>(bits: impl Fn(T) -> u64, draw: impl Fn(&mut Random) -> T) -> (T, u64) {
    let mut random = Random::new(1, LpId(2), 3);
    let first = draw(&mut random);
    (first, (0..10_000).fold(bits(first), |sum, _| mix64(sum ^ bits(draw(&mut random)))))
}

fn numbers(draw: impl Fn(&mut Random) -> f64) -> (f64, u64) {
    draws(f64::to_bits, draw)
}

fn counts(draw: impl Fn(&mut Random) -> u64) -> (u64, u64) {
    draws(|count| count, draw)
}

/// Draws are the same on every platform and in every release: a run's digest depends on them.
#[test]
fn numbers_are_the_same_everywhere() {
    assert_eq!(
        numbers(|random| random.gamma(0.4, 2.0)),
        (5.148_452_789_672_083, 1_469_252_980_952_591_741)
    );
    assert_eq!(
        numbers(|random| random.gamma(3.5, 2.0)),
        (3.736_093_983_836_505, 17_936_040_464_062_702_334)
    );
    assert_eq!(
        numbers(|random| random.erlang(3, 2.0)),
        (0.995_360_449_916_568_4, 10_940_493_614_560_383_249)
    );
    assert_eq!(
        numbers(|random| random.weibull(1.5, 2.0)),
        (0.054_589_567_100_812_66, 6_496_653_482_483_313_633)
    );
    assert_eq!(
        numbers(|random| random.lognormal(1.0, 0.5)),
        (1.767_184_442_318_482_2, 10_637_707_272_092_664_955)
    );
    assert_eq!(
        numbers(|random| random.lognormal_with_mean(3.0, 0.5)),
        (2.566_023_410_587_861, 18_231_358_555_359_147_198)
    );
    assert_eq!(
        numbers(|random| random.triangular(1.0, 2.0, 5.0)),
        (1.166_098_467_162_213_9, 2_572_917_482_978_677_071)
    );
    assert_eq!(
        numbers(|random| random.pareto(1.5, 2.0)),
        (2.006_021_590_054_809_5, 7_613_266_468_506_198_672)
    );
    let points =
        Continuous::new(&[(2.0, 0.0), (5.0, 120.0), (10.0, 190.0), (30.0, 200.0)]).unwrap();
    assert_eq!(
        numbers(|random| random.continuous(&points)),
        (4.305_693_335_230_263, 3_995_344_341_576_607_704)
    );
}

#[test]
fn counts_are_the_same_everywhere() {
    assert_eq!(counts(|random| random.poisson(3.5)), (4, 2_611_869_261_885_320_379));
    assert_eq!(counts(|random| random.poisson(10.5)), (8, 11_176_513_683_965_850_478));
    assert_eq!(
        counts(|random| random.poisson(1e13)),
        (9_999_997_985_385, 10_564_115_845_795_024_926)
    );
    assert_eq!(counts(|random| random.binomial(20, 0.2)), (4, 13_720_443_369_804_844_357));
    assert_eq!(counts(|random| random.binomial(50, 0.4)), (18, 3_006_639_103_095_753_609));
    assert_eq!(
        counts(|random| random.binomial(1 << 40, 0.9)),
        (989_560_665_370, 12_501_161_791_723_907_786)
    );
    assert_eq!(counts(|random| random.geometric(0.05)), (0, 5_358_619_207_345_253_324));
    let sizes = Discrete::new([(64, 5.5), (576, 2.5), (1500, 2.0)]).unwrap();
    assert_eq!(counts(|random| *random.discrete(&sizes)), (64, 18_342_043_679_761_113_901));
}
