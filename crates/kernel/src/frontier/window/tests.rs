use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, VirtualTime};

use super::{Rule, Waste, Window};
use crate::gvt::Work;

/// The system that the window controls, in a few lines: the further PEs go ahead, the more is
/// undone.
struct Plant {
    pes: u32,
    /// Events per unit of time.
    density: f64,
    /// The distance ahead at which half of all events are undone.
    scale: f64,
    /// Events of a PE between two computations of GVT.
    interval: f64,
    now: f64,
    /// The efficiency and the number of events executed in the last epoch.
    efficiency: f64,
    executed: f64,
}

impl Plant {
    const INTERVALS: [f64; 2] = [128.0, 512.0];

    fn new(pes: u32, density: f64, scale: f64, interval: f64) -> Self {
        Plant { pes, density, scale, interval, now: 0.0, efficiency: 1.0, executed: 0.0 }
    }

    fn epoch(&mut self, window: &mut Window) {
        let most = self.interval * f64::from(self.pes);
        self.executed = (window.width() * self.density).clamp(1.0, most).round();
        let ahead = self.executed / self.density / self.scale;
        let undone =
            (self.executed * (1.0 - 1.0 / (1.0 + ahead * ahead))).round().min(self.executed - 1.0);
        self.efficiency = 1.0 - undone / self.executed;
        self.now += (self.executed - undone) / self.density;
        let work = Work {
            processed: self.executed as u64,
            rolled_back: undone as u64,
            steps: 100,
            idle_steps: 50,
            waiting_steps: 0,
        };
        window.adapt(&moment(self.now), &work);
    }

    fn epochs(&mut self, count: u32, window: &mut Window) {
        (0..count).for_each(|_| self.epoch(window));
    }

    /// Whether PEs execute as much as they would without a window.
    fn is_full(&self) -> bool {
        self.executed >= self.interval * f64::from(self.pes)
    }
}

fn moment(now: f64) -> Moment {
    Moment::Event(EventKey {
        time: time(now),
        step: 0,
        priority: Priority::NORMAL,
        sender: LpId(0),
        sequence: Sequence::first_of(1),
    })
}

fn time(time: f64) -> VirtualTime {
    VirtualTime::new(time).expect("a time")
}

#[test]
fn the_window_adapts_to_any_unit_of_time_within_a_few_epochs() {
    for end in [1e-9, 1.0, 1e9] {
        for density in [1e-12, 1e-3, 1.0, 1e6, 1e15] {
            for (pes, interval) in [2, 64].into_iter().zip(Plant::INTERVALS.into_iter().cycle()) {
                let mut window = Window::new(Rule::Adaptive, time(end * 1e30), 0.0, pes);
                let mut plant = Plant::new(pes, density, 1e30, interval);
                plant.epochs(32, &mut window);
                assert!(
                    plant.is_full(),
                    "{end} {density} {pes}: {} events with a width of {}",
                    plant.executed,
                    window.width()
                );
            }
        }
    }
}

#[test]
fn the_unit_of_time_makes_no_difference() {
    let widths = |unit: f64| {
        let mut window = Window::new(Rule::Adaptive, time(1e6 * unit), 0.0, 4);
        let mut plant = Plant::new(4, 1e3 / unit, 0.5 * unit, 512.0);
        let width = |_| {
            plant.epoch(&mut window);
            window.width() / unit
        };
        (0..100).map(width).skip(4).collect::<Vec<_>>()
    };
    assert_eq!(widths(1.0), widths(2f64.powi(40)));
    assert_eq!(widths(1.0), widths(2f64.powi(-40)));
}

#[test]
fn rollbacks_are_kept_within_bounds() {
    for (pes, interval) in
        [2, 8, 64].into_iter().flat_map(|pes| Plant::INTERVALS.map(|interval| (pes, interval)))
    {
        // From a full interval to a thirtieth of it, but at least 30 events.
        for share in [1.0, 0.2, 0.03] {
            let density = 1000.0;
            let scale = (share * interval * f64::from(pes)).max(30.0) / density;
            let mut window = Window::new(Rule::Adaptive, time(1e9), 0.0, pes);
            let mut plant = Plant::new(pes, density, scale, interval);
            plant.epochs(60, &mut window);
            let mut efficiency = 0.0;
            let mut executed = 0.0;
            for _ in 0..100 {
                plant.epoch(&mut window);
                efficiency += plant.efficiency / 100.0;
                executed += plant.executed / 100.0;
            }
            assert!(efficiency > 0.8, "{pes} {share} {interval}: efficiency {efficiency}");
            assert!(
                executed / density > 0.1 * scale,
                "{pes} {share} {interval}: {executed} executed"
            );
        }
    }
}

