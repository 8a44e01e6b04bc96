use std::sync::mpsc::channel;
use std::time::Duration;

use warpline_base::LpId;
use warpline_base::random::Random;

/// Values that are invalid for some parameters, or for all.
const ODD: [f64; 20] = [
    f64::NAN,
    f64::NEG_INFINITY,
    f64::MIN,
    -1.0,
    -5e-324,
    -0.0,
    0.0,
    5e-324,
    1e-300,
    1e-18,
    0.3,
    0.5,
    1.0 - f64::EPSILON / 2.0,
    1.0,
    2.5,
    10.0,
    1e18,
    3.7e19,
    f64::MAX,
    f64::INFINITY,
];

const TRIALS: [u64; 8] = [0, 1, 2, 20, 1 << 32, 1 << 53, u64::MAX - 1, u64::MAX];

fn random() -> Random {
    Random::new(7, LpId(1), 0)
}

/// An endless loop that draws would panic at the limit of draws. One that does not draw fails by
/// the time limit.
#[test]
fn no_parameter_makes_a_draw_hang_or_panic() {
    let (ended, end) = channel();
    let worker = std::thread::spawn(move || {
        for a in ODD {
            for b in ODD {
                for c in ODD {
                    is_quick(format!("triangular({a}, {b}, {c})"), |random| {
                        _ = random.triangular(a, b, c)
                    });
                }
                is_quick(format!("gamma({a}, {b})"), |random| _ = random.gamma(a, b));
                is_quick(format!("weibull({a}, {b})"), |random| _ = random.weibull(a, b));
                is_quick(format!("lognormal({a}, {b})"), |random| _ = random.lognormal(a, b));
                is_quick(format!("lognormal_with_mean({a}, {b})"), |random| {
                    _ = random.lognormal_with_mean(a, b)
                });
                is_quick(format!("pareto({a}, {b})"), |random| _ = random.pareto(a, b));
            }
            is_quick(format!("poisson({a})"), |random| _ = random.poisson(a));
            is_quick(format!("geometric({a})"), |random| _ = random.geometric(a));
            for n in TRIALS {
                is_quick(format!("binomial({n}, {a})"), |random| {
                    assert!(random.binomial(n, a) <= n)
                });
            }
            for stages in [0, 1, u32::MAX] {
                is_quick(format!("erlang({stages}, {a})"), |random| _ = random.erlang(stages, a));
            }
        }
        ended.send(()).expect("the test waits");
    });
    let hangs = end.recv_timeout(Duration::from_secs(120))
        == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
    assert!(!hangs, "a draw has not ended within 120 s");
    worker.join().expect("no draw panics");
}

/// A hundred draws take at most a hundred words each.
fn is_quick(what: String, draw: impl Fn(&mut Random)) {
    let mut random = random();
    (0..100).for_each(|_| draw(&mut random));
    assert!(random.position() <= 10_000, "{what}: {} words for 100 draws", random.position());
}

#[test]
fn shapes_that_do_not_exist_give_nan() {
    for shape in [f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0] {
        let drawn =
            [random().gamma(shape, 1.0), random().weibull(shape, 1.0), random().pareto(shape, 1.0)];
        assert!(drawn.iter().all(|x| x.is_nan()), "{shape}: {drawn:?}");
    }
    assert!(random().gamma(f64::INFINITY, 1.0).is_nan() && random().erlang(0, 1.0).is_nan());
    // The limits of the distributions.
    assert_eq!(
        (random().weibull(f64::INFINITY, 3.0), random().pareto(f64::INFINITY, 3.0)),
        (3.0, 3.0)
    );
}

#[test]
fn corners_of_a_triangle_must_be_in_order() {
    let bad = [
        (2.0, 1.0, 3.0),
        (1.0, 3.0, 2.0),
        (3.0, 2.0, 1.0),
        (0.0, f64::NAN, 1.0),
        (f64::NAN, 0.0, 1.0),
        (0.0, 1.0, f64::NAN),
    ];
    let infinite = [
        (f64::NEG_INFINITY, 0.0, 1.0),
        (0.0, 1.0, f64::INFINITY),
        (f64::INFINITY, f64::INFINITY, f64::INFINITY),
    ];
    for (low, mode, high) in bad.into_iter().chain(infinite) {
        assert!(random().triangular(low, mode, high).is_nan(), "triangular({low}, {mode}, {high})");
    }
    assert_eq!(random().triangular(2.5, 2.5, 2.5), 2.5);
}

#[test]
fn a_lognormal_number_without_deviation_is_its_mean() {
    assert_eq!(random().lognormal_with_mean(2.5, 0.0), 2.5);
    assert_eq!(random().lognormal(0.0, 0.0), 1.0);
}

#[test]
fn counts_saturate() {
    for mean in [f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0] {
        assert_eq!(random().poisson(mean), 0, "poisson({mean})");
    }
    for mean in [f64::INFINITY, f64::MAX, 4e19, 2e19] {
        assert_eq!(random().poisson(mean), u64::MAX, "poisson({mean})");
    }
    for n in TRIALS {
        for p in [f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0] {
            assert_eq!(random().binomial(n, p), 0, "binomial({n}, {p})");
        }
        for p in [1.0, 1.5, f64::INFINITY] {
            assert_eq!(random().binomial(n, p), n, "binomial({n}, {p})");
        }
    }
    for p in [f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0, 5e-324] {
        assert_eq!(random().geometric(p), u64::MAX, "geometric({p})");
    }
    for p in [1.0, 1.5, f64::INFINITY] {
        assert_eq!(random().geometric(p), 0, "geometric({p})");
    }
}
