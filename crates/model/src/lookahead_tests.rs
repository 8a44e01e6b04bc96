use proptest::prelude::*;

use super::*;
use crate::engine::Executor;
use crate::engine::Limits;
use crate::{Context, Fault, Init, Model};

/// What a model declares.
#[derive(Clone, Debug, Default)]
struct Declared {
    lookahead: f64,
    of: Vec<Option<f64>>,
    links: Vec<Option<Vec<(u32, f64)>>>,
}

impl Declared {
    /// Declares these links for one of four LPs, another of which has a lookahead of its own.
    fn four(links: &[(u32, f64)]) -> Self {
        let links = vec![None, Some(links.to_vec()), None, Some(Vec::new())];
        Declared { lookahead: 0.5, of: vec![None, Some(9.0), Some(0.25), None], links }
    }

    fn lookahead(&self) -> Result<Lookahead, LookaheadError> {
        Lookahead::of(self, self.lps())
    }
}

impl Model for Declared {
    type State = ();
    type Event = ();
    fn lps(&self) -> u32 {
        self.of.len() as u32
    }
    fn lookahead(&self) -> f64 {
        self.lookahead
    }
    fn lookahead_of(&self, lp: LpId) -> Option<f64> {
        self.of[lp.index()]
    }
    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        let links = self.links.get(lp.index())?.as_ref()?;
        Some(links.iter().map(|&(to, lookahead)| Link { to: LpId(to), lookahead }).collect())
    }
    fn init(&self, _: &mut Init<Self>) {}
    fn handle(&self, (): &mut (), (): &(), _: &mut Context<Self>) {}
}

#[test]
fn the_most_specific_declaration_counts() {
    let lookahead = Declared::four(&[(3, 2.0), (0, 0.125)]).lookahead().expect("it makes sense");
    let all =
        [0, 1, 2, 3].map(|from| [0, 1, 2, 3].map(|to| lookahead.between(LpId(from), LpId(to))));
    let expected = [
        [Some(0.0), Some(0.5), Some(0.5), Some(0.5)],
        [Some(0.125), Some(0.0), None, Some(2.0)],
        [Some(0.25), Some(0.25), Some(0.0), Some(0.25)],
        [None, None, None, Some(0.0)],
    ];
    assert_eq!((all, lookahead.least(), lookahead.is_uniform()), (expected, 0.125, false));
    assert_eq!(
        lookahead.reach(LpId(1)),
        Reach::Links { to: &[LpId(0), LpId(3)], lookahead: &[0.125, 2.0] }
    );
    assert_eq!(lookahead.reach(LpId(2)), Reach::Any(0.25));
}

#[test]
fn there_is_no_table_where_all_lps_are_alike() {
    for (common, of, expected) in [
        (0.5, None, 0.5),
        (0.5, Some(0.5), 0.5),
        (0.5, Some(2.0), 2.0),
        (0.0, Some(f64::MAX), f64::MAX),
    ] {
        let lookahead = Declared { lookahead: common, of: vec![of; 3], links: Vec::new() }
            .lookahead()
            .expect("it makes sense");
        assert!(lookahead.is_uniform());
        assert_eq!(
            (lookahead.least(), lookahead.between(LpId(0), LpId(2))),
            (expected, Some(expected))
        );
    }
    let silent = Declared { links: vec![Some(Vec::new()); 3], of: vec![None; 3], lookahead: 0.5 }
        .lookahead()
        .expect("it makes sense");
    assert_eq!((silent.is_uniform(), silent.least()), (false, f64::INFINITY));
}

#[test]
fn of_an_lp_named_twice_the_lesser_lookahead_counts_and_itself_is_left_out() {
    let lookahead = Declared::four(&[(2, 3.0), (1, 7.0), (0, 1.0), (2, 0.75), (2, 4.0)])
        .lookahead()
        .expect("it makes sense");
    assert_eq!(
        lookahead.reach(LpId(1)),
        Reach::Links { to: &[LpId(0), LpId(2)], lookahead: &[1.0, 0.75] }
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    for wrong in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused =
            |declared: Declared| declared.lookahead().expect_err("it makes no sense").to_string();
        let text = refused(Declared { lookahead: wrong, ..Declared::four(&[]) });
        assert_eq!(
            text,
            format!("declares the lookahead {wrong}: it must be a finite number, zero or more")
        );
        let text =
            refused(Declared { of: vec![None, None, Some(wrong), None], ..Declared::four(&[]) });
        assert_eq!(
            text,
            format!(
                "declares the lookahead {wrong} of LP 2: it must be a finite number, zero or more"
            )
        );
        // Links from an LP to itself must be valid as well.
        for to in [1, 2] {
            let text = refused(Declared::four(&[(0, 1.0), (to, wrong)]));
            let expected = "declares the lookahead WRONG of the link from LP 1 to LP TO: it must \
                            be a finite number, zero or more";
            assert_eq!(
                text,
                expected.replace("WRONG", &wrong.to_string()).replace("TO", &to.to_string())
            );
        }
    }
    let text = Declared::four(&[(0, 1.0), (4, 1.0)])
        .lookahead()
        .expect_err("there is no LP 4")
        .to_string();
    assert_eq!(text, "declares a link from LP 1 to LP 4, but has only LPs 0 to 3; see Model::lps");
}