#[test]
fn the_window_soon_shrinks_under_rollbacks_and_recovers_after_them() {
    for interval in Plant::INTERVALS {
        let mut window = Window::new(Rule::Adaptive, time(1e12), 0.0, 8);
        let mut plant = Plant::new(8, 1000.0, 1e6, interval);
        for _ in 0..3 {
            plant.scale = 1e6;
            plant.epochs(40, &mut window);
            assert!(plant.is_full(), "friendly: {} executed", plant.executed);
            plant.epochs(1000, &mut window);
            plant.scale = 0.1;
            plant.epochs(20, &mut window);
            assert!(plant.efficiency > 0.8, "hostile, {interval}: efficiency {}", plant.efficiency);
            plant.epochs(1000, &mut window);
        }
    }
}

/// The time before which events may be executed ahead if no PE has come further than GVT, in a run
/// that never ends.
fn bound(window: &Window, gvt: &Moment) -> VirtualTime {
    let end = time(f64::MAX);
    window.bound_from(gvt.time(end).get()).max(Window::due(gvt, end)).min(end)
}

#[test]
fn the_width_is_positive_and_finite_whatever_the_verdicts() {
    let mut random = 1u64;
    let mut below = |bound: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    for rule in [Rule::Adaptive, Rule::Devastator, Rule::Fixed(3.0)] {
        for lookahead in [0.0, 0.25] {
            let mut window = Window::new(rule, time(f64::MAX), lookahead, 3);
            let mut other = window.clone();
            let mut now = 0.0;
            for round in 0..20_000i32 {
                now += f64::from(round.min(1))
                    * [0.0, 1e-300, 1e-9, 1.0, 1e300][below(5) as usize]
                    * below(3) as f64;
                let work = Work {
                    processed: [0, 1, 1000, 1 << 40][below(4) as usize],
                    rolled_back: [0, 1, 1000, 1 << 40][below(4) as usize],
                    steps: below(3),
                    idle_steps: 0,
                    waiting_steps: 0,
                };
                let gvt = if round == 0 { Moment::Init(LpId(0)) } else { moment(now) };
                window.adapt(&gvt, &work);
                other.adapt(&gvt, &work);
                let width = window.width();
                assert!(width > 0.0 && width < f64::INFINITY, "{rule:?}: {width}");
                assert!(rule != Rule::Adaptive || width >= lookahead, "{width}");
                assert!(rule != Rule::Fixed(3.0) || width <= 3.0, "{width}");
                assert_eq!(width.to_bits(), other.width().to_bits());
                assert!(bound(&window, &gvt) > time(now), "{width} beyond {now}");
            }
        }
    }
}

#[test]
fn work_reported_at_the_end_changes_nothing() {
    let mut window = Window::new(Rule::Adaptive, time(1e9), 0.0, 2);
    let mut plant = Plant::new(2, 1.0, 100.0, 512.0);
    plant.epochs(50, &mut window);
    let width = window.width();
    for _ in 0..10 {
        window.adapt(&Moment::Never, &Work { processed: 1, ..Work::default() });
    }
    assert_eq!(window.width(), width);
}

#[test]
fn the_rule_of_devastator_is_followed() {
    let mut window = Window::new(Rule::Devastator, time(1e6), 0.0, 2);
    assert_eq!(window.width(), 1.0);
    let mut factor = |rolled_back: u64, steps: u64| {
        let before = window.width();
        window.adapt(
            &moment(1.0),
            &Work { processed: 100, rolled_back, steps, idle_steps: 0, waiting_steps: 0 },
        );
        window.width() / before
    };
    // At low efficiency, while the rate of commits rises.
    assert_eq!(
        [(99, 100), (68, 100), (66, 100), (35, 90)].map(|(undone, steps)| factor(undone, steps)),
        [0.25, 0.25, 0.5, 0.5]
    );
    // In between by 1 %, in the same direction as long as the rate of commits does not fall.
    let near = |factor: f64, expected: f64| {
        assert!((factor - expected).abs() < 1e-9, "{factor}, not {expected}")
    };
    for (undone, steps, expected) in [
        (33, 80, 1.01),
        (33, 80, 1.01),
        (6, 150, 1.01_f64.recip()),
        (6, 100, 1.01_f64.recip()),
        (20, 100, 1.01),
        (20, 99, 1.01),
    ] {
        near(factor(undone, steps), expected);
    }
    assert_eq!([factor(4, 10), factor(0, 10), factor(0, 0)], [2.0; 3]);
}