/// The outcome of a send from LP 1 at time 2.5.
fn sent(declared: &Declared, to: u32, delay: f64) -> Option<Fault> {
    let mut executor = Executor::new(declared, 1, Limits::ZERO_DELAY_HOPS, false);
    executor.begin(LpId(1), 1, 2.5.try_into().expect("it is a time"), 0);
    executor.lp().send(to, delay, ());
    let fault = executor.take_fault();
    assert_eq!(executor.outbox_mut().len(), usize::from(fault.is_none()));
    fault
}

#[test]
fn sends_are_held_to_links() {
    let declared = Declared::four(&[(0, 0.125), (3, 2.0)]);
    for (to, delay) in [(0, 0.125), (0, 7.0), (3, 2.0), (3, 2.0f64.next_up()), (1, 0.0), (1, 0.01)]
    {
        assert_eq!(sent(&declared, to, delay), None, "to LP {to} with delay {delay}");
    }
    let to = |to, delay, lookahead| Some(Fault::Lookahead { to: LpId(to), delay, lookahead });
    let below = 2.0f64.next_down();
    assert_eq!(sent(&declared, 3, below), to(3, below, 2.0));
    assert_eq!(sent(&declared, 0, 0.0), to(0, 0.0, 0.125));
    assert_eq!(
        [0.0, 5.0].map(|delay| sent(&declared, 2, delay)),
        [Some(Fault::NoLink { to: LpId(2) }), Some(Fault::NoLink { to: LpId(2) })]
    );
    // Other mistakes take precedence.
    assert_eq!(sent(&declared, 2, -1.0), Some(Fault::Delay { to: LpId(2), delay: -1.0 }));
    assert_eq!(sent(&declared, 9, 1.0), Some(Fault::UnknownLp { to: LpId(9), lps: 4 }));
    assert_eq!(sent(&declared, 2, f64::MAX), Some(Fault::NoLink { to: LpId(2) }));
    let text = Fault::NoLink { to: LpId(2) }.to_string();
    assert!(text.contains("to LP 2") && text.contains("Model::links"), "{text}");
}

#[test]
fn sends_are_held_to_the_lookahead_of_their_lp() {
    let declared = Declared { of: vec![None, Some(4.0)], lookahead: 0.5, links: Vec::new() };
    assert_eq!(sent(&declared, 0, 4.0), None);
    assert_eq!(sent(&declared, 1, 0.25), None);
    assert_eq!(
        sent(&declared, 0, 0.5),
        Some(Fault::Lookahead { to: LpId(0), delay: 0.5, lookahead: 4.0 })
    );
}

proptest! {
    /// Whatever the length of a row.
    #[test]
    fn links_are_found(links in prop::collection::vec((0u32..40, 0u32..4), 0..40), to in 0u32..40, delay in 0u32..5) {
        let links: Vec<_> = links.into_iter().map(|(to, lookahead)| (to, f64::from(lookahead))).collect();
        let delay = f64::from(delay);
        let mut all = vec![None; 40];
        all[1] = Some(links.clone());
        let declared = Declared { lookahead: 0.0, of: vec![None; 40], links: all };
        let least = links.iter().filter(|link| link.0 == to).map(|link| link.1).reduce(f64::min);
        let expected = match least {
            _ if to == 1 => None,
            None => Some(Fault::NoLink { to: LpId(to) }),
            Some(lookahead) => (delay < lookahead).then_some(Fault::Lookahead { to: LpId(to), delay, lookahead }),
        };
        prop_assert_eq!(sent(&declared, to, delay), expected);
    }
}