/// If hardly anything is executed and nothing undone, the window does not wait for four epochs to
/// pass.
#[test]
fn a_window_that_starves_pes_widens_at_once() {
    let widths = |processed: [u64; 4], rolled_back: u64| {
        let mut window = Window::new(Rule::Adaptive, time(1e9), 1.0, 2);
        processed.map(|processed| {
            window.adapt(
                &moment(1.0),
                &Work { processed, rolled_back, steps: 100, idle_steps: 0, waiting_steps: 0 },
            );
            window.width()
        })
    };
    // Fewer than 32 events per PE and epoch change the width at once, others after four epochs.
    let [first, second, ..] = widths([64, 63, 64, 64], 0);
    assert!(first == 1.0 && second > 1.0, "{first} {second}");
    let [first, second, third, fourth] = widths([64, 64, 64, 64], 0);
    assert!([first, second, third] == [1.0; 3] && fourth > 1.0, "{fourth}");
    // If anything is undone, the width changes after four epochs, however few the events.
    let [first, second, third, fourth] = widths([10, 10, 10, 10], 1);
    assert!([first, second, third] == [1.0; 3] && fourth > 1.0, "{fourth}");
}

/// The most events that PEs of [`bursts`] are ahead.
const FURTHEST: f64 = 50_000.0;

/// PEs that undo nothing until they have gone far, and then all of it, as with rare rollbacks of
/// very many events. Returns how many events they undo, and how many commit.
fn bursts(rule: Rule, epochs: u32, pes: u32) -> (f64, f64, Window) {
    let mut window = Window::new(rule, time(1e9), 0.0, pes);
    let mut now = 0.0;
    let mut ahead = 0.0f64;
    let mut undone_in_all = 0.0;
    let mut committed = 0.0;
    for epoch in 1..=epochs {
        // One event commits for each GVT, and others are executed up to the end of the window.
        let executed = 1.0 + (window.width().min(FURTHEST) - ahead).max(0.0).floor();
        ahead += executed - 1.0;
        let undone = if epoch % 50 == 0 { std::mem::take(&mut ahead) } else { 0.0 };
        now += 1.0;
        undone_in_all += undone;
        committed += 1.0;
        window.adapt(
            &moment(now),
            &Work { processed: executed as u64, rolled_back: undone as u64, ..Work::default() },
        );
    }
    (undone_in_all, committed, window)
}

#[test]
fn no_rule_lets_pes_undo_far_more_than_they_commit() {
    for rule in [Rule::Adaptive, Rule::Devastator, Rule::Fixed(1e9), Rule::Fixed(100.0)] {
        for pes in [2, 6] {
            let (undone, committed, window) = bursts(rule, 100_000, pes);
            // As much as is allowed, and what PEs undo the first and the last time.
            let most =
                Waste::PER_COMMITTED * committed + Waste::PER_PE * f64::from(pes) + 2.0 * FURTHEST;
            assert!(undone <= most, "{rule:?}, {pes} PEs: {undone} undone for {committed}");
            assert!(
                window.throttled() > 0 || undone <= Waste::PER_COMMITTED * committed,
                "{rule:?}, {pes} PEs: {undone} undone for {committed}"
            );
        }
    }
}

#[test]
fn a_window_is_narrower_than_its_rule_only_where_waste_demands_it() {
    let work = |processed, rolled_back| Work { processed, rolled_back, ..Work::default() };
    let mut window = Window::new(Rule::Fixed(5.0), time(1e9), 0.0, 2);
    // Half of all events undone is bad, but what users ask for.
    (1..1000).for_each(|now| window.adapt(&moment(f64::from(now)), &work(1000, 500)));
    assert_eq!((window.width(), window.throttled()), (5.0, 0));
    (1000..1010).for_each(|now| window.adapt(&moment(f64::from(now)), &work(1000, 999)));
    assert!(
        window.width() < 1.0 && window.throttled() > 0,
        "{} {}",
        window.width(),
        window.throttled()
    );
    // The limit of the user stays one.
    (1010..3000).for_each(|now| window.adapt(&moment(f64::from(now)), &work(1000, 0)));
    assert_eq!(window.width(), 5.0);
}
